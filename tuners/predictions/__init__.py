"""Predictions: what a log would have shown under other options."""
