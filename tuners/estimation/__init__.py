"""Estimation: a workload learned from the log of a database alone."""
