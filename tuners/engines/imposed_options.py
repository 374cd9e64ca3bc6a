"""Options that an engine does not set by name: its own folder, a merge operator, and the collector of deletions.

That collector marks a file for compaction where deletes crowd; Ceph sets one on every family. RocksDB has no name for
it in an OPTIONS file: here it is the family option `compact_on_deletion`, spelled
`{sliding_window=32768;trigger=16384}`, after Ceph's `rocksdb_cf_compact_on_deletion_…`. What RocksDB writes into no
OPTIONS file is read from where it can be seen (`with_unwritten`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from lsmlens.analyzer.options.option_strings import parse_rocksdb_string, parse_size
from lsmlens.tuners.engines.settling import Properties
from lsmlens.tuners.options.resolved_options import ResolvedOptions

COLLECTOR = "compact_on_deletion"
# The C API's function that sets it; versions before 7 have none.
ADD_COLLECTOR = "rocksdb_options_add_compact_on_deletion_collector_factory"
NO_COLLECTOR = ("", "nullptr", "{}")


@dataclass(frozen=True, slots=True)
class DeletionCollector:
    """Marks a file that has `trigger` deletes among any `sliding_window` records; zeros stand for none at all."""

    sliding_window: int
    trigger: int

    @property
    def marks(self) -> bool:
        """Whether it can mark a file."""
        return self.sliding_window > 0 and self.trigger > 0


def deletion_collector(text: str) -> DeletionCollector | None:
    """The collector that an option's value names; None for a text that names none."""
    fields = parse_rocksdb_string(text).options
    window, trigger = fields.get("sliding_window", ""), fields.get("trigger", "")
    if not (window.isdecimal() and trigger.isdecimal()):
        return None
    return DeletionCollector(int(window), int(trigger))


def collector_warnings(families: Mapping[str, Mapping[str, str]], is_supported: bool) -> Iterator[str]:
    """What of the families' collectors a replay goes without."""
    for text in dict.fromkeys(values.get(COLLECTOR, "") for values in families.values()):
        if text in NO_COLLECTOR:
            continue
        collector = deletion_collector(text)
        if collector is None:
            yield f"{COLLECTOR}={text}: no sliding_window and trigger, left out"
        elif collector.marks and not is_supported:
            yield f"{COLLECTOR}={text}: this RocksDB has no way to set it; files crowded with deletes are not marked"


OPENING = {"create_if_missing": "true", "create_missing_column_families": "true", "error_if_exists": "false"}
ONE_FOLDER = {"wal_dir": "", "db_log_dir": "", "db_paths": "", "cf_paths": ""}
# Any that keeps the length of what it merges gives the same bytes; these are the ones the engines set.
MERGE_OPERATOR = "merge_operator"
MERGE_OPERATORS = ("", "nullptr", "put", "PutOperator", "LastOperand")
SET_OTHERWISE = ("cf_paths", MERGE_OPERATOR, COLLECTOR)


def for_replay(asked: ResolvedOptions, has_collectors: bool) -> ResolvedOptions:
    """The options to be set by name, with a warning for each that is not set as asked.

    `has_collectors` says whether the engine sets the families' deletion collectors by itself.
    """
    missing = collector_warnings(asked.families, has_collectors)
    warnings = tuple(dict.fromkeys((*asked.warnings, *_warnings(asked), *missing)))
    database = {name: value for name, value in asked.database.items() if name not in ONE_FOLDER}
    return replace(
        asked,
        database=database | OPENING,
        families={family: _without(values) for family, values in asked.families.items()},
        warnings=warnings,
    )


def without_folders(effective: ResolvedOptions) -> ResolvedOptions:
    """Options as RocksDB wrote them, without the names of a replay's own folder."""
    return replace(effective, database={k: v for k, v in effective.database.items() if k not in ONE_FOLDER})


def _without(values: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if name not in SET_OTHERWISE}


def _warnings(asked: ResolvedOptions) -> Iterator[str]:
    for name, value in asked.database.items():
        if name in ONE_FOLDER and value not in ("", "{}"):
            yield f"{name}={value}: a replay keeps all its files in one folder"
    for values in asked.families.values():
        if values.get("cf_paths", "") not in ("", "{}"):
            yield f"cf_paths={values['cf_paths']}: a replay keeps all its files in one folder"
        if values.get(MERGE_OPERATOR, "") not in MERGE_OPERATORS:
            yield f"{MERGE_OPERATOR}={values[MERGE_OPERATOR]}: a replay merges to the last operand"


BLOCK_CACHE = "block_cache"


def block_cache_bytes(table: Mapping[str, str]) -> int | None:
    """The size of the block cache that table options name, None for none: a size, or `{capacity=…;…}`."""
    text = table.get(BLOCK_CACHE, "")
    return parse_size(parse_rocksdb_string(text).options.get("capacity", "") if text.startswith("{") else text)


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
