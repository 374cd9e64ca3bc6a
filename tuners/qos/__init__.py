"""Simulated op schedulers of an OSD: what a profile costs clients and gives recovery."""
