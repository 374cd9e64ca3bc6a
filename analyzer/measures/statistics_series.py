"""What statistics dumps say over time: stalls, WAL and user bytes, level-0 files and pending compaction.

Totals in a dump count from the open before it, so a total over the log adds the last dump of each open. Dumps print
GB with two decimals: bytes here are to about 5 MB for each open.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from typing import Any, NamedTuple

from lsmlens.analyzer.dumps.family_statistics import FamilyStatistics
from lsmlens.analyzer.dumps.statistics_dumps import StatisticsDump, parse_dump
from lsmlens.analyzer.dumps.tickers import StatisticHistogram
from lsmlens.analyzer.logs.spool import Spool

TABLES_IN_MEMORY = 16


class DumpPoint(NamedTuple):
    """One dump: local time in milliseconds, and what it says of the database and, by family, of its levels.

    `table_bytes` are all that flushes and compactions wrote since the open, to about 5 MB a family.
    """

    millis: int | None
    uptime_seconds: float | None
    stall_seconds: float | None
    interval_seconds: float | None
    interval_stall_seconds: float | None
    user_writes: int | None
    user_keys: int | None
    user_bytes: float | None
    interval_user_bytes: float | None
    wal_bytes: float | None
    interval_wal_bytes: float | None
    level0_files: dict[str, int]
    pending_compaction_bytes: dict[str, int]
    stalls: dict[str, dict[str, int]]
    is_cut: bool
    buffer_manager_stops: int | None = None
    table_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class StatisticsSeries:
    """All dumps of a run. Sums are over its opens; None where no dump tells.

    `tickers` and `histograms` are those of the last dump that has any. `tables` holds for each point what its dump
    says by column family (`levels`, `interval`, `priorities`, `read_latency`) and of counters (`tickers`,
    `histograms`), without zeros, as plain dictionaries whose names are those of the classes in `dumps`.
    """

    points: tuple[DumpPoint, ...] = ()
    tables: Spool[dict[str, Any]] = field(default_factory=lambda: Spool(dict[str, Any], TABLES_IN_MEMORY))
    tickers: dict[str, int] = field(default_factory=dict)
    histograms: dict[str, StatisticHistogram] = field(default_factory=dict)

    @property
    def last_of_opens(self) -> tuple[DumpPoint, ...]:
        """The last dump of each open: the next one's uptime is shorter."""
        timed = [point for point in self.points if point.uptime_seconds is not None]
        return tuple(
            point
            for point, following in zip_longest(timed, timed[1:])
            if following is None or (following.uptime_seconds or 0.0) < (point.uptime_seconds or 0.0)
        )

    @property
    def stall_seconds(self) -> float | None:
        """Seconds for which writes were stalled, up to the last dump of each open."""
        return _sum(point.stall_seconds for point in self.last_of_opens)

    @property
    def user_bytes(self) -> float | None:
        """Bytes users wrote ("ingest"), up to the last dump of each open."""
        return _sum(point.user_bytes for point in self.last_of_opens)

    @property
    def wal_bytes(self) -> float | None:
        """Bytes written to the WAL, up to the last dump of each open."""
        return _sum(point.wal_bytes for point in self.last_of_opens)

    @property
    def stalls(self) -> dict[tuple[str, str], int]:
        """(family, cause and kind) -> how often writes were stalled, up to the last dump of each open."""
        counts: dict[tuple[str, str], int] = {}
        for point in self.last_of_opens:
            for family, causes in point.stalls.items():
                for cause, count in causes.items():
                    if count:
                        counts[family, cause] = counts.get((family, cause), 0) + count
        return counts


def read_series(dumps: Iterable[tuple[int | None, str]]) -> StatisticsSeries:
    """The series that dumps' texts make, in the log's order."""
    points: list[DumpPoint] = []
    tables: Spool[dict[str, Any]] = Spool(dict[str, Any], TABLES_IN_MEMORY)
    tickers: dict[str, int] = {}
    histograms: dict[str, StatisticHistogram] = {}
    for millis, text in dumps:
        dump = parse_dump(text)
        points.append(_point(millis, dump))
        tables.append(_tables(dump))
        tickers = dict(dump.tickers) or tickers
        histograms = dict(dump.histograms) or histograms
    return StatisticsSeries(tuple(points), tables, tickers, histograms)


def _point(millis: int | None, dump: StatisticsDump) -> DumpPoint:
    database = dump.database
    writes, wal = (database.writes, database.wal) if database else (None, None)
    new_writes, new_wal = (database.interval_writes, database.interval_wal) if database else (None, None)
    return DumpPoint(
        millis=millis,
        uptime_seconds=database.uptime_seconds if database else None,
        stall_seconds=database.stall.seconds if database and database.stall else None,
        interval_seconds=database.interval_seconds if database else None,
        interval_stall_seconds=database.interval_stall.seconds if database and database.interval_stall else None,
        user_writes=writes.writes if writes else None,
        user_keys=writes.keys if writes else None,
        user_bytes=writes.ingest_bytes if writes else None,
        interval_user_bytes=new_writes.ingest_bytes if new_writes else None,
        wal_bytes=wal.written_bytes if wal else None,
        interval_wal_bytes=new_wal.written_bytes if new_wal else None,
        level0_files={
            name: family.levels[0].files or 0
            for name, family in dump.families.items()
            if family.levels and family.levels[0].level == 0
        },
        pending_compaction_bytes={
            name: family.pending_compaction_bytes
            for name, family in dump.families.items()
            if family.pending_compaction_bytes is not None
        },
        stalls={name: dict(family.stalls) for name, family in dump.families.items()},
        is_cut=dump.is_cut,
        buffer_manager_stops=database.write_buffer_manager_limit_stops if database else None,
        table_bytes=_table_bytes(dump),
    )


def _table_bytes(dump: StatisticsDump) -> int | None:
    """What flushes and compactions of all families wrote since the open; None unless every family tells.

    "Cumulative compaction: W GB write" has the flushes in it (db/internal_stats.cc).
    """
    written = [one.compaction.write_bytes if one.compaction else None for one in dump.families.values()]
    known = [size for size in written if size is not None]
    return sum(known) if known and len(known) == len(written) and not dump.is_cut else None


def _tables(dump: StatisticsDump) -> dict[str, Any]:
    histograms = {name: _told(asdict(one)) for name, one in dump.histograms.items() if one.count != 0}
    families = ((name, _family_tables(family)) for name, family in dump.families.items())
    return {
        "column_families": {name: tables for name, tables in families if tables},
        "tickers": {name: count for name, count in dump.tickers.items() if count},
        "histograms": histograms,
    }


def _family_tables(family: FamilyStatistics) -> dict[str, Any]:
    rows = {
        "levels": [_told(row._asdict()) for row in family.levels],
        "priorities": [_told(row._asdict()) for row in family.priorities],
        "interval": _told(family.interval._asdict()) if family.interval else {},
        "read_latency": {level: _told(asdict(one)) for level, one in family.read_latency.items()},
    }
    return {name: said for name, said in rows.items() if said}


def _told(values: dict[str, Any]) -> dict[str, Any]:
    """Without what is zero or not printed."""
    return {name: value for name, value in values.items() if value}


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
