"""What one statistics dump says of one column family, its table and the lines below that.

Everything is since the database was opened, or, where a name says `interval`, since the dump before.
Source: db/internal_stats.cc of RocksDB v4.13 to v11.8.1.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lsmlens.analyzer.dumps.block_caches import BlockCache, cache_on
from lsmlens.analyzer.dumps.latency_histograms import LatencyHistogram
from lsmlens.analyzer.dumps.level_tables import LevelColumns, LevelRow, names_row
from lsmlens.analyzer.dumps.printed_numbers import parse_bytes, parse_count, parse_real

# Uptime(secs): 3603.1 total, 600.0 interval
UPTIME = re.compile(r"Uptime\(secs\): (\S+) total, (\S+) interval\s*$")
# Flush(GB): cumulative 1.241, interval 0.248
# AddFile(GB): cumulative 0.000, interval 0.000
_WRITTEN = re.compile(r"(Flush|AddFile)\(GB\): cumulative (\S+), interval (\S+)\s*$")
# Cumulative compaction: 0.48 GB write, 0.06 MB/s write, 0.37 GB read, 0.05 MB/s read, 218.9 seconds
_COMPACTION = re.compile(
    r"(Cumulative|Interval) compaction: (\S+) GB write, (\S+) MB/s write, (\S+) GB read, (\S+) MB/s read,"
    r" (\S+) seconds\s*$"
)
# Estimated pending compaction bytes: 359424
_PENDING = re.compile(r"Estimated pending compaction bytes: (\d+)\s*$", re.ASCII)
# Blob file count: 4, total size: 0.0 GB, garbage size: 0.0 GB, space amp: 1.4
_BLOBS = re.compile(
    r"Blob file count: (\d+), total size: (\S+) GB(?:, garbage size: (\S+) GB, space amp: (\S+))?\s*$", re.ASCII
)
# Stalls(count): 0 level0_slowdown, 0 level0_slowdown_with_compaction, … 3 memtable_compaction, … interval 3 total count
_OLD_STALLS = re.compile(r"Stalls\(count\): (.+), interval (\d+) total count\s*$", re.ASCII)
# Write Stall (count): cf-l0-file-count-limit-delays-with-ongoing-compaction: 0, … total-delays: 0, total-stops: 0
# Write Stall (count): cf-l0-file-… total-stops: 0, Block cache LRUCache@0x6000025b8198#64220 capacity: 8.00 MB …  8.1.1
_STALLS = re.compile(r"Write Stall \(count\): (.+), total-delays: \d+, total-stops: \d+(?:, (.*))?\s*$", re.ASCII)
# interval: 2 total count
_INTERVAL_STALLS = re.compile(r"interval: (\d+) total count\s*$", re.ASCII)

_LABELS = ("Uptime(", "Flush(", "AddFile(GB)", "Cumulative c", "Interval c", "Estimated", "Stalls(", "Write Stall (")

# One name for what releases up to 8.0 and later ones call differently: cause and kind, as the stall lines have them.
STALL_NAMES = {
    "level0_slowdown": "level0_files_slowdowns",
    "level0_slowdown_with_compaction": "level0_files_slowdowns_while_compacting",
    "level0_numfiles": "level0_files_stops",
    "level0_numfiles_with_compaction": "level0_files_stops_while_compacting",
    "stop for pending_compaction_bytes": "pending_compaction_bytes_stops",
    "slowdown for pending_compaction_bytes": "pending_compaction_bytes_slowdowns",
    "memtable_compaction": "immutable_memtables_stops",
    "memtable_slowdown": "immutable_memtables_slowdowns",
    "l0-file-count-limit-delays": "level0_files_slowdowns",
    "cf-l0-file-count-limit-delays-with-ongoing-compaction": "level0_files_slowdowns_while_compacting",
    "l0-file-count-limit-stops": "level0_files_stops",
    "cf-l0-file-count-limit-stops-with-ongoing-compaction": "level0_files_stops_while_compacting",
    "pending-compaction-bytes-stops": "pending_compaction_bytes_stops",
    "pending-compaction-bytes-delays": "pending_compaction_bytes_slowdowns",
    "memtable-limit-stops": "immutable_memtables_stops",
    "memtable-limit-delays": "immutable_memtables_slowdowns",
}


class CompactionTotals(NamedTuple):
    """Bytes moved by flushes and compactions, to 0.01 GB; the seconds add up all threads, the rates are of uptime."""

    write_bytes: int | None
    write_mb_per_second: float | None
    read_bytes: int | None
    read_mb_per_second: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class BlobFiles:
    """The family's blob files, to 0.1 GB; releases before 7.0 print no garbage."""

    count: int | None
    total_bytes: int | None
    garbage_bytes: int | None
    space_amp: float | None


@dataclass(frozen=True, slots=True)
class FamilyStatistics:
    """One column family in one dump.

    `flushed_bytes` and `ingested_file_bytes` are to 0.001 GB. `stalls` counts how often each cause was entered, by the
    values of `STALL_NAMES`; those `_while_compacting` are counted in the ones without it, too. `is_whole` says that
    the table and the lines below were there to the stalls.
    """

    levels: tuple[LevelRow, ...] = ()
    sum: LevelRow | None = None
    interval: LevelRow | None = None
    priorities: tuple[LevelRow, ...] = ()
    uptime_seconds: float | None = None
    interval_seconds: float | None = None
    flushed_bytes: int | None = None
    interval_flushed_bytes: int | None = None
    ingested_file_bytes: int | None = None
    interval_ingested_file_bytes: int | None = None
    compaction: CompactionTotals | None = None
    interval_compaction: CompactionTotals | None = None
    pending_compaction_bytes: int | None = None
    stalls: Mapping[str, int] = field(default_factory=dict)
    interval_stalls: int | None = None
    blob_files: BlobFiles | None = None
    block_cache: BlockCache | None = None
    read_latency: Mapping[str, LatencyHistogram] = field(default_factory=dict)
    is_whole: bool = False


class FamilyReading:
    """Takes one family's table and the lines below it, line by line."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_torn = False
        self._found = FamilyStatistics()
        self._columns: LevelColumns | None = None

    def accepts(self, columns: LevelColumns) -> bool:
        """Whether a table with these columns goes on with what was taken, or is another copy of the family's."""
        return columns.is_by_priority and not self._found.priorities and self._found.uptime_seconds is None

    def start_table(self, columns: LevelColumns) -> None:
        """Take in the rows that follow under these columns."""
        self._columns = columns

    @property
    def statistics(self) -> FamilyStatistics:
        """What was found."""
        found = self._found
        tables = found.sum is not None and found.interval is not None and found.uptime_seconds is not None
        return replace(found, is_whole=tables and bool(found.stalls) and not self.is_torn)

    def take(self, line: str) -> None:
        """Take in the next line."""
        if self._columns is not None and names_row(line):
            self._take_row(self._columns.row(line))
        elif values := _values(line, self._found):
            self._found = replace(self._found, **values)  # type: ignore[arg-type]
            self._columns = None
            if (stalls := _STALLS.match(line)) and stalls[2]:
                self.take(stalls[2])  # releases without a line's end there
        elif line.startswith(_LABELS):
            self.is_torn = True

    def _take_row(self, row: LevelRow | None) -> None:
        found = self._found
        if row is None:
            self.is_torn = True
        elif row.level is not None:
            self._found = replace(found, levels=(*found.levels, row))
        elif row.name == "Sum":
            self._found = replace(found, sum=row)
        elif row.name == "Int":
            self._found = replace(found, interval=row)
        else:
            self._found = replace(found, priorities=(*found.priorities, row))


def _values(line: str, found: FamilyStatistics) -> dict[str, object]:
    """The fields of `FamilyStatistics` that a line says."""
    if match := UPTIME.match(line):
        return {"uptime_seconds": parse_real(match[1]), "interval_seconds": parse_real(match[2])}
    if match := _WRITTEN.match(line):
        name = "flushed_bytes" if match[1] == "Flush" else "ingested_file_bytes"
        return {name: parse_bytes(match[2], "GB"), f"interval_{name}": parse_bytes(match[3], "GB")}
    if match := _COMPACTION.match(line):
        return {"compaction" if match[1] == "Cumulative" else "interval_compaction": _totals(match)}
    if match := _PENDING.match(line):
        return {"pending_compaction_bytes": parse_count(match[1])}
    if match := _OLD_STALLS.match(line):
        named = [(name, count) for count, _, name in (item.partition(" ") for item in match[1].split(", "))]
        return {"stalls": _stalls(named), "interval_stalls": parse_count(match[2])}
    if match := _STALLS.match(line):
        named = [(name, count) for name, _, count in (item.partition(": ") for item in match[1].split(", "))]
        stalls = _stalls(named)
        # Their sum since the last dump follows on a line of its own, but only if any is above zero.
        return {"stalls": stalls, "interval_stalls": None if any(stalls.values()) else 0}
    if match := _INTERVAL_STALLS.match(line):
        return {"interval_stalls": parse_count(match[1])}
    if match := _BLOBS.match(line):
        return {"blob_files": _blob_files(match)}
    cache = cache_on(line, found.block_cache)
    return {"block_cache": cache} if cache else {}


def _totals(match: re.Match[str]) -> CompactionTotals:
    return CompactionTotals(
        write_bytes=parse_bytes(match[2], "GB"),
        write_mb_per_second=parse_real(match[3]),
        read_bytes=parse_bytes(match[4], "GB"),
        read_mb_per_second=parse_real(match[5]),
        seconds=parse_real(match[6]),
    )


def _blob_files(match: re.Match[str]) -> BlobFiles:
    garbage, space_amp = match[3], match[4]
    return BlobFiles(
        count=parse_count(match[1]),
        total_bytes=parse_bytes(match[2], "GB"),
        garbage_bytes=parse_bytes(garbage, "GB") if garbage else None,
        space_amp=parse_real(space_amp) if space_amp else None,
    )


def _stalls(named: list[tuple[str, str]]) -> dict[str, int]:
    counts = {STALL_NAMES[name]: parse_count(count) for name, count in named if name in STALL_NAMES}
    return {name: count for name, count in counts.items() if count is not None}
