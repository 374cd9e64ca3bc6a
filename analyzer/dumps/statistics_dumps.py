"""A statistics dump: what RocksDB writes into its log every `stats_dump_period_sec`, 600 s unless set otherwise.

Where events are missing it is all there is; where they are not it is a check on them. Late releases (8.1 does) leave
out families in which nothing happened. Some (5.18 and 6.8 do, 6.27 does not) write each family's table twice, the
second one over an interval of no length; the first whole one counts. A dump is one log message of at most 64 KiB: wide
databases lose its end. Source: db/internal_stats.cc and db/db_impl/db_impl.cc of RocksDB v4.13 to v11.8.1.

What one statistics dump says of the whole database: `** DB Stats **`.

Everything is since the database was opened, or, where a name says `interval`, since the dump before.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lsmlens.analyzer.dumps.dump_text import CARRIER, ENTRY, MARKER, STATISTICS
from lsmlens.analyzer.dumps.family_statistics import (
    UPTIME,
    FamilyReading,
    FamilyStatistics,
    LatencyReading,
    LevelColumns,
)
from lsmlens.analyzer.dumps.printed_numbers import parse_bytes, parse_count, parse_real
from lsmlens.analyzer.dumps.tickers import StatisticHistogram, parse_tickers

_ENTRY = re.compile(ENTRY.pattern.decode("ascii").removeprefix("^"))
_CARRIER = re.compile(CARRIER.decode("ascii"))
_MARKER, _STATISTICS = MARKER.decode("ascii"), STATISTICS.decode("ascii")
_DATABASE_TITLE = "** DB Stats **"
# ** Compaction Stats [default] **
# ** File Read Latency Histogram By Level [column_family_name_000001] **
_FAMILY_TITLE = re.compile(r"\*\* (Compaction Stats|File Read Latency Histogram By Level) \[(.*)\] \*\*\s*$")
_TITLES = re.compile(r"\*\* (?:DB Stats|Compaction Stats|File Read Latency)")

# A message is cut to 64 KiB, in some hosts with its prefix: one of that length lacks its end, if a line's end hides it.
_FULL_MESSAGE = range((1 << 16) - 256, (1 << 16) + 2)
# Another line always follows these: one that is the last was cut, and its last number may be, too.
_NEVER_LAST = re.compile(
    r"\s*(?:(?:L\d+|Sum|Int|Low|High|Bottom|User) |(?:Level|Priority) |Blob file count|Uptime\(|Flush\(|AddFile\("
    r"|Cumulative |Interval (?:compaction|writes|WAL)|Estimated |Block cache |Write Stall \(count\): cf-|Count: |Min: "
    r"|Percentiles:)"
)
# Cumulative writes: 37K writes, 262K keys, 37K commit groups, 1.0 writes per commit group, ingest: 0.25 GB, 0.43 MB/s
# Interval writes: 378K writes, 2027K keys, 378K batches, 1.0 writes per batch, ingest: 501.35 MB, 0.40 MB/s
_WRITES = re.compile(
    r"(Cumulative|Interval) writes: (\S+) writes, (\S+) keys, (\S+) (?:commit groups|batches),"
    r" (\S+) writes per (?:commit group|batch), ingest: (\S+) ([KMGT]?B), (\S+) MB/s\s*$"
)
# Cumulative WAL: 352K writes, 42K syncs, 8.39 writes per sync, written: 2.23 GB, 38.06 MB/s
# Interval WAL: 352K writes, 42K syncs, 8.39 writes per sync, written: 2.23 MB, 38.07 MB/s
_WAL = re.compile(
    r"(Cumulative|Interval) WAL: (\S+) writes, (\S+) syncs, (\S+) writes per sync,"
    r" written: (\S+) [MG]B, (\S+) MB/s\s*$"
)
# Cumulative stall: 00:00:0.928 H:M:S, 90.1 percent
_STALL = re.compile(r"(Cumulative|Interval) stall: (\d{1,9}):(\d{1,9}):(\S+) H:M:S, (\S+) percent\s*$", re.ASCII)
# Write Stall (count): write-buffer-manager-limit-stops: 0
# Write Stall (count): write-buffer-manager-limit-stops: 0,                       8.1.1
_BUFFER_STOPS = re.compile(r"Write Stall \(count\): write-buffer-manager-limit-stops: (\d+)[, ]*$", re.ASCII)

_LABELS = ("Uptime(", "Cumulative ", "Interval ", "Write Stall (")


class WriteTotals(NamedTuple):
    """Writes by clients. A commit group (before 5.x: batch) is what one thread wrote for several.

    `ingest_bytes` is to 0.01 GB, in an interval to 0.01 MB; counts are in thousands or millions above 9999.
    """

    writes: int | None
    keys: int | None
    commit_groups: int | None
    writes_per_commit_group: float | None
    ingest_bytes: int | None
    ingest_mb_per_second: float | None


class WalTotals(NamedTuple):
    """Writes to the write-ahead log; `written_bytes` is to 0.01 GB, in an interval too.

    Releases before 6.22 print an interval's GB and call them MB; these are read as GB, which the rate beside proves.
    """

    writes: int | None
    syncs: int | None
    writes_per_sync: float | None
    written_bytes: int | None
    written_mb_per_second: float | None


class StallTime(NamedTuple):
    """How long writers waited, and the share of the time: the one measure of stalls that is a duration."""

    seconds: float | None
    percent: float | None


class DatabaseStatistics(NamedTuple):
    """The whole database in one dump; None for a line that is missing or torn."""

    uptime_seconds: float | None = None
    interval_seconds: float | None = None
    writes: WriteTotals | None = None
    interval_writes: WriteTotals | None = None
    wal: WalTotals | None = None
    interval_wal: WalTotals | None = None
    stall: StallTime | None = None
    interval_stall: StallTime | None = None
    write_buffer_manager_limit_stops: int | None = None


class DatabaseReading:
    """Takes the lines of `** DB Stats **` one by one."""

    def __init__(self) -> None:
        self.statistics = DatabaseStatistics()
        self._is_torn = False

    @property
    def is_whole(self) -> bool:
        """Whether its last line in all releases was reached, and none was torn."""
        return self.statistics.interval_stall is not None and not self._is_torn

    def take(self, line: str) -> None:
        """Take in the next line."""
        if values := _values(line):
            self.statistics = self.statistics._replace(**values)  # type: ignore[arg-type]
        elif line.startswith(_LABELS):
            self._is_torn = True


@dataclass(frozen=True, slots=True)
class StatisticsDump:
    """One dump. `is_cut` says that lines are missing or torn; what was whole is there all the same."""

    database: DatabaseStatistics | None = None
    families: Mapping[str, FamilyStatistics] = field(default_factory=dict)
    tickers: Mapping[str, int] = field(default_factory=dict)
    histograms: Mapping[str, StatisticHistogram] = field(default_factory=dict)
    is_cut: bool = True


def parse_dump(text: str) -> StatisticsDump:
    """The dump that a log's text holds, from its marker on or from its first table.

    Takes any text. Lines of others that stand in between are passed over; another dump's marker ends it. A line
    without a newline at its end is taken for a torn one, and not read.
    """
    messages = _Messages(text)
    body = _Body()
    for line in messages.whole_lines():
        body.take(line)
    tickers = parse_tickers(messages.statistics)
    return StatisticsDump(
        database=body.database.statistics if body.database else None,
        families=body.families(),
        tickers=tickers.counts,
        histograms=tickers.histograms,
        is_cut=messages.is_cut or not body.is_whole,
    )


class _Messages:
    """A dump's lines by message, without the host's prefixes and the entries of others."""

    def __init__(self, text: str) -> None:
        self.tables: list[str] = []
        self.statistics: list[str] = []
        *lines, remainder = text.split("\n")
        self.is_cut = bool(remainder.strip())
        message = self.tables
        has_begun = False
        for raw in lines:
            line = raw.rstrip("\r")
            entry = _ENTRY.match(line)
            if _MARKER in line:
                if has_begun:
                    break
                has_begun = True
                self.tables.clear()
            elif line.rstrip().endswith(_STATISTICS) and (entry or line.strip() == _STATISTICS):
                message = self.statistics
            elif title := _TITLES.search(line):
                has_begun = True
                message = self.tables
                # 8.1 may leave no line between the database's last line and the first table.
                before = "" if entry else line[: title.start()]
                message += [before, line[title.start() :]]
            elif not entry:
                carrier = _CARRIER.match(line)
                message.append(line[carrier.end() :] if carrier else line)

    def whole_lines(self) -> Iterator[str]:
        """The lines of the message with the tables, up to where it was cut."""
        lines = self.tables
        while lines and not lines[-1].strip():
            lines.pop()
        if lines and _NEVER_LAST.match(lines[-1]):
            lines.pop()
            self.is_cut = True
        self.is_cut |= sum(len(line) + 1 for line in lines) in _FULL_MESSAGE
        yield from lines


class _Body:
    """The tables of a dump, taken line by line; a title says whose lines follow."""

    def __init__(self) -> None:
        self.database: DatabaseReading | None = None
        self._tables: list[FamilyReading] = []
        self._latencies: list[tuple[str, LatencyReading]] = []
        self._family: str | None = None
        self._reading: DatabaseReading | FamilyReading | LatencyReading | None = None

    @property
    def is_whole(self) -> bool:
        if self.database is None or not self.database.is_whole:
            return False
        tables = all(table.statistics.is_whole for table in self._tables)
        return tables and not any(reading.is_incomplete for _, reading in self._latencies)

    def take(self, line: str) -> None:
        if line.startswith(_DATABASE_TITLE):
            self._reading = DatabaseReading()
            self.database = self.database or self._reading
        elif title := _FAMILY_TITLE.match(line):
            self._family = title[2]
            if title[1].startswith("File"):
                self._reading = LatencyReading()
                self._latencies.append((title[2], self._reading))
            elif not isinstance(self._reading, FamilyReading) or self._reading.name != title[2]:
                self._reading = None
        elif self._family is not None and (columns := LevelColumns.in_header(line)):
            self._start_table(self._family, columns)
        elif self._reading is not None:
            self._reading.take(line)

    def _start_table(self, family: str, columns: LevelColumns) -> None:
        reading = self._reading
        if not isinstance(reading, FamilyReading) or not reading.accepts(columns):
            reading = FamilyReading(family)
            self._tables.append(reading)
            self._reading = reading
        reading.start_table(columns)

    def families(self) -> dict[str, FamilyStatistics]:
        """Each family's first whole table, or the first there is, with the first histograms there are."""
        chosen: dict[str, FamilyStatistics] = {}
        for table in self._tables:
            statistics = table.statistics
            if table.name not in chosen or (statistics.is_whole and not chosen[table.name].is_whole):
                chosen[table.name] = statistics
        for name, reading in self._latencies:
            family = chosen.get(name, FamilyStatistics())
            if not family.read_latency and reading.by_level:
                chosen[name] = replace(family, read_latency=reading.by_level)
        return chosen


def _values(line: str) -> dict[str, object]:
    """The fields of `DatabaseStatistics` that a line says."""
    if match := UPTIME.match(line):
        return {"uptime_seconds": parse_real(match[1]), "interval_seconds": parse_real(match[2])}
    if match := _WRITES.match(line):
        return {_field(match, "writes"): _write_totals(match)}
    if match := _WAL.match(line):
        return {_field(match, "wal"): _wal_totals(match)}
    if match := _STALL.match(line):
        seconds = parse_real(match[4])
        if seconds is not None:
            seconds += int(match[2]) * 3600 + int(match[3]) * 60
        return {_field(match, "stall"): StallTime(seconds, parse_real(match[5]))}
    if match := _BUFFER_STOPS.match(line):
        return {"write_buffer_manager_limit_stops": parse_count(match[1])}
    return {}


def _field(match: re.Match[str], name: str) -> str:
    return name if match[1] == "Cumulative" else f"interval_{name}"


def _write_totals(match: re.Match[str]) -> WriteTotals:
    return WriteTotals(
        writes=parse_count(match[2]),
        keys=parse_count(match[3]),
        commit_groups=parse_count(match[4]),
        writes_per_commit_group=parse_real(match[5]),
        ingest_bytes=parse_bytes(match[6], match[7]),
        ingest_mb_per_second=parse_real(match[8]),
    )


def _wal_totals(match: re.Match[str]) -> WalTotals:
    return WalTotals(
        writes=parse_count(match[2]),
        syncs=parse_count(match[3]),
        writes_per_sync=parse_real(match[4]),
        written_bytes=parse_bytes(match[5], "GB"),
        written_mb_per_second=parse_real(match[6]),
    )
