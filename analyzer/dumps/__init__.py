"""Statistics dumps: what RocksDB prints of itself every few minutes, of every version, as far as it is whole."""
