"""Replay engines: real embedded RocksDB behind one protocol."""
