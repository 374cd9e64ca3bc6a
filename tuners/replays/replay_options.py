"""The options of the workload's database as a replay must have them."""

from collections.abc import Mapping
from dataclasses import replace

from lsmlens.tuners.options.resolved_options import ResolvedOptions

# Nothing is written into the LOG by the clock, and the close flushes no memtable.
_FOR_REPLAY: Mapping[str, str] = {
    "stats_dump_period_sec": "0",
    "stats_persist_period_sec": "0",
    "avoid_flush_during_shutdown": "true",
}
# A MANIFEST begun anew takes what flushes wrote into the one before with it, and that is to be held against tickers.
MANIFEST_SIZE = "max_manifest_file_size"
LEAST_MANIFEST_BYTES = 1 << 30
# Options of a family that compact a file for its age, in seconds.
AGES = ("ttl", "periodic_compaction_seconds")


def for_replay(options: ResolvedOptions) -> ResolvedOptions:
    """The same options without periodic statistics, which disturb, without a last flush, and with one MANIFEST.

    `warnings` say the last of these, where it was asked for otherwise.
    """
    changed = {name: value for name, value in _FOR_REPLAY.items() if name in options.database}
    warnings = options.warnings
    asked = options.database.get(MANIFEST_SIZE)
    if asked is not None and _whole(asked) < LEAST_MANIFEST_BYTES:
        changed[MANIFEST_SIZE] = str(LEAST_MANIFEST_BYTES)
        warnings = (*warnings, f"{MANIFEST_SIZE}={asked}: a replay keeps one MANIFEST, which moves no table")
    return replace(options, database={**options.database, **changed}, warnings=warnings)


def ages_below(options: ResolvedOptions, seconds: float) -> dict[str, dict[str, int]]:
    """Family -> option -> its age in seconds, for every age a workload of that length reaches."""
    found: dict[str, dict[str, int]] = {}
    for family, values in options.families.items():
        reached = {name: _whole(values.get(name)) for name in AGES}
        reached = {name: age for name, age in reached.items() if 0 < age < seconds}
        if reached:
            found[family] = reached
    return found


def with_ages_times(options: ResolvedOptions, seconds: float, factor: float) -> ResolvedOptions:
    """The ages that a workload of that length reaches, multiplied; at least one second each."""
    families = dict(options.families)
    for family, ages in ages_below(options, seconds).items():
        shorter = {name: str(max(1, round(age * factor))) for name, age in ages.items()}
        families[family] = {**families[family], **shorter}
    return replace(options, families=families)


def memtable_bytes(options: ResolvedOptions) -> int:
    """The most that memtables may come to: all buffers of all families, or less where the WAL's limit flushes them."""
    every = sum(
        _whole(values.get("write_buffer_size")) * max(1, _whole(values.get("max_write_buffer_number")))
        for values in options.families.values()
    )
    limits = [
        # A memtable's entry takes up to half as much again as the WAL's: its node, its sequence number, its arena.
        _whole(options.database.get("max_total_wal_size")) * 3 // 2,
        _whole(options.database.get("db_write_buffer_size")),
    ]
    return min([every, *(limit for limit in limits if limit)])


def _whole(text: str | None) -> int:
    return int(text) if text is not None and text.isdigit() else 0
