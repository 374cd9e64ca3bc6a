"""Every option a database is opened with."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResolvedOptions:
    """All options of one database of one RocksDB version, spelled as in its OPTIONS file, values as text there.

    `database` holds the DBOptions. `families` holds the CFOptions of every column family, in order of their ids,
    "default" first; `tables` the BlockBasedTableOptions of each. `warnings` say what could not be taken as asked.
    """

    name: str
    rocksdb_version: str
    database: Mapping[str, str]
    families: Mapping[str, Mapping[str, str]]
    tables: Mapping[str, Mapping[str, str]]
    warnings: tuple[str, ...] = ()
