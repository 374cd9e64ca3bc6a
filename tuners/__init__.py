"""Workloads, replay engines, search and recommendation."""
