"""Replays: a workload under an option set, in a child process, and its outcome."""
