"""What stands around a run's jobs, put to use: options in force, statistics dumps, counters, operations.

Each part is read only where there is something to read, and then imported.
"""

from typing import TYPE_CHECKING, NamedTuple

import polars as pl
from lsmlens.analyzer.bundles.companions import Beside
from lsmlens.analyzer.runs.jobs import FLUSH
from lsmlens.analyzer.runs.run import Run

if TYPE_CHECKING:
    from lsmlens.analyzer.counters.counter_intervals import CounterInterval, Life
    from lsmlens.analyzer.counters.counter_summary import CounterSummary
    from lsmlens.analyzer.counters.perf_dumps import PerfDump
    from lsmlens.analyzer.measures.statistics_series import StatisticsSeries
    from lsmlens.analyzer.options.option_evidence import Flushed
    from lsmlens.analyzer.options.options_in_force import OptionInForce


# Log and counters tell of the same time if their bytes written to tables differ by no more than this.
SAME_TIME = 0.05


class CrossCheck(NamedTuple):
    """Bytes of tables by the log (flushes and compactions) and by BlueFS's counter, over the daemon's last life.

    `earlier_log_bytes` are those the log tells of before.
    """

    log_bytes: int
    counter_bytes: float
    earlier_log_bytes: int = 0

    @property
    def difference(self) -> float | None:
        """How much more the log says, as a share of the counter."""
        return (self.log_bytes - self.counter_bytes) / self.counter_bytes if self.counter_bytes else None

    @property
    def is_of_same_time(self) -> bool:
        """Whether log and counters tell of the same time."""
        return (
            self.difference is not None
            and abs(self.difference) <= SAME_TIME
            and self.earlier_log_bytes <= SAME_TIME * self.log_bytes
        )


def series_of(run: Run) -> "StatisticsSeries | None":
    """The run's statistics dumps as a series; None where the log has none."""
    if not len(run.dumps):
        return None
    from lsmlens.analyzer.measures.statistics_series import read_series

    return read_series(run.dumps)


def options_of(run: Run, beside: Beside) -> "tuple[tuple[OptionInForce, ...], tuple[OptionInForce, ...]]":
    """RocksDB's options in force, and Ceph's own; empty where nothing tells any."""
    if not (run.options_text or beside.config_show or beside.ceph_conf or run.ceph_version):
        return (), ()
    from lsmlens.analyzer.options.option_evidence import OptionEvidence
    from lsmlens.analyzer.options.options_dump import parse_options
    from lsmlens.analyzer.options.options_in_force import ceph_options_in_force, options_in_force

    flushes, tables = _given_away(run)
    evidence = OptionEvidence(
        dump=parse_options(run.options_text),
        flushes=flushes,
        tables=tables,
        sharding_output=beside.sharding_output,
        config_show=beside.config_show,
        ceph_conf=beside.ceph_conf,
        ceph_version=run.ceph_version,
        rocksdb_version=run.rocksdb_version,
        daemon=run.name.rsplit("/", 1)[-1],
    )
    options = options_in_force(evidence)
    return options, ceph_options_in_force(evidence) if evidence.is_ceph and not evidence.is_monitor else ()


def _given_away(run: Run) -> "tuple[dict[str, list[Flushed]], dict[str, set[str]]]":
    """By family, what flushes tell of its options, and the compressions of the last open's tables."""
    import polars as pl
    from lsmlens.analyzer.options.option_evidence import FULL, Flushed

    told = ("kind", "column_family", "memtables", "logged_reason", "memory_bytes")
    started = pl.concat([run.scan_jobs().select(told), run.unfinished_rows.lazy().select(told)]).filter(
        (pl.col("kind") == FLUSH) & pl.col("memtables").is_not_null() & pl.col("column_family").is_not_null()
    )
    flushes: dict[str, list[Flushed]] = {
        family: [] for family in started.select(pl.col("column_family").unique()).collect().to_series()
    }
    full = started.filter(logged_reason=FULL).select("column_family", "memtables", "logged_reason", "memory_bytes")
    for family, *said in full.collect().iter_rows():
        flushes[family].append(Flushed(*said))
    made = run.scan_tables().filter(pl.col("session") == pl.col("session").max(), pl.col("column_family").is_not_null())
    tables: dict[str, set[str]] = {}
    for family, compression in made.select("column_family", "compression").drop_nulls().unique().collect().iter_rows():
        tables.setdefault(family, set()).add(compression)
    return flushes, tables


def counters_of(run: Run, beside: Beside) -> "CounterSummary | None":
    """The counters of the daemon's last life, from its start to the last dump; None without dumps."""
    if not beside.perf_dumps:
        return None
    from lsmlens.analyzer.counters.counter_summary import summarise
    from lsmlens.analyzer.runs.osds import ceph_release

    return summarise(_lives(beside)[-1], ceph_release(run))


def last_life(run: Run) -> "Life | None":
    """What the log tells of the daemon's last life; None unless the log has its begin."""
    from lsmlens.analyzer.counters.counter_intervals import Life, Written

    last = run.sessions[-1] if run.sessions else None
    if last is None or last.opened_at_millis is None:
        return None
    written, earlier = [], 0
    for session, begun, ended, size in (
        _written(run).select("session", "begun", "ended", "output_bytes").collect().iter_rows()
    ):
        if session != last.number:
            earlier += size
        else:
            written.append(Written(begun, ended, size))
    opened = (last.opened_at_millis - 1000 * (run.utc_offset_seconds or 0)) * 1000
    return Life(opened, tuple(written), earlier)


def counter_intervals_of(run: Run, beside: Beside, life: "Life | None") -> "tuple[CounterInterval, ...]":
    """What was counted from each perf dump to the next; empty without dumps."""
    if not beside.perf_dumps:
        return ()
    from lsmlens.analyzer.counters.counter_intervals import counter_intervals
    from lsmlens.analyzer.runs.osds import ceph_release

    return counter_intervals(beside.perf_dumps, ceph_release(run), life)


def cross_check(life: "Life | None", counters: "CounterSummary | None") -> CrossCheck | None:
    """The log's bytes since the last open against the counter's; None unless that open is in it and there are counters.

    A life that was killed left no last dump, so only the last one is checked, which went on to the dump's end.
    """
    if life is None or counters is None or counters.bluefs_sst_bytes_written is None:
        return None
    return CrossCheck(sum(one.bytes for one in life.written), counters.bluefs_sst_bytes_written, life.earlier_bytes)


def _written(run: Run) -> pl.LazyFrame:
    """The jobs that wrote anything; `begun` and `ended` in microseconds since 1970, the end for both if it is all."""
    ended = pl.col("finished_at").to_physical()
    told = run.scan_jobs().select("session", "started_at", "finished_at", "output_bytes")
    return told.filter(pl.col("output_bytes") > 0).with_columns(
        begun=pl.coalesce(pl.col("started_at").to_physical(), ended), ended=ended
    )


def _lives(beside: Beside) -> "list[PerfDump]":
    """The last dump of each of the daemon's lives: counters begin at zero with each."""
    from lsmlens.analyzer.counters.counter_series import in_series

    return [series[-1] for series in in_series(list(beside.perf_dumps))]


class TotalAmplification(NamedTuple):
    """Total write amplification, WAL and all: (WAL + flush + compaction bytes) / user bytes.

    By statistics dumps, from each open to its last one; they print whole GB with two decimals, so `user_bytes` and
    `wal_bytes` are to about 5 MB for each open, and so are table bytes where the log has no events of flushes and
    compactions. Else by BlueFS's counters, over the daemon's last life: then the WAL's
    bytes stand for the users', for all they write goes through it; it has a few bytes a batch more.
    """

    user_bytes: float
    wal_bytes: float
    table_bytes: int
    is_by_counters: bool = False

    @property
    def ratio(self) -> float:
        """Bytes written for each byte users wrote."""
        return (self.wal_bytes + self.table_bytes) / self.user_bytes


# Below this the two decimals of a dump's GB leave a ratio more than about 1 % in doubt.
LEAST_USER_BYTES = 1 << 29


def total_amplification(
    run: Run, series: "StatisticsSeries | None", counters: "CounterSummary | None", check: CrossCheck | None
) -> TotalAmplification | None:
    """By dumps or by counters; None where neither tells of enough bytes to divide by."""
    if series is None or (series.user_bytes or 0) < LEAST_USER_BYTES:
        wal = None if counters is None else counters.bluefs_wal_bytes_written
        if check is None or not wal or wal < LEAST_USER_BYTES:
            return None
        return TotalAmplification(wal, wal, check.log_bytes, is_by_counters=True)
    offset = 1000 * (run.utc_offset_seconds or 0)
    covered = [
        ((point.millis - offset) * 1000 - round((point.uptime_seconds or 0) * 1e6), (point.millis - offset) * 1000)
        for point in series.last_of_opens
        if point.millis is not None
    ]
    jobs = _written(run).select("ended", "output_bytes").collect().iter_rows()
    written = sum(size for ended, size in jobs if any(opened <= ended <= dumped for opened, dumped in covered))
    if not written:  # the log holds no events of that time; its dumps may tell all the same
        dumped = [point.table_bytes for point in series.last_of_opens]
        if None in dumped:
            return None
        written = sum(size or 0 for size in dumped)
    return TotalAmplification(series.user_bytes or 0.0, series.wal_bytes or 0.0, written)
