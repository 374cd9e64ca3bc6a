"""Defaults as data: of Ceph's options by release, and of RocksDB's by version."""
