"""Performance counters: perf dumps of every release, their differences, and what they come to."""
