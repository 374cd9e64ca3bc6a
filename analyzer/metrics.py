"""Every metric, declared once: name, unit, formula, what it leaves out, and what tells it.

A *sum* adds up over anything: the jobs of a family, a level, a window of time, a run, an arm of a comparison, or of
ten million jobs in a Parquet data set. A *metric* is a formula over sums, so it is right for any grouping: the write
amplification of two OSDs is that of their sums.

    sums = sums_of(run.jobs, by=["column_family"])          # one row a family, a column each of SUMS
    sums.select("column_family", WRITE_AMPLIFICATION.formula)

Reports' glossaries, `lsmlens explain METRIC`, the metrics that gates take, what the JSON Schemas say of figures, and
the noise of a comparison come from here. What is not told by jobs (the log's length, statistics dumps, counters) joins
the sums under its own name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce
from operator import add
from typing import Final, TypeVar

import polars as pl
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH, MOVE
from lsmlens.analyzer.units import GIB, MIB, MICROS

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)


class Better(StrEnum):
    """Which way a metric should go."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


class Group(StrEnum):
    """The section a metric belongs to, in their order."""

    STATISTICS = "compaction statistics"
    AMPLIFICATION = "write amplification"
    WORK = "per unit of work"
    FAMILIES = "column families"
    TOMBSTONES = "tombstones"
    STALLS = "stalls"
    COUNTERS = "counters"
    CLIENTS = "clients"


class Unit(StrEnum):
    """What a metric's numbers count."""

    SECONDS = "seconds"
    BYTES = "bytes"
    MIB = "MiB"
    COUNT = "count"
    RECORDS = "records"
    RATIO = "ratio"
    SHARE = "share"
    MIB_PER_SECOND = "MiB/s"
    BYTES_PER_SECOND = "bytes/s"
    RECORDS_PER_SECOND = "records/s"
    IOPS = "IOPS"
    BYTES_PER_RECORD = "bytes/record"
    BYTES_PER_OPERATION = "bytes/operation"
    SECONDS_PER_GIB = "seconds/GiB"
    SECONDS_PER_MILLION_RECORDS = "seconds/million records"


# Sums over jobs: an expression over the columns of `jobs.Job`, which aggregates a group to one number.

_FLUSH, _COMPACTION, _MOVE = (pl.col("kind") == kind for kind in (FLUSH, COMPACTION, MOVE))
_SECONDS = pl.col("micros") / MICROS
_TIMED = _COMPACTION & (pl.col("micros") > 0)
_WITH_INPUT = _COMPACTION & (pl.col("input_records") > 0)


def _of(jobs: pl.Expr, value: str | pl.Expr) -> pl.Expr:
    return pl.when(jobs).then(value).sum()


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum over jobs: the expression that aggregates a group to one number, and in words what it adds up."""

    expression: pl.Expr
    meaning: str


SUMS: Final[Mapping[str, Sum]] = {
    "flushes": Sum(_FLUSH.sum(), "flush_finished events"),
    "flush_bytes": Sum(_of(_FLUSH, "output_bytes"), "level-0 tables and blob files that flushes wrote"),
    "flush_blob_bytes": Sum(_of(_FLUSH, "blob_bytes"), "the blob files' part of flush bytes"),
    "flush_input_records": Sum(
        _of(_FLUSH, "input_records"), "entries of the flushed memtables: the work the database was given"
    ),
    "flush_output_records": Sum(_of(_FLUSH, "output_records"), "entries of the tables that flushes wrote"),
    "compactions": Sum(_COMPACTION.sum(), "compaction_finished events"),
    "compaction_seconds": Sum(
        _of(_COMPACTION, "micros") / MICROS,
        "sum over compactions of compaction_time_micros; those that ran at the same time count each",
    ),
    "compaction_input_bytes": Sum(_of(_COMPACTION, "input_bytes"), "input_data_size of compactions"),
    "compaction_output_bytes": Sum(
        _of(_COMPACTION, "output_bytes"),
        "total_output_size, and what releases write apart from it: blob files, and the penultimate level's tables",
    ),
    "level0_output_bytes": Sum(
        _of(_COMPACTION & pl.col("input_levels").list.contains(0), "output_bytes"),
        "compaction output bytes of the compactions that took in level 0",
    ),
    "blob_output_bytes": Sum(_of(_COMPACTION, "blob_bytes"), "blob files that compactions wrote"),
    "proximal_output_bytes": Sum(
        _of(_COMPACTION, "proximal_bytes"), 'what per-key placement wrote to the penultimate ("proximal") level'
    ),
    "output_bytes": Sum(_of(_COMPACTION, "table_bytes"), "sum of total_output_size"),
    "input_records": Sum(_of(_COMPACTION, "input_records"), "sum of num_input_records"),
    "output_records": Sum(_of(_COMPACTION, "output_records"), "sum of num_output_records"),
    "timed_compactions": Sum(_TIMED.sum(), "compactions of more than 0 µs"),
    "throughputs": Sum(_of(_TIMED, pl.col("table_bytes") / MIB / _SECONDS), "compactions' own MiB written per second"),
    "input_rates": Sum(_of(_TIMED, pl.col("input_records") / _SECONDS), "compactions' own records read per second"),
    "output_rates": Sum(_of(_TIMED, pl.col("output_records") / _SECONDS), "their own records written per second"),
    "weighed_compactions": Sum(_WITH_INPUT.sum(), "compactions that read a record"),
    "ratios": Sum(
        _of(_WITH_INPUT, pl.col("output_records") / pl.col("input_records")),
        "their own records written per record read",
    ),
    "trivial_moves": Sum(_MOVE.sum(), "trivial_move events; they move no bytes"),
    "trivial_move_bytes": Sum(_of(_MOVE, "moved_bytes"), "size of the tables that trivial moves took to another level"),
}
# Sums over tables that live: an expression over the columns of `jobs.Table`.
TABLE_SUMS: Final[Mapping[str, pl.Expr]] = {
    "live_tables": pl.len(),
    "live_table_bytes": pl.col("bytes").sum(),
    "live_entries": pl.col("entries").sum(),
    "live_tombstones": pl.col("deletions").sum(),
    "live_range_tombstones": pl.col("range_deletions").sum(),
}
# The work a database was given: a total's share that a run decides by chance is the total per record of it.
WORK: Final = "flush_input_records"
LOG_SECONDS: Final = "log_seconds"


def sums_of(jobs: FrameT, by: Sequence[str | pl.Expr] = (), names: Sequence[str] = tuple(SUMS)) -> FrameT:
    """The sums of jobs, one row a group in the groups' order; a single row without `by`."""
    columns = [SUMS[name].expression.alias(name) for name in names]
    if not by:
        return jobs.select(columns)
    keys = [one if isinstance(one, str) else one.meta.output_name() for one in by]
    return jobs.group_by(*by).agg(columns).sort(keys)


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: `factor` times the sums `of`, divided by the sum `per` if there is one.

    `name` is unique and what gates say; `how` is the formula in words, `leaves_out` what it does not count, `source`
    what tells it. A metric without `of` is told by its source as it stands. `part` is the column family or client job
    it is of. `noise_of` and `noise_per` are sums whose ratio over a run's windows tells how much of the metric is
    chance; without them one run alone does not tell.
    """

    name: str
    label: str
    unit: Unit
    better: Better
    group: Group
    how: str
    of: tuple[str, ...] = ()
    per: str = ""
    factor: float = 1.0
    aliases: tuple[str, ...] = ()
    leaves_out: str = ""
    source: str = "finished jobs of the log"
    is_total: bool = False
    """It grows with the work done, so it is not comparable between arms that did unequal work."""
    part: str | None = None
    noise_of: tuple[str, ...] = ()
    noise_per: str = ""

    @property
    def formula(self) -> pl.Expr:
        """The metric as an expression over sums; null where it would divide by nothing."""
        total: pl.Expr = reduce(add, map(pl.col, self.of))
        if self.per:
            total = total / pl.when(pl.col(self.per) != 0).then(pl.col(self.per))
        return (total * self.factor if self.factor != 1 else total).alias(self.name)

    @property
    def meaning(self) -> str:
        """What the metric is, in sentences: its formula, and what it leaves out."""
        return _sentence(self.how) + (f" It leaves out {self.leaves_out}." if self.leaves_out else "")

    @property
    def explanation(self) -> str:
        """All there is to say of it: its meaning, what tells it, which way is better."""
        said = [self.meaning, f"Told by {self.source}."]
        if self.better is not Better.NEITHER:
            said.append(f"The {self.better} the better.")
        return " ".join(said)

    def value(self, sums: Mapping[str, float | None]) -> float | None:
        """The metric of one group's sums; None where a sum is not known or it would divide by nothing."""
        added = [sums.get(name) for name in self.of]
        divisor = sums.get(self.per) if self.per else 1
        if not divisor or not added or None in added:
            return None
        total = sum(one for one in added if one is not None)
        if self.per:
            total = total / divisor
        return total * self.factor if self.factor != 1 else total


def _sentence(words: str) -> str:
    """Words as a sentence; names as logs have them (`compaction_finished`) keep their letters."""
    return f"{words if '_' in words.split()[0] else words[0].upper() + words[1:]}."


def _jobs(
    group: Group,
    name: str,
    label: str,
    unit: Unit,
    better: Better,
    of: str | tuple[str, ...],
    per: str = "",
    factor: float = 1.0,
    *,
    how: str = "",
    aliases: tuple[str, ...] = (),
    leaves_out: str = "",
) -> Metric:
    """A metric that jobs tell; without `per` it is a total, whose noise is that of the total per record of work.

    Without `how` it is what its sum adds up.
    """
    how = how or SUMS[str(of)].meaning
    of = (of,) if isinstance(of, str) else of
    noise = (of, per or WORK) if of != (WORK,) else ((), "")
    return Metric(
        name, label, unit, better, group, how, of, per, factor, aliases, leaves_out,
        is_total=not per, noise_of=noise[0], noise_per=noise[1],
    )  # fmt: skip


_LOWER, _HIGHER, _NEITHER = Better.LOWER, Better.HIGHER, Better.NEITHER
_TABLE_BYTES = ("flush_bytes", "compaction_output_bytes")
_NOT_FLUSHES = "flushes and trivial moves"
_UNTIMED = f"compactions of 0 µs; {_NOT_FLUSHES}"

# The rows of the published "Compaction Statistics" table, under its labels, to the letter and in its order (ceph/cbt,
# ceph_rocksdb_log_parser.py): means over compactions, each counting once, and "MB" are MiB. The last row is ours.
_STATISTICS: Final = (
    Metric(
        "log_duration_seconds", "Total OSD Log Duration (seconds)", Unit.SECONDS, _NEITHER, Group.STATISTICS,
        "the latest time stamp minus the earliest, within the time selected; added over daemons", of=(LOG_SECONDS,),
        aliases=("log_duration", "duration"), source="time stamps of the log's lines",
    ),
    _jobs(
        Group.STATISTICS, "compaction_events", "Number of Compaction Events", Unit.COUNT, _NEITHER, "compactions",
        aliases=("compactions",), leaves_out="trivial moves",
    ),
    _jobs(
        Group.STATISTICS, "avg_compaction_seconds", "Avg Compaction Time (seconds)", Unit.SECONDS, _NEITHER,
        "compaction_seconds", "compactions", how="mean over compactions of compaction_time_micros",
        leaves_out=_NOT_FLUSHES,
    ),
    _jobs(
        Group.STATISTICS, "total_compaction_seconds", "Total Compaction Time (seconds)", Unit.SECONDS, _LOWER,
        "compaction_seconds", aliases=("compaction_seconds",), leaves_out=_NOT_FLUSHES,
    ),
    _jobs(
        Group.STATISTICS, "avg_output_size_mib", "Avg Output Size: (MB)", Unit.MIB, _NEITHER, "output_bytes",
        "compactions", 1 / MIB, how="mean over compactions of total_output_size", leaves_out=_NOT_FLUSHES,
    ),
    _jobs(
        Group.STATISTICS, "total_output_size_mib", "Total Output Size: (MB)", Unit.MIB, _LOWER, "output_bytes", "",
        1 / MIB,
        leaves_out=f"{_NOT_FLUSHES}; blob files and the penultimate level's tables where a release writes them apart",
    ),
    _jobs(
        Group.STATISTICS, "total_input_records", "Total Input Records", Unit.RECORDS, _LOWER, "input_records",
        leaves_out=_NOT_FLUSHES,
    ),
    _jobs(
        Group.STATISTICS, "total_output_records", "Total Output Records", Unit.RECORDS, _LOWER, "output_records",
        leaves_out=_NOT_FLUSHES,
    ),
    _jobs(
        Group.STATISTICS, "avg_output_throughput_mib_per_second", "Avg Output Throughput (MB/s)", Unit.MIB_PER_SECOND,
        _NEITHER, "throughputs", "timed_compactions",
        how="mean over compactions of their own MiB written per second; falls too where compactions drop more",
        leaves_out=_UNTIMED,
    ),
    _jobs(
        Group.STATISTICS, "avg_input_records_per_second", "Avg Input Records/second", Unit.RECORDS_PER_SECOND, _HIGHER,
        "input_rates", "timed_compactions", how="mean over compactions of their own records read per second",
        leaves_out=_UNTIMED,
    ),
    _jobs(
        Group.STATISTICS, "avg_output_records_per_second", "Avg Output Records/second", Unit.RECORDS_PER_SECOND,
        _NEITHER, "output_rates", "timed_compactions",
        how="mean over compactions of their own records written per second; falls too where compactions drop more",
        leaves_out=_UNTIMED,
    ),
    _jobs(
        Group.STATISTICS, "avg_output_input_ratio", "Avg Output/Input Ratio", Unit.RATIO, _NEITHER, "ratios",
        "weighed_compactions",
        how="mean over compactions of records written per record read; rises where less is left to drop",
        leaves_out=f"compactions that read no record; {_NOT_FLUSHES}",
    ),
    _jobs(
        Group.STATISTICS, "output_input_ratio_of_sums", "Output/Input Ratio of Sums", Unit.RATIO, _NEITHER,
        "output_records", "input_records",
        how="records written per record read over all compactions: each weighs by its records",
        leaves_out=_NOT_FLUSHES,
    ),
)  # fmt: skip

WRITE_AMPLIFICATION: Final = _jobs(
    Group.AMPLIFICATION, "write_amplification_lsm", "write amplification (LSM)", Unit.RATIO, _LOWER, _TABLE_BYTES,
    "flush_bytes", how="(flush bytes + compaction output bytes) / flush bytes",
    aliases=("write_amp", "write_amplification", "lsm_write_amplification"),
    leaves_out="the WAL, tables written while one is recovered, and trivial moves, which move no bytes",
)  # fmt: skip
OUTPUT_INPUT_RATIO: Final = _STATISTICS[-1]

_AMPLIFICATION: Final = (
    WRITE_AMPLIFICATION,
    Metric(
        "write_amplification_total", "write amplification (total)", Unit.RATIO, _LOWER, Group.AMPLIFICATION,
        "(WAL + flush + compaction bytes) / user bytes, as far as statistics dumps reach; where they do not tell, by"
        " BlueFS's counters and per byte of the WAL; not said below half a GiB of user bytes",
        of=("total_written_bytes",), per="total_user_bytes",
        aliases=("total_write_amp", "total_write_amplification"),
        leaves_out="what was written after the last statistics dump of an open",
        source="statistics dumps, else BlueFS's counters",
    ),
    _jobs(
        Group.AMPLIFICATION, "flush_bytes", "flush bytes", Unit.BYTES, _LOWER, "flush_bytes",
        leaves_out="the WAL, and tables written while one is recovered",
    ),
    _jobs(
        Group.AMPLIFICATION, "compaction_input_bytes", "compaction input bytes", Unit.BYTES, _LOWER,
        "compaction_input_bytes", leaves_out="compactions whose start is not in the log",
    ),
    _jobs(
        Group.AMPLIFICATION, "compaction_output_bytes", "compaction output bytes", Unit.BYTES, _LOWER,
        "compaction_output_bytes", aliases=("compaction_bytes",), leaves_out="trivial moves",
    ),
    _jobs(
        Group.AMPLIFICATION, "table_bytes", "bytes written to tables", Unit.BYTES, _LOWER, _TABLE_BYTES,
        how="flush bytes + compaction output bytes", leaves_out="the WAL",
    ),
)  # fmt: skip

_CLIENTS_COVERED: Final = "where log and counters cover the same time"
_WORK: Final = (
    _jobs(
        Group.WORK, "flushed_records", "records into flushes", Unit.RECORDS, _NEITHER, WORK,
    ),
    Metric(
        "client_writes", "client writes", Unit.COUNT, _NEITHER, Group.WORK, "counter osd.op_w", of=("client_writes",),
        source="perf dumps", is_total=True,
    ),
    Metric(
        "client_write_bytes", "client bytes written", Unit.BYTES, _NEITHER, Group.WORK,
        "counter osd.op_w_in_bytes; omap keys and values are not in it", of=("client_write_bytes",),
        leaves_out="omap keys and values", source="perf dumps", is_total=True,
    ),
    Metric(
        "user_bytes", "bytes users wrote", Unit.BYTES, _NEITHER, Group.WORK,
        "ingest, as far as statistics dumps reach", of=("user_bytes",), source="statistics dumps", is_total=True,
    ),
    _jobs(
        Group.WORK, "flush_bytes_per_record", "flush bytes per record", Unit.BYTES_PER_RECORD, _LOWER, "flush_bytes",
        WORK, how="flush bytes / records into flushes: falls where records die in memory",
    ),
    _jobs(
        Group.WORK, "compaction_bytes_per_record", "compaction bytes per record", Unit.BYTES_PER_RECORD, _LOWER,
        "compaction_output_bytes", WORK, how="compaction output bytes / records into flushes",
    ),
    _jobs(
        Group.WORK, "table_bytes_per_record", "table bytes per record", Unit.BYTES_PER_RECORD, _LOWER, _TABLE_BYTES,
        WORK, how="(flush bytes + compaction output bytes) / records into flushes",
    ),
    _jobs(
        Group.WORK, "flush_survival_share", "records that outlive memory", Unit.SHARE, _LOWER, "flush_output_records",
        WORK, how="records written by flushes / records into flushes",
    ),
    _jobs(
        Group.WORK, "compaction_seconds_per_flushed_gib", "compaction s per GiB flushed", Unit.SECONDS_PER_GIB, _LOWER,
        "compaction_seconds", "flush_bytes", GIB, how="compaction seconds / GiB that flushes wrote",
    ),
    _jobs(
        Group.WORK, "compaction_seconds_per_million_records", "compaction s per M records",
        Unit.SECONDS_PER_MILLION_RECORDS, _LOWER, "compaction_seconds", WORK, 1e6,
        how="compaction seconds / million records into flushes",
    ),
    _jobs(
        Group.WORK, "compaction_busy_share", "compactions running at a time", Unit.RATIO, _LOWER, "compaction_seconds",
        LOG_SECONDS, how="compaction seconds / log duration",
    ),
    _jobs(
        Group.WORK, "output_mib_per_second", "compaction output per second", Unit.MIB_PER_SECOND, _LOWER,
        "output_bytes", LOG_SECONDS, 1 / MIB, how="MiB of total_output_size / seconds of the log",
    ),
    Metric(
        "table_bytes_per_client_byte", "table bytes per client byte", Unit.RATIO, _LOWER, Group.WORK,
        f"(flush bytes + compaction output bytes) / client bytes written, {_CLIENTS_COVERED}",
        of=_TABLE_BYTES, per="covered_client_write_bytes", source="finished jobs of the log, and perf dumps",
        noise_of=_TABLE_BYTES, noise_per=WORK,
    ),
    Metric(
        "table_bytes_per_client_write", "table bytes per client write", Unit.BYTES_PER_OPERATION, _LOWER, Group.WORK,
        f"(flush bytes + compaction output bytes) / client writes, {_CLIENTS_COVERED}",
        of=_TABLE_BYTES, per="covered_client_writes", source="finished jobs of the log, and perf dumps",
        noise_of=_TABLE_BYTES, noise_per=WORK,
    ),
    Metric(
        "metadata_bytes_per_client_byte", "BlueFS bytes per client byte", Unit.RATIO, _LOWER, Group.WORK,
        "BlueFS bytes written to WAL and tables / client bytes written, all by counters",
        of=("bluefs_wal_bytes_written", "bluefs_sst_bytes_written"), per="client_write_bytes", source="perf dumps",
    ),
)  # fmt: skip

_OF_TABLES: Final = "tables that the log says were made and neither deleted nor compacted since"
TOMBSTONE_SHARE: Final = Metric(
    "tombstone_share", "tombstones in tables", Unit.SHARE, _LOWER, Group.TOMBSTONES,
    "tombstones / entries of the tables that live at the log's end", of=("live_tombstones",), per="live_entries",
    leaves_out="tables from before the log", source=_OF_TABLES,
)  # fmt: skip
_TOMBSTONES: Final = (
    TOMBSTONE_SHARE,
    Metric(
        "live_tombstones", "tombstones", Unit.RECORDS, _LOWER, Group.TOMBSTONES,
        "num_deletions of the tables that live at the log's end", of=("live_tombstones",),
        leaves_out="tables from before the log", source=_OF_TABLES, is_total=True,
    ),
)  # fmt: skip

_STALLS: Final = (
    Metric(
        "stall_seconds", "write stalls", Unit.SECONDS, _LOWER, Group.STALLS,
        "seconds for which writes were stalled, up to the last statistics dump of each open", of=("stall_seconds",),
        aliases=("stalls",), leaves_out="what came after the last dump of an open", source="statistics dumps",
        is_total=True,
    ),
    Metric(
        "stall_lines", "stall warnings", Unit.COUNT, _LOWER, Group.STALLS,
        "log lines that say writes are slowed down or stopped, one at each recalculation while that lasts",
        of=("stall_lines",), source="lines of the log",
        is_total=True,
    ),
)  # fmt: skip


def _counter(
    name: str, label: str, unit: Unit, better: Better, how: str, *, is_total: bool = False, leaves_out: str = ""
) -> Metric:
    """A metric that perf dumps tell, added up over daemons."""
    return Metric(
        name, label, unit, better, Group.COUNTERS, how, of=(name,), leaves_out=leaves_out, source="perf dumps",
        is_total=is_total,
    )  # fmt: skip


def _latency(name: str, label: str, counter: str) -> Metric:
    """The mean of one of Ceph's counters of times, which is averaged over daemons: none weighs more for its load."""
    return Metric(
        name, label, Unit.SECONDS, _LOWER, Group.COUNTERS,
        f"mean of counter {counter} over the daemon's life, averaged over daemons", of=(name,), source="perf dumps",
        noise_of=(f"{counter}:sum",), noise_per=f"{counter}:count",
    )  # fmt: skip


LATENCIES: Final = (
    _latency("kv_sync_seconds", "kv sync", "bluestore.kv_sync_lat"),
    _latency("kv_flush_seconds", "kv flush", "bluestore.kv_flush_lat"),
    _latency("kv_commit_seconds", "kv commit", "bluestore.kv_commit_lat"),
    _latency("transaction_submit_seconds", "transaction submit", "bluestore.txc_submit_lat"),
    _latency("transaction_commit_seconds", "transaction commit", "bluestore.txc_commit_lat"),
    _latency("kv_queued_seconds", "transaction queued for kv", "bluestore.state_kv_queued_lat"),
    _latency("rocksdb_get_seconds", "RocksDB get", "rocksdb.get_latency"),
    _latency("rocksdb_submit_seconds", "RocksDB submit", "rocksdb.submit_latency"),
    _latency("rocksdb_submit_sync_seconds", "RocksDB submit sync", "rocksdb.submit_sync_latency"),
    _latency("client_write_seconds", "client write in the OSD", "osd.op_w_latency"),
    _latency("client_read_seconds", "client read in the OSD", "osd.op_r_latency"),
)
_COUNTERS: Final = (
    *LATENCIES,
    _counter(
        "bluefs_wal_bytes_written", "BlueFS bytes to the WAL", Unit.BYTES, _LOWER,
        "counter bluefs.bytes_written_wal", is_total=True,
    ),
    _counter(
        "bluefs_sst_bytes_written", "BlueFS bytes to tables", Unit.BYTES, _LOWER,
        "counter bluefs.bytes_written_sst", is_total=True,
    ),
    _counter(
        "slow_peak_bytes", "most bytes on the slow device", Unit.BYTES, _LOWER, "counter bluefs.max_bytes_slow"
    ),
    _counter("db_used_bytes", "database size", Unit.BYTES, _LOWER, "gauge bluefs.db_used_bytes at the end"),
    Metric(
        "onode_hit_share", "onodes found in cache", Unit.SHARE, _HIGHER, Group.COUNTERS,
        "hits / (hits + misses) of the onode cache", of=("onode_hits",), per="onode_lookups", source="perf dumps",
        noise_of=("bluestore.onode_hits",), noise_per="onode_lookups",
    ),
)  # fmt: skip

METRICS: Final[tuple[Metric, ...]] = (
    *_STATISTICS,
    *_AMPLIFICATION,
    *_WORK,
    *_TOMBSTONES,
    *_STALLS,
    *_COUNTERS,
)
"""All metrics of a whole run, bundle or arm. Those of column families and client jobs are made for what there is."""

LABELS: Final = {metric.name: metric.label for metric in _STATISTICS}


def values_of(sums: Mapping[str, float | None]) -> dict[str, float]:
    """Every metric that these sums tell, by name."""
    return {metric.name: value for metric in METRICS if (value := metric.value(sums)) is not None}


# Of one column family: the same formulas over the sums of its jobs.

_OF_A_FAMILY: Final = {
    "flush_bytes": "flush bytes",
    "compaction_output_bytes": "compaction bytes",
    WRITE_AMPLIFICATION.name: "write amplification",
}


def of_family(kind: str, family: str) -> Metric | None:
    """One metric of a column family, such as `flush_bytes`; None for a kind that is not known."""
    if kind not in _OF_A_FAMILY:
        return None
    whole = next(metric for metric in METRICS if metric.name == kind)
    return replace(
        whole,
        name=f"{kind}.{family}",
        label=_OF_A_FAMILY[kind],
        group=Group.FAMILIES,
        aliases=(),
        part=family,
        noise_of=tuple(f"{name}/{family}" for name in whole.noise_of),
        noise_per=f"{whole.noise_per}/{family}",
    )


def family_values(family: str, sums: Mapping[str, float | None]) -> dict[str, float]:
    """The metrics of one column family that its sums tell, by name."""
    metrics = (metric for kind in _OF_A_FAMILY if (metric := of_family(kind, family)) is not None)
    return {metric.name: value for metric in metrics if (value := metric.value(sums)) is not None}


# Of one client's job, as the load program printed them.

_OF_A_CLIENT: Final = {
    "client_iops": ("IOPS", Unit.IOPS, Better.HIGHER, "operations per second as the load program printed them"),
    "client_bandwidth": ("bandwidth", Unit.BYTES_PER_SECOND, Better.HIGHER, "bytes per second, likewise"),
    "client_latency_mean": (
        "mean latency",
        Unit.SECONDS,
        Better.LOWER,
        "over all operations of parts that ran at once",
    ),
}
PERCENTILE: Final = "client_latency_p"


def of_client(kind: str, job: str) -> Metric | None:
    """One metric of a client's job, such as `client_iops` or `client_latency_p99`; None for an unknown kind."""
    if kind in _OF_A_CLIENT:
        label, unit, better, how = _OF_A_CLIENT[kind]
    elif kind.startswith(PERCENTILE) and kind.removeprefix(PERCENTILE).replace("_", "").isdigit():
        label, unit, better = f"p{kind.removeprefix(PERCENTILE).replace('_', '.')} latency", Unit.SECONDS, Better.LOWER
        how = "as the load program printed it; of parts that ran at once, their largest"
    else:
        return None
    return Metric(f"{kind}.{job}", label, unit, better, Group.CLIENTS, how, source="client results", part=job)


def percentile_name(percent: float) -> str:
    """`client_latency_p99` for 99, `client_latency_p99_9` for 99.9."""
    return f"{PERCENTILE}{percent:g}".replace(".", "_")


def of_part(name: str) -> Metric | None:
    """The metric that a name `KIND.PART` says: of a column family or of a client's job; None where it says none."""
    kind, point, part = name.partition(".")
    return (of_family(kind, part) or of_client(kind, part)) if point else None


def order_of_part(metric: Metric) -> tuple[object, ...]:
    """The place of a part's metric among its kind: families kind by kind, clients job by job."""
    kind = metric.name.partition(".")[0]
    if metric.group is Group.FAMILIES:
        return 0, list(_OF_A_FAMILY).index(kind), metric.part
    if kind in _OF_A_CLIENT:
        return 1, metric.part, list(_OF_A_CLIENT).index(kind), 0.0
    return 1, metric.part, len(_OF_A_CLIENT), float(kind.removeprefix(PERCENTILE).replace("_", "."))


def meaning_of(name: str) -> str:
    """What a metric or a sum is, in sentences, as reports and the JSON Schemas say it. Raises KeyError for others."""
    metric = metric_named(name)
    return metric.meaning if metric is not None else _sentence(SUMS[name].meaning)


def metric_named(name: str) -> Metric | None:
    """The metric of a name or alias, also of a part (`write_amp.p-0`); None where there is none."""
    kind, point, part = name.partition(".")
    found = next((metric for metric in METRICS if kind == metric.name or kind in metric.aliases), None)
    return of_part(f"{found.name if found else kind}.{part}") if point else found
