"""The analysis: what a bundle's runs come to, in frozen values that reports and rules read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl
from lsmlens.analyzer.bundles.companions import Beside, read_companions
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.measures.amplification import (
    FamilyWrites,
    LevelWrites,
    added,
    writes_by_family,
    writes_by_level,
    writes_by_window,
)
from lsmlens.analyzer.measures.compaction_statistics import CompactionStatistics, statistics_of
from lsmlens.analyzer.measures.data_quality import notes
from lsmlens.analyzer.measures.flushes import FlushView, flush_views
from lsmlens.analyzer.measures.life import (
    CrossCheck,
    TotalAmplification,
    counter_intervals_of,
    counters_of,
    cross_check,
    last_life,
    options_of,
    series_of,
    total_amplification,
)
from lsmlens.analyzer.measures.pressure import FamilyPressure, PressureSeries, measure_pressure, measure_pressure_series
from lsmlens.analyzer.measures.tombstones import (
    NO_COLLECTOR,
    Collector,
    Iteration,
    LevelTombstones,
    collector_of,
    live_sums,
    measure_iterations,
    measure_tombstones,
)
from lsmlens.analyzer.metrics import sums_of
from lsmlens.analyzer.runs.reading import MemberSummary
from lsmlens.analyzer.runs.run import Run
from lsmlens.analyzer.runs.selection import Selection

if TYPE_CHECKING:
    from lsmlens.analyzer.clients.stage_times import StageTimes
    from lsmlens.analyzer.counters.counter_intervals import CounterInterval
    from lsmlens.analyzer.counters.counter_summary import CounterSummary
    from lsmlens.analyzer.findings import Finding, NotAssessed
    from lsmlens.analyzer.measures.blame import Blame
    from lsmlens.analyzer.measures.coincidences import Coincidence
    from lsmlens.analyzer.measures.statistics_series import StatisticsSeries
    from lsmlens.analyzer.options.options_in_force import OptionInForce
    from lsmlens.analyzer.plan import Plan

MOST_WINDOWS = 100_000


@dataclass(frozen=True, slots=True)
class RunAnalysis:
    """One run, measured. `families` and `levels` are sorted by name and number; `sums` are of all selected jobs.

    `live_tables` are the sums over the tables that live at the log's end, empty where nothing tells. `counters` sum up
    all perf dumps of the run's lives, `series` its statistics dumps; both None where there are none. `findings` come
    most severe first, and `plan` merges what they would change.
    """

    run: Run
    statistics: CompactionStatistics
    families: tuple[FamilyWrites, ...]
    levels: tuple[LevelWrites, ...]
    total: FamilyWrites
    sums: Mapping[str, float]
    notes: tuple[str, ...]
    flushes: tuple[FlushView, ...] = ()
    windows: tuple[tuple[int, FamilyWrites], ...] = ()
    beside: Beside = field(default_factory=Beside)
    series: "StatisticsSeries | None" = None
    options: "tuple[OptionInForce, ...]" = ()
    ceph_options: "tuple[OptionInForce, ...]" = ()
    counters: "CounterSummary | None" = None
    counter_intervals: "tuple[CounterInterval, ...]" = ()
    cross_check: CrossCheck | None = None
    total_amplification: TotalAmplification | None = None
    stage_times: "tuple[StageTimes, ...]" = ()
    pressure: tuple[FamilyPressure, ...] = ()
    pressure_series: PressureSeries | None = None
    live_tables: Mapping[str, int] = field(default_factory=dict)
    tombstones: tuple[LevelTombstones, ...] = ()
    collector: Collector = NO_COLLECTOR
    iterations: tuple[Iteration, ...] = ()
    coincidences: "tuple[Coincidence, ...]" = ()
    findings: "tuple[Finding, ...]" = ()
    not_assessed: "tuple[NotAssessed, ...]" = ()
    plan: "Plan | None" = None

    @property
    def name(self) -> str:
        """The run's name: the daemon, or the file."""
        return self.run.name

    @property
    def is_monitor(self) -> bool:
        """Whether the database is a monitor's."""
        return self.run.is_monitor

    @property
    def members(self) -> list[str]:
        """The files it was read from, in their order."""
        return self.run.members

    @property
    def ceph_version(self) -> str | None:
        """Ceph's version at the last open."""
        return self.run.ceph_version

    @property
    def rocksdb_version(self) -> str | None:
        """RocksDB's version at the last open."""
        return self.run.rocksdb_version

    @property
    def jobs(self) -> pl.DataFrame:
        """Finished flushes, compactions and moves, whatever was selected; columns as `jobs.Job` declares them."""
        return self.run.jobs

    @property
    def unfinished(self) -> pl.DataFrame:
        """Flushes and compactions that started and never finished; columns as those of `jobs`."""
        return self.run.unfinished

    @property
    def tables(self) -> pl.DataFrame:
        """Table files that were created; columns as `jobs.Table` declares them."""
        return self.run.tables

    @property
    def blob_files(self) -> pl.DataFrame:
        """Blob files that were created; columns as `jobs.BlobFile` declares them."""
        return self.run.blob_files

    @property
    def opens(self) -> pl.DataFrame:
        """The opens of the database; columns as `jobs.Open` declares them."""
        return self.run.opens

    def scan_jobs(self) -> pl.LazyFrame:
        """What `jobs` has; a query over it reads no more than the columns it names, which long logs need."""
        return self.run.scan_jobs()

    def scan_tables(self) -> pl.LazyFrame:
        """What `tables` has, likewise."""
        return self.run.scan_tables()

    @property
    def stalls(self) -> pl.DataFrame:
        """The stall lines that have a time; columns as `jobs.Stall` declares them."""
        return self.run.stalls


@dataclass(frozen=True, slots=True)
class Analysis:
    """All runs of a bundle, and its members whether analysed or not.

    `total_statistics` and `total` add up the runs, without monitors unless there is nothing else; None for a
    single run. `blame` says whose fault slow operations are, where that is a matter of several OSDs.
    """

    members: tuple[MemberSummary, ...]
    runs: tuple[RunAnalysis, ...]
    selection: Selection
    total: FamilyWrites | None = None
    total_statistics: CompactionStatistics | None = None
    counted_in_total: tuple[str, ...] = field(default=())
    blame: "Blame | None" = None

    def run(self, name: str) -> RunAnalysis:
        """The run of that name. Raises InputError, which names those there are, where there is none."""
        for one in self.runs:
            if one.name == name:
                return one
        raise InputError(name, "no such run", f"there are {', '.join(one.name for one in self.runs)}")

    @property
    def counted(self) -> tuple[RunAnalysis, ...]:
        """The runs that stand for the bundle: all but monitors, unless there is nothing else."""
        return tuple(one for one in self.runs if not one.run.is_monitor) or self.runs


def measure(run: Run, selection: Selection, window_seconds: float | None = None) -> RunAnalysis:
    """The statistics of one run's selected jobs. Raises ValueError for a time that is none."""
    wanted = selection.of(run)
    jobs = wanted.of(run.scan_jobs())
    sums: dict[str, float] = sums_of(jobs).collect().row(0, named=True)
    families = writes_by_family(jobs)
    beside = read_companions(run.companions)
    options, ceph_options = options_of(run, beside)
    series = series_of(run)
    courses = measure_pressure_series(run)
    counters = counters_of(run, beside)
    life = last_life(run) if counters is not None else None
    check = cross_check(life, counters) if selection == Selection() else None
    total_with_wal = total_amplification(run, series, counters, check) if selection == Selection() else None
    collector = collector_of(run, ceph_options, beside.config_show)
    return RunAnalysis(
        run,
        statistics_of(sums, wanted.seconds(run)),
        families,
        writes_by_level(jobs),
        added(families),
        sums,
        tuple(notes(run, sums)),
        flush_views(jobs),
        writes_by_window(jobs, window_seconds, MOST_WINDOWS) if window_seconds else (),
        beside=beside,
        series=series,
        total_amplification=total_with_wal,
        options=options,
        ceph_options=ceph_options,
        counters=counters,
        counter_intervals=counter_intervals_of(run, beside, life),
        cross_check=check,
        stage_times=_stage_times(beside),
        pressure=measure_pressure(courses, options, series),
        pressure_series=courses,
        live_tables=live_sums(run),
        tombstones=measure_tombstones(run, options, collector),
        collector=collector,
        iterations=measure_iterations(run, beside),
        coincidences=_coincidences(run, beside),
    )


def _stage_times(beside: Beside) -> "tuple[StageTimes, ...]":
    if not beside.operations:
        return ()
    from lsmlens.analyzer.clients.stage_times import measure_stages

    return measure_stages(beside.operations)


def _coincidences(run: Run, beside: Beside) -> "tuple[Coincidence, ...]":
    if not (beside.operations or beside.client_series or run.slow_operations):
        return ()
    from lsmlens.analyzer.measures.coincidences import measure_coincidences

    return measure_coincidences(run, beside)
