"""What one statistics dump says of the whole database: `** DB Stats **`.

Everything is since the database was opened, or, where a name says `interval`, since the dump before.
"""

import re
from typing import NamedTuple

from lsmlens.analyzer.dumps.family_statistics import UPTIME
from lsmlens.analyzer.dumps.printed_numbers import parse_bytes, parse_count, parse_real

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
