"""Workloads: what is written, declared in YAML, traced, or fitted to a log; and its stream of write batches."""
