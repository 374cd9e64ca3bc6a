"""One log read: its blocks, lines, stamps and events, and how pieces of a rotated log belong together."""
