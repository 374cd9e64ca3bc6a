"""What one statistics dump says of one column family, its table and the lines below that.

Everything is since the database was opened, or, where a name says `interval`, since the dump before.
Source: db/internal_stats.cc of RocksDB v4.13 to v11.8.1.

The lines of a statistics dump on the block cache a column family reads through; releases since 6.22 write them.

The table `** Compaction Stats [family] **`: a row for each level, and one for each priority of threads.

Columns came and went (no CompMergeCPU before 6.0, no Rblob and Wblob before 6.19, WPreComp since 10.4) and
`Size` is a bare number of MB in one version and `62.43 MB` in the next: they are found by the header's names.
Source: db/internal_stats.cc of RocksDB v4.13 to v11.8.1.

How long reads from files of each level took: `** File Read Latency Histogram By Level [family] **`.

Only what RocksDB summed up is read, not the buckets. A level that was not read from has no histogram.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from lsmlens.analyzer.dumps.printed_numbers import parse_bytes, parse_count, parse_gb, parse_real

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
# Block cache LRUCache@0x564fdd5803c0#10360 capacity: 32.00 MB seed: 1177849269 usage: 0.08 KB table_size: 1024 …
# Block cache BinnedLRUCache@0x55c02fc2e850#15688 capacity: 1.35 GB usage: 1.39 KB table_size: 0 …
# Block cache LRUCache@0x5600bb634770#32819 capacity: 8.00 MB collections: 1 last_copies: 0 …
_CACHE = re.compile(r"Block cache (\S+) capacity: (\S+) ([KMGT]?B)\b(?:.*? usage: (\S+) ([KMGT]?B)\b)?")
# Block cache entry stats(count,size,portion): DataBlock(10,39.41 KB,0.120282%) Misc(1,0.00 KB,0%)
_ENTRIES = re.compile(r"Block cache entry stats\(count,size,portion\):")
_ENTRY = re.compile(r" (\w+)\((\d+),(\S+) ([KMGT]?B),(\S+)%\)", re.ASCII)
# Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) …
# Level    Files   Size(MB) Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) …
# Priority    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) …
_HEADER = re.compile(r"\s{0,9}(Level|Priority)\s+Files\s")
#   L0      4/1   720.53 KB   1.0      0.0     0.0      0.0       0.0      0.0       0.0   1.0      0.0      1.9 …
#  Sum      6/0     115.39   0.0      0.4     0.2      0.2       0.5      0.3       0.0   2.6      1.7      2.2 …
_ROW = re.compile(r"\s{0,9}(L\d{1,4}|Sum|Int|Low|High|Bottom|User)\b", re.ASCII)
_FILES = re.compile(r"(\d{1,18})/(\d{1,18})", re.ASCII)

_COLUMNS: dict[str, tuple[str, Callable[[str], int | float | None]]] = {
    "Score": ("score", parse_real),
    "Read(GB)": ("read_gb", parse_gb),
    "Rn(GB)": ("rn_gb", parse_gb),
    "Rnp1(GB)": ("rnp1_gb", parse_gb),
    "Write(GB)": ("write_gb", parse_gb),
    "WPreComp(GB)": ("w_pre_comp_gb", parse_gb),
    "Wnew(GB)": ("w_new_gb", parse_gb),
    "Moved(GB)": ("moved_gb", parse_gb),
    "W-Amp": ("w_amp", parse_real),
    "Rd(MB/s)": ("read_mb_per_second", parse_real),
    "Wr(MB/s)": ("write_mb_per_second", parse_real),
    "Comp(sec)": ("comp_seconds", parse_real),
    "CompMergeCPU(sec)": ("comp_merge_cpu_seconds", parse_real),
    "Comp(cnt)": ("comp_count", parse_count),
    "Avg(sec)": ("avg_seconds", parse_real),
    "KeyIn": ("key_in", parse_count),
    "KeyDrop": ("key_drop", parse_count),
    "Rblob(GB)": ("rblob_gb", parse_gb),
    "Wblob(GB)": ("wblob_gb", parse_gb),
}
# ** Level 0 read latency histogram (micros):
# ** Blob file read latency histogram (micros):
_TITLE = re.compile(r"\*\* (?:Level (\d{1,4})|(Blob) file) read latency histogram \(micros\):", re.ASCII)
# Count: 24 Average: 1.2917  StdDev: 1.24
_COUNT = re.compile(r"Count: (\S+) +Average: (\S+) +StdDev: (\S+)\s*$")
# Min: 0  Median: 0.5714  Max: 7
_RANGE = re.compile(r"Min: (\S+) +Median: (\S+) +Max: (\S+)\s*$")
# Percentiles: P50: 0.57 P75: 0.86 P99: 7.00 P99.9: 7.00 P99.99: 7.00
_PERCENTILES = re.compile(r"Percentiles:((?: P\d+(?:\.\d+)?: \S+)+)\s*$", re.ASCII)

BLOB = "blob"


@dataclass(frozen=True, slots=True)
class CacheEntries:
    """The cache's entries in one role, such as DataBlock or IndexBlock, and their share of its capacity."""

    count: int | None
    size_bytes: int | None
    percent: float | None


@dataclass(frozen=True, slots=True)
class BlockCache:
    """One block cache: `name` is the same in every family that shares it, and other after the next open.

    Its sizes are to 0.01 of the unit printed. RocksDB may write the entries without the line that names the cache.
    """

    name: str | None = None
    capacity_bytes: int | None = None
    usage_bytes: int | None = None
    entries: Mapping[str, CacheEntries] = field(default_factory=dict)


class LevelRow(NamedTuple):
    """One row as printed: GB are 2^30 bytes and MB 2^20, to one decimal; None for a column that is not there.

    `name` is L0, L1 …, Sum, Int (since the dump before), or the priority. `read_gb` is all that was read, `rn_gb`
    from the row's level, `rnp1_gb` from the level written to; `w_new_gb` is `write_gb` minus `rnp1_gb`, and may be
    negative. The row of level 0 holds the flushes. `w_amp`: bytes written by bytes that came from above; in Sum and
    Int by bytes flushed and ingested, so without the WAL. The MB per second are of compaction time, not of uptime.
    `key_in` and `key_drop` are in thousands or millions above 9999.
    """

    name: str
    files: int | None = None
    files_being_compacted: int | None = None
    size_bytes: int | None = None
    score: float | None = None
    read_gb: float | None = None
    rn_gb: float | None = None
    rnp1_gb: float | None = None
    write_gb: float | None = None
    w_pre_comp_gb: float | None = None
    w_new_gb: float | None = None
    moved_gb: float | None = None
    w_amp: float | None = None
    read_mb_per_second: float | None = None
    write_mb_per_second: float | None = None
    comp_seconds: float | None = None
    comp_merge_cpu_seconds: float | None = None
    comp_count: int | None = None
    avg_seconds: float | None = None
    key_in: int | None = None
    key_drop: int | None = None
    rblob_gb: float | None = None
    wblob_gb: float | None = None

    @property
    def level(self) -> int | None:
        """The level's number; None for Sum, Int and priorities."""
        return int(self.name[1:]) if self.name[:1] == "L" and self.name[1:].isdecimal() else None


class LevelColumns(NamedTuple):
    """The columns that a table's header names, in their order."""

    names: tuple[str, ...]

    @property
    def is_by_priority(self) -> bool:
        """Whether its rows are priorities of threads, not levels."""
        return self.names[0] == "Priority"

    @classmethod
    def in_header(cls, line: str) -> "LevelColumns | None":
        """The columns of a header line; None for any other line."""
        return cls(tuple(line.split())) if _HEADER.match(line) else None

    def row(self, line: str) -> LevelRow | None:
        """The row on that line; None unless it has a value for every column."""
        words = line.split()
        if "Size" in self.names:  # its value is two words; `Size(MB)` and, in 5.0 to 5.3, `Size(MB}` are one
            place = self.names.index("Size")
            words[place : place + 2] = [" ".join(words[place : place + 2])]
        if len(words) != len(self.names):
            return None
        values: dict[str, int | float | None] = {}
        for column, word in zip(self.names, words, strict=True):
            if column == "Files":
                files = _FILES.fullmatch(word)
                values["files"] = int(files[1]) if files else None
                values["files_being_compacted"] = int(files[2]) if files else None
            elif column.startswith("Size"):
                number, _, unit = word.partition(" ")
                values["size_bytes"] = parse_bytes(number, unit or "MB")
            elif column in _COLUMNS:
                name, parse = _COLUMNS[column]
                values[name] = parse(word)
        return LevelRow(words[0], **values)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class LatencyHistogram:
    """Latencies of reads in microseconds since the database was opened; percentiles by name, `P50` to `P99.99`."""

    count: int | None
    average_micros: float | None
    standard_deviation_micros: float | None
    min_micros: float | None
    median_micros: float | None
    max_micros: float | None
    percentiles_micros: Mapping[str, float | None]


class LatencyReading:
    """Takes one family's histograms line by line; a histogram without all of its three lines is left out."""

    def __init__(self) -> None:
        self.by_level: dict[str, LatencyHistogram] = {}
        self._level: str | None = None
        self._count: re.Match[str] | None = None
        self._range: re.Match[str] | None = None

    @property
    def is_incomplete(self) -> bool:
        """Whether a histogram was begun and its end not seen."""
        return self._level is not None

    def take(self, line: str) -> None:
        """Take in the next line."""
        if title := _TITLE.match(line):
            self._level = BLOB if title[2] else f"L{int(title[1])}"
            self._count = self._range = None
        elif self._level is None:
            return
        elif match := _COUNT.match(line):
            self._count = match
        elif match := _RANGE.match(line):
            self._range = match
        elif (match := _PERCENTILES.match(line)) and self._count and self._range:
            words = match[1].split()
            histogram = LatencyHistogram(
                count=parse_count(self._count[1]),
                average_micros=parse_real(self._count[2]),
                standard_deviation_micros=parse_real(self._count[3]),
                min_micros=parse_real(self._range[1]),
                median_micros=parse_real(self._range[2]),
                max_micros=parse_real(self._range[3]),
                percentiles_micros={
                    name[:-1]: parse_real(word) for name, word in zip(words[::2], words[1::2], strict=True)
                },
            )
            self.by_level.setdefault(self._level, histogram)
            self._level = None


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
        self._levels: list[LevelRow] = []
        self._priorities: list[LevelRow] = []
        self._found: dict[str, Any] = {}  # the other fields of `FamilyStatistics`
        self._columns: LevelColumns | None = None

    def accepts(self, columns: LevelColumns) -> bool:
        """Whether a table with these columns goes on with what was taken, or is another copy of the family's."""
        return columns.is_by_priority and not self._priorities and self._found.get("uptime_seconds") is None

    def start_table(self, columns: LevelColumns) -> None:
        """Take in the rows that follow under these columns."""
        self._columns = columns

    @property
    def statistics(self) -> FamilyStatistics:
        """What was found."""
        found = self._found
        has_tables = all(found.get(name) is not None for name in ("sum", "interval", "uptime_seconds"))
        is_whole = has_tables and bool(found.get("stalls")) and not self.is_torn
        return FamilyStatistics(tuple(self._levels), priorities=tuple(self._priorities), is_whole=is_whole, **found)

    def take(self, line: str) -> None:
        """Take in the next line."""
        if self._columns is not None and names_row(line):
            self._take_row(self._columns.row(line))
        elif values := _values(line, self._found.get("block_cache")):
            self._found |= values
            self._columns = None
            if (stalls := _STALLS.match(line)) and stalls[2]:
                self.take(stalls[2])  # releases without a line's end there
        elif line.startswith(_LABELS):
            self.is_torn = True

    def _take_row(self, row: LevelRow | None) -> None:
        if row is None:
            self.is_torn = True
        elif row.level is not None:
            self._levels.append(row)
        elif row.name in ("Sum", "Int"):
            self._found["sum" if row.name == "Sum" else "interval"] = row
        else:
            self._priorities.append(row)


def _values(line: str, cache: BlockCache | None) -> dict[str, Any]:
    """The fields of `FamilyStatistics` that a line says; `cache` is what lines before it said of the block cache."""
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
    known = cache_on(line, cache)
    return {"block_cache": known} if known else {}


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


def cache_on(line: str, so_far: BlockCache | None) -> BlockCache | None:
    """The cache with what the line adds to what was known of it; None for any other line."""
    if _ENTRIES.match(line):
        return replace(so_far or BlockCache(), entries=dict(map(_entries, _ENTRY.finditer(line))))
    if match := _CACHE.match(line):
        return replace(
            so_far or BlockCache(),
            name=match[1],
            capacity_bytes=parse_bytes(match[2], match[3]),
            usage_bytes=parse_bytes(match[4], match[5]) if match[4] else None,
        )
    return None


def _entries(match: re.Match[str]) -> tuple[str, CacheEntries]:
    return match[1], CacheEntries(parse_count(match[2]), parse_bytes(match[3], match[4]), parse_real(match[5]))


def names_row(line: str) -> bool:
    """Whether the line begins as a row does, whole or not."""
    return _ROW.match(line) is not None
