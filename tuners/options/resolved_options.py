"""Every option a database is opened with."""

from collections.abc import Mapping
from dataclasses import dataclass, field


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


@dataclass(frozen=True, slots=True)
class Effective:
    """The options of a database as RocksDB would see them: defaults of a version and a set over them, not divided.

    `asked` are the options of each family (None: the database's) that the set itself has.
    """

    version: str | None
    database: dict[str, str]
    families: dict[str, dict[str, str]]
    tables: dict[str, dict[str, str]]
    asked: Mapping[str | None, frozenset[str]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
