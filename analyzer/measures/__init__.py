"""Facts about a run: bytes by family and level, flushes, pressure, stalls, dumps over time, and the log's quality."""
