"""The tables of one run, cells as people read them: all reports for people print these."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.counters.counter_intervals import CounterInterval
from lsmlens.analyzer.measures.amplification import FamilyWrites, LevelWrites
from lsmlens.analyzer.measures.compaction_statistics import CompactionStatistics
from lsmlens.analyzer.measures.flushes import FlushView
from lsmlens.analyzer.measures.pressure import FamilyPressure
from lsmlens.analyzer.measures.tombstones import Iteration, LevelTombstones
from lsmlens.analyzer.metrics import LABELS
from lsmlens.analyzer.numbers import bytes_of, duration, file_name, mib, percent, plain, ratio, setting, time_of
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH
from lsmlens.analyzer.units import MIB, MICROS
from lsmlens.reports.document import Tone
from lsmlens.reports.moments import moment_of_micros
from lsmlens.reports.tables import Column, Importance, Table, tabulate
from lsmlens.reports.timeline import BINS_PER_WINDOW, Timeline

if TYPE_CHECKING:
    from lsmlens.analyzer.clients.client_series import ClientSeries
    from lsmlens.analyzer.clients.fio_logs import Measure
    from lsmlens.analyzer.measures.blame import Blame, OsdBlame
    from lsmlens.analyzer.measures.coincidences import Overlap
    from lsmlens.analyzer.options.options_in_force import OptionInForce

USUAL, MINOR = Importance.USUAL, Importance.MINOR
NOTHING = "·"

ColumnT = TypeVar("ColumnT")

_PARTS = {"completion latency", "submission latency"}

_DURING = ("flushes", "compactions", "stalls")


def statistics_columns(analysis: Analysis) -> list[tuple[str, CompactionStatistics]]:
    """The columns of the published table: the runs, and their total unless it would only repeat one of them."""
    columns = [(one.run.name, one.statistics) for one in analysis.runs]
    if analysis.total_statistics is not None and len(analysis.counted_in_total) > 1:
        whole = len(analysis.counted_in_total) == len(analysis.runs)
        columns.append(("total" if whole else "total (no mon)", analysis.total_statistics))
    return columns


def statistics(columns: Sequence[tuple[str, CompactionStatistics]], is_ceph: bool = True) -> Table:
    """The published "Compaction Statistics" table; its labels speak of OSDs, of which other programs have none."""
    labels = {name: label if is_ceph else label.replace(" OSD ", " ") for name, label in LABELS.items()}
    rows = [(label, *(plain(getattr(column, name)) for _, column in columns)) for name, label in labels.items()]
    return Table(("", *(name for name, _ in columns)), tuple(rows))


def statistics_by_run(analysis: Analysis) -> Table:
    """The same figures for many runs, one row each."""
    return tabulate(_BY_RUN, analysis.runs)


_BY_RUN: tuple[Column[RunAnalysis], ...] = (
    Column("run", lambda one: one.run.name),
    Column("log s", lambda one: plain(one.statistics.log_duration_seconds), importance=USUAL),
    Column("compactions", lambda one: plain(one.statistics.compaction_events)),
    Column("seconds", lambda one: plain(one.statistics.total_compaction_seconds), importance=USUAL),
    Column("output MiB", lambda one: plain(one.statistics.total_output_size_mib)),
    Column("records in", lambda one: plain(one.statistics.total_input_records), importance=MINOR),
    Column("out", lambda one: plain(one.statistics.total_output_records), importance=MINOR),
    Column("out/in", lambda one: ratio(one.statistics.output_input_ratio_of_sums)),
    Column("flush MiB", lambda one: mib(one.total.flush_bytes)),
    Column("LSM WA", lambda one: ratio(one.total.write_amplification)),
)


def families(one: RunAnalysis) -> Table:
    """Writes by column family."""
    return tabulate(_FAMILIES, one.families, replace(one.total, name="total"))


_FAMILIES: tuple[Column[FamilyWrites], ...] = (
    Column("column family", lambda one: named(one.name)),
    Column("flushes", lambda one: plain(one.flushes)),
    Column("flush MiB", lambda one: mib(one.flush_bytes)),
    Column("compactions", lambda one: plain(one.compactions)),
    Column("input MiB", lambda one: mib(one.compaction_input_bytes), importance=USUAL),
    Column("output MiB", lambda one: mib(one.compaction_output_bytes)),
    Column("records in", lambda one: plain(one.input_records), importance=MINOR),
    Column("records out", lambda one: plain(one.output_records), importance=MINOR),
    Column("out/in", lambda one: ratio(one.output_input_ratio), importance=USUAL),
    Column("moves", lambda one: plain(one.trivial_moves), importance=MINOR),
    Column("LSM WA", lambda one: ratio(one.write_amplification)),
)


def pressure(families: Sequence[FamilyPressure]) -> Table:
    """How near column families came to stalls, at their worst and in the mean by time."""
    return tabulate(_PRESSURE, families)


_PRESSURE: tuple[Column[FamilyPressure], ...] = (
    Column("column family", lambda one: named(one.family), tone=lambda one: Tone.WARNING if one.is_notable else None),
    Column("L0 files: most", lambda one: plain(one.level0_files)),
    Column("mean", lambda one: _mean(one.level0_files_mean), importance=USUAL),
    Column("compact at", lambda one: plain(one.compaction_trigger), importance=MINOR),
    Column("slow at", lambda one: plain(one.slowdown_trigger)),
    Column("stop at", lambda one: plain(one.stop_trigger), importance=USUAL),
    Column("full memtables: most", lambda one: plain(one.immutable_memtables)),
    Column("mean", lambda one: _mean(one.immutable_memtables_mean), importance=USUAL),
    Column("of", lambda one: plain(one.memtables)),
    Column("pending: most", lambda one: bytes_of(one.pending_compaction_bytes)),
    Column("mean", lambda one: bytes_of(one.pending_compaction_bytes_mean), importance=USUAL),
)


def _mean(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def levels(one: RunAnalysis) -> Table:
    """Writes by the level written to."""
    return tabulate(_LEVELS, one.levels)


_LEVELS: tuple[Column[LevelWrites], ...] = (
    Column("into level", lambda one: f"L{one.level}"),
    Column("flush MiB", lambda one: mib(one.flush_bytes)),
    Column("compactions", lambda one: plain(one.compactions)),
    Column("seconds", lambda one: f"{one.compaction_seconds:.1f}", importance=USUAL),
    Column("input MiB", lambda one: mib(one.compaction_input_bytes), importance=USUAL),
    Column("output MiB", lambda one: mib(one.compaction_output_bytes)),
    Column("records in", lambda one: plain(one.input_records), importance=MINOR),
    Column("records out", lambda one: plain(one.output_records), importance=MINOR),
    Column("out/in", lambda one: ratio(one.output_input_ratio)),
    Column("moves", lambda one: plain(one.trivial_moves), importance=USUAL),
    Column("moved MiB", lambda one: mib(one.trivial_move_bytes), importance=USUAL),
)


def reasons(one: RunAnalysis) -> Table:
    """Why flushes and compactions ran, the most frequent reason of each kind first."""
    import polars as pl
    from lsmlens.analyzer.runs.jobs import MOVE

    counted = (
        one.scan_jobs()
        .filter(pl.col("kind") != MOVE)
        .group_by("kind", pl.col("reason").fill_null("not logged"))
        .agg(jobs=pl.len(), size=pl.col("output_bytes").sum())
        .sort("kind", "jobs", "reason", descending=[True, True, False])
    )
    rows = [(kind, reason, plain(jobs), mib(size or 0)) for kind, reason, jobs, size in counted.collect().rows()]
    return Table(("kind", "reason", "jobs", "written MiB"), tuple(rows), left=(0, 1))


def flushes(one: RunAnalysis) -> Table:
    """What flushes took in, what survived them, and why they were made."""
    return tabulate(_FLUSHES, one.flushes)


_FLUSHES: tuple[Column[FlushView], ...] = (
    Column("column family", lambda one: named(one.name)),
    Column("flushes", lambda one: plain(one.flushes)),
    Column("memtables each", lambda one: _memtables(one.memtables_per_flush), importance=USUAL),
    Column("entries in", lambda one: plain(one.input_entries)),
    Column("deletes in", lambda one: plain(one.input_deletes), importance=USUAL),
    Column("entries out", lambda one: plain(one.output_entries)),
    Column("died in memory", lambda one: percent(one.dropped_share)),
    Column("puts died", lambda one: percent(one.dropped_puts_share), importance=USUAL),
    Column("reasons", lambda one: ", ".join(f"{count} {why}" for why, count in one.reasons.most_common()), left=True),
)


def _memtables(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def blame(found: "Blame") -> Table:
    """Slow operations by the OSD that is at fault."""
    return tabulate(_BLAME, found.osds)


_BLAME: "tuple[Column[OsdBlame], ...]" = (
    Column("at fault", lambda one: f"osd.{one.osd}"),
    Column("host", lambda one: one.host or "-", left=True),
    Column("devices", lambda one: ", ".join(one.devices) or "-", left=True, importance=MINOR),
    Column("slow operations", lambda one: plain(one.operations)),
    Column("longest", lambda one: duration(one.longest_seconds), importance=USUAL),
    Column("told by", lambda one: _told_by(one), left=True, importance=USUAL),
    Column("at", lambda one: ", ".join(sorted(one.stages, key=lambda at: -one.stages[at])[:2]) or "-", left=True),
    Column("compaction", lambda one: one.verdict, left=True),
)


def _told_by(one: "OsdBlame") -> str:
    asked = sorted(one.asked, key=lambda osd: (-one.asked[osd], osd))
    return ", ".join(f"osd.{osd} ({plain(one.asked[osd])})" for osd in asked[:3]) + (" …" if len(asked) > 3 else "")


def tombstones(one: RunAnalysis) -> Table:
    """What listings step over, by family and level."""
    return tabulate(_TOMBSTONES, one.tombstones)


_DUE = {True: "yes", False: "no", None: "-"}
_TOMBSTONES: tuple[Column[LevelTombstones], ...] = (
    Column("column family", lambda one: named(one.family)),
    Column("level", lambda one: f"L{one.level}"),
    Column("tables", lambda one: plain(one.tables), importance=USUAL),
    Column("size", lambda one: bytes_of(one.bytes), importance=USUAL),
    Column("entries", lambda one: plain(one.entries), importance=USUAL),
    Column("tombstones", lambda one: plain(one.tombstones)),
    Column("share", lambda one: percent(one.share)),
    Column("oldest", lambda one: _age(one.oldest_seconds), importance=USUAL),
    Column("median", lambda one: _age(one.median_seconds), importance=MINOR),
    Column("compaction due", lambda one: _DUE[one.is_due]),
    Column("because", lambda one: one.reason, left=True, importance=USUAL),
    Column("marked on deletion", lambda one: plain(one.marked), importance=USUAL),
    Column("perhaps marked", lambda one: plain(one.markable), importance=MINOR),
)


def _age(seconds: float | None) -> str:
    return "-" if seconds is None else duration(max(0.0, seconds))


def iterations(one: RunAnalysis) -> Table:
    """How long omap iterators and listings of collections took."""
    return tabulate(_ITERATIONS, one.iterations)


_ITERATIONS: tuple[Column[Iteration], ...] = (
    Column("iterator", lambda one: one.name),
    Column("times", lambda one: plain(one.times) if one.times else "-"),
    Column("mean", lambda one: time_of(one.mean_seconds)),
    Column("slow lines", lambda one: plain(one.slow_lines)),
    Column("longest", lambda one: _age(one.longest_seconds)),
)


def windows(sums: Sequence[tuple[int, FamilyWrites]]) -> Table:
    """Writes by time window."""
    return tabulate(_WINDOWS, sums)


_WINDOWS: tuple[Column[tuple[int, FamilyWrites]], ...] = (
    Column("from (UTC)", lambda one: moment_of_micros(one[0]) or "-"),
    Column("flushes", lambda one: plain(one[1].flushes)),
    Column("flush MiB", lambda one: mib(one[1].flush_bytes)),
    Column("compactions", lambda one: plain(one[1].compactions)),
    Column("seconds", lambda one: f"{one[1].compaction_seconds:.1f}", importance=USUAL),
    Column("output MiB", lambda one: mib(one[1].compaction_output_bytes)),
    Column("LSM WA", lambda one: ratio(one[1].write_amplification)),
)


def options(one: RunAnalysis) -> Table:
    """Options that differ from the release's defaults, alike families together; without rows where none does."""
    alike: dict[tuple[str, str, str | None, str], list[str]] = {}
    for option in (*one.options, *one.ceph_options):
        if option.differs:
            shown = [value and setting(option.name, value) for value in (option.value, option.default)]
            key = (option.name, shown[0] or "", shown[1], str(option.source))
            alike.setdefault(key, []).append(_owner(option))
    rows = [
        (name, value, default or "-", ", ".join(owners), source)
        for (name, value, default, source), owners in sorted(alike.items())
    ]
    return Table(("option", "value", "default", "of", "read in"), tuple(rows), left=(0, 1, 2, 3, 4))


def _owner(option: "OptionInForce") -> str:
    return option.family if option.family is not None else "all"


def counters(one: RunAnalysis) -> Table | None:
    """The counters that bear on RocksDB; None without perf dumps."""
    summary = one.counters
    if summary is None:
        return None
    kv = _times(summary.kv_sync_seconds, summary.kv_flush_seconds, summary.kv_commit_seconds)
    transactions = _times(summary.transaction_submit_seconds, summary.transaction_commit_seconds)
    rocksdb = _times(summary.rocksdb_get_seconds, summary.rocksdb_submit_seconds, summary.rocksdb_submit_sync_seconds)
    written = _bytes(
        summary.bluefs_wal_bytes_written, summary.bluefs_sst_bytes_written, summary.bluefs_slow_bytes_written
    )
    slow = f"{bytes_of(summary.slow_used_bytes)}, at most {bytes_of(summary.slow_peak_bytes)}"
    rows = (
        ("kv sync / flush / commit", kv),
        ("transaction submit / commit", transactions),
        ("RocksDB get / submit / submit sync", rocksdb),
        ("BlueFS written: WAL / tables / slow device", written),
        ("database on its device", f"{bytes_of(summary.db_used_bytes)} of {bytes_of(summary.db_total_bytes)}"),
        ("spilled to the slow device", slow),
        ("onodes found in cache", percent(summary.onode_hit_share)),
        ("client writes", f"{plain(summary.client_writes)}, {bytes_of(summary.client_write_bytes)}"),
    )
    return Table((f"since the daemon started, {len(one.beside.perf_dumps)} perf dumps", ""), rows)


def counter_intervals(one: RunAnalysis) -> Table | None:
    """The same from each perf dump to the next; None where there are less than two."""
    if len(one.counter_intervals) < 2:
        return None
    lives = one.counter_intervals[-1].life > 1
    until = Column[CounterInterval](
        "up to the perf dump", lambda one: (f"{one.life}: " if lives else "") + file_name(one.until)
    )
    return tabulate((until, *_COUNTER_INTERVALS), one.counter_intervals)


_COUNTER_INTERVALS: tuple[Column[CounterInterval], ...] = (
    Column("kv flush / commit", lambda one: _times(one.counted.kv_flush_seconds, one.counted.kv_commit_seconds)),
    Column("transaction", lambda one: time_of(one.counted.transaction_commit_seconds)),
    Column("RocksDB get", lambda one: time_of(one.counted.rocksdb_get_seconds)),
    Column(
        "WAL / tables written",
        lambda one: _bytes(one.counted.bluefs_wal_bytes_written, one.counted.bluefs_sst_bytes_written),
    ),
    Column("spilled", lambda one: bytes_of(one.counted.slow_used_bytes)),
    Column("onodes hit", lambda one: percent(one.counted.onode_hit_share), importance=USUAL),
    Column("client writes", lambda one: plain(one.counted.client_writes)),
    Column("seconds", lambda one: _range(one.seconds), importance=USUAL),
    Column("writes/s", lambda one: _range(one.per_second(one.counted.client_writes))),
)


def _range(ends: tuple[float, float] | None) -> str:
    return "-" if ends is None else f"{ends[0]:.0f} to {ends[1]:.0f}"


def _times(*seconds: float | None) -> str:
    return " / ".join(map(time_of, seconds))


def _bytes(*counts: float | None) -> str:
    return " / ".join(map(bytes_of, counts))


def named(family: str) -> str:
    """A column family's name, which may be empty."""
    return family or '""'


def client_results(one: RunAnalysis) -> Table | None:
    """What load generators measured; None where none did."""
    rows = [
        (
            file_name(result.source) + ("" if result.is_complete else " (cut)"),
            result.operation or "-",
            plain(result.iops),
            bytes_of(result.bytes_per_second) + "/s" if result.bytes_per_second is not None else "-",
            time_of(result.latency_mean_seconds),
            time_of(result.latency_percentiles_seconds.get(99.0)),
        )
        for result in one.beside.client_results
    ]
    return Table(("client result", "op", "IOPS", "bandwidth", "mean", "p99"), tuple(rows)) if rows else None


def client_series(one: RunAnalysis) -> Table | None:
    """What load generators measured over the time of their run, summed up; None where none tells its course.

    The parts of a latency are left out where there is a whole one.
    """
    measures = {series.measure for series in one.beside.client_series}
    shown = measures - _PARTS if "latency" in measures else measures
    rows = [
        (
            _logs(series),
            series.operation or "-",
            str(series.measure),
            moment_of_micros(series.began_micros) or f"not placed: {series.placement}",
            plain(len(series.ends) * series.step_micros / MICROS),
            *(_measured(series.measure, value) for value in _spread(series.values)),
        )
        for series in one.beside.client_series
        if series.measure in shown
    ]
    header = ("over time", "op", "measure", "from (UTC)", "seconds", "least", "median", "most")
    return Table(header, tuple(rows)) if rows else None


def _logs(series: "ClientSeries") -> str:
    more = f" and {series.logs - 1} more" if series.logs > 1 else ""
    return file_name(series.source) + more + (f" ({series.left_out} lines left out)" if series.left_out else "")


def _spread(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """The least, the median and the largest."""
    if not values:
        return None, None, None
    ordered = sorted(values)
    return ordered[0], ordered[len(ordered) // 2], ordered[-1]


def _measured(measure: "Measure", value: float | None) -> str:
    if value is None:
        return "-"
    if measure.is_latency:
        return time_of(value)
    return plain(round(value, 1)) if measure == "iops" else f"{bytes_of(value)}/s"


def coincidences(one: RunAnalysis) -> Table | None:
    """How often what was slow overlaps flushes, compactions and stalls, against chance; None where nothing was slow."""
    rows: dict[str, list[str]] = {}
    for found in one.coincidences:
        if found.during not in _DURING:
            continue
        row = rows.setdefault(found.what, [_short(found.what), plain(found.overlap.operations), plain(found.moments)])
        row.append(_times_chance(found.overlap) if found.had_any else "none then")
    header = ("times as often as by chance (90 % interval)", "count", "moments")
    return Table((*header, *(f"during {name}" for name in _DURING)), tuple(map(tuple, rows.values()))) if rows else None


def _short(what: str) -> str:
    head, of, source = what.partition(" of ")
    return f"{head}{of}{file_name(source)}"


def _times_chance(overlap: "Overlap") -> str:
    ratio_found, interval = overlap.ratio, overlap.interval
    if ratio_found is None or interval is None:
        return "-"
    high = "any" if interval[1] is None else f"{interval[1]:.1f}"
    return f"{ratio_found:.1f} ({interval[0]:.1f} to {high})"


def stages(one: RunAnalysis) -> Table | None:
    """Where operations kept by the OSD spent their time, by class; None without operations."""
    rows = [
        (
            str(times.operation_class),
            plain(times.operations),
            time_of(times.whole.mean_seconds),
            time_of(times.whole.p95_seconds),
            time_of(times.whole.max_seconds),
            ", ".join(f"{group.group} {percent(group.share)}" for group in times.groups[:4]),
        )
        for times in one.stage_times
        if times.whole is not None
    ]
    header = ("class", "operations", "mean", "p95", "slowest", "time held by")
    return Table(header, tuple(rows), left=(0, 5)) if rows else None


class TimeTables:
    """One run's timeline as tables; a row is a window, named by its start in UTC."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def activity(self) -> Table:
        """Seconds of flushes and of compactions, by column family."""
        seconds: dict[tuple[int, str, str], float] = defaultdict(float)
        for (index, lane, kind), one in self._timeline.activity.items():
            seconds[index // BINS_PER_WINDOW, lane, kind] += one.busy_micros / MICROS
        lanes = self._timeline.families
        cells = {
            (window, lane): f"{seconds[window, lane, FLUSH]:.2f} / {seconds[window, lane, COMPACTION]:.2f}"
            for window, lane, _ in list(seconds)
        }
        return self._by_window([lane or '""' for lane in lanes], lanes, cells)

    def levels(self) -> Table:
        """MiB written into each level."""
        mib: dict[tuple[int, int], float] = defaultdict(float)
        for (index, level), count in self._timeline.level_bytes.items():
            mib[index // BINS_PER_WINDOW, level] += count / MIB
        levels = sorted({level for _, level in mib})
        return self._by_window(
            [f"L{level} MiB" for level in levels], levels, {key: f"{value:.1f}" for key, value in mib.items()}
        )

    def amplification(self) -> Table:
        """Flushes, compactions and write amplification."""
        return windows(self._timeline.windows)

    def latency(self) -> Table:
        """Operations by when they started, then what load programs measured."""
        bins, timeline = self._timeline.bins, self._timeline
        rows = [
            (
                moment_of_micros(bins.start_of(one.bin)) or "-",
                one.operation_class,
                plain(one.operations),
                time_of(one.median_seconds),
                time_of(one.slowest_seconds),
            )
            for one in timeline.operations
        ]
        rows += [
            (
                moment_of_micros(span.since_micros) or "-",
                span.name,
                f"{(span.until_micros - span.since_micros) / MICROS:.1f} s",
                time_of(span.mean_seconds),
                time_of(span.p99_seconds),
            )
            for span in timeline.client_spans
        ]
        header = ("from (UTC)", "of", "operations, or time", "median, or mean", "slowest, or p99")
        return Table(header, tuple(rows), left=(0, 1))

    def kv_thread(self) -> Table:
        """How busy the kv thread was, as its lines have it."""
        rows = [
            (moment_of_micros(since) or "-", f"{(until - since) / MICROS:.1f} s", percent(busy))
            for since, until, busy in sorted(self._timeline.kv_thread)
        ]
        return Table(("from (UTC)", "time", "busy"), tuple(rows))

    def level0(self) -> Table:
        """The most files in level 0, by column family."""
        most: dict[tuple[int, str], int] = defaultdict(int)
        for span in self._timeline.level0:
            for window in range(span.since // BINS_PER_WINDOW, (span.until - 1) // BINS_PER_WINDOW + 1):
                most[window, span.family] = max(most[window, span.family], span.files)
        lanes = sorted({lane for _, lane in most})
        return self._by_window(
            [lane or '""' for lane in lanes], lanes, {key: str(value) for key, value in most.items()}
        )

    def shape(self) -> Table:
        """MiB and files of each level, at the end of each window."""
        held = self._timeline.shape
        levels = sorted({level for (_, level), one in held.items() if one.bytes})
        ends = {index // BINS_PER_WINDOW: index for index, _ in held}
        cells = {
            (window, level): f"{one.bytes / MIB:.1f} / {one.files}"
            for window, index in ends.items()
            for level in levels
            if (one := held[index, level]).bytes
        }
        return self._by_window([f"L{level} MiB / files" for level in levels], levels, cells)

    def memtables(self) -> Table:
        """MiB of memtables flushed, by reason, and the most memtables left waiting."""
        mib: dict[tuple[int, str], float] = defaultdict(float)
        waiting: dict[int, int] = defaultdict(int)
        for (index, reason), one in self._timeline.flushed.items():
            mib[index // BINS_PER_WINDOW, reason] += one.memory_bytes / MIB
        for index, count in self._timeline.waiting_memtables.items():
            waiting[index // BINS_PER_WINDOW] = max(count, waiting[index // BINS_PER_WINDOW])
        reasons = sorted({reason for _, reason in mib})
        cells = {key: f"{value:.1f}" for key, value in mib.items()}
        cells.update({(window, ""): str(count) for window, count in waiting.items()})
        return self._by_window([*(f"{one} MiB" for one in reasons), "most waiting"], [*reasons, ""], cells)

    def _by_window(
        self, titles: Sequence[str], columns: Sequence[ColumnT], cells: Mapping[tuple[int, ColumnT], str]
    ) -> Table:
        """A row for each window that has any cell."""
        bins = self._timeline.bins
        rows = [
            (
                moment_of_micros(bins.start_of(window * BINS_PER_WINDOW)) or "-",
                *(cells.get((window, column), NOTHING) for column in columns),
            )
            for window in sorted({window for window, _ in cells})
        ]
        return Table(("from (UTC)", *titles), tuple(rows))
