"""Options in force that RocksDB writes into no OPTIONS file, from where they can be seen."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from lsmlens.analyzer.options.option_strings import parse_rocksdb_string, parse_size
from lsmlens.tuners.engines.deletion_collectors import OPTION as COLLECTOR
from lsmlens.tuners.engines.deletion_collectors import deletion_collector
from lsmlens.tuners.options.resolved_options import ResolvedOptions

BLOCK_CACHE = "block_cache"


def block_cache_bytes(table: Mapping[str, str]) -> int | None:
    """The size of the block cache that table options name, None for none: a size, or `{capacity=…;…}`."""
    text = table.get(BLOCK_CACHE, "")
    return parse_size(parse_rocksdb_string(text).options.get("capacity", "") if text.startswith("{") else text)


class Properties(Protocol):
    """What can be asked of a database."""

    def integer_property(self, name: str, family: str = "default") -> int | None:
        """A property as a number."""


def with_unwritten(
    effective: ResolvedOptions, database: Properties, asked: Mapping[str, Mapping[str, str]], has_collectors: bool
) -> ResolvedOptions:
    """Options with each family's block cache, in bytes, as the database tells, and the collector it was given."""
    families = {name: dict(values) for name, values in effective.families.items()}
    tables = {name: dict(values) for name, values in effective.tables.items()}
    for name, values in asked.items():
        capacity = database.integer_property("rocksdb.block-cache-capacity", name)
        if capacity is not None and name in tables:
            tables[name][BLOCK_CACHE] = str(capacity)
        collector = deletion_collector(values.get(COLLECTOR, ""))
        if collector is not None and collector.marks and has_collectors:
            families[name][COLLECTOR] = values[COLLECTOR]
    return replace(effective, families=families, tables=tables)
