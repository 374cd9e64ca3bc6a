"""Logs in, facts out: bundles, scanning, events, tables and metrics."""
