"""The analysis: what a bundle's runs come to, in frozen values that reports and rules read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lsmlens.analyzer.amplification import (
    FamilyWrites,
    LevelWrites,
    added,
    writes_by_family,
    writes_by_level,
    writes_by_window,
)
from lsmlens.analyzer.compaction_statistics import CompactionStatistics, statistics_of
from lsmlens.analyzer.companions import Beside, read_companions
from lsmlens.analyzer.data_quality import bounded, notes
from lsmlens.analyzer.flushes import FlushView, flush_views
from lsmlens.analyzer.life import (
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
from lsmlens.analyzer.metrics import sums_of
from lsmlens.analyzer.pressure import FamilyPressure, measure_pressure
from lsmlens.analyzer.pressure_series import PressureSeries, measure_pressure_series
from lsmlens.analyzer.reading import MemberSummary, read_runs
from lsmlens.analyzer.run import Run
from lsmlens.analyzer.selection import Selection

if TYPE_CHECKING:
    from lsmlens.analyzer.clients.stage_times import StageTimes
    from lsmlens.analyzer.coincidences import Coincidence
    from lsmlens.analyzer.counters.counter_intervals import CounterInterval
    from lsmlens.analyzer.counters.counter_summary import CounterSummary
    from lsmlens.analyzer.findings import Finding, NotAssessed
    from lsmlens.analyzer.options.options_in_force import OptionInForce
    from lsmlens.analyzer.plan import Plan
    from lsmlens.analyzer.statistics_series import StatisticsSeries

MOST_WINDOWS = 100_000


@dataclass(frozen=True, slots=True)
class RunAnalysis:
    """One run, measured. `families` and `levels` are sorted by name and number; `sums` are of all selected jobs.

    `counters` sum up all perf dumps of the run's lives, `series` its statistics dumps; both None where there are
    none. `findings` come most severe first, and `plan` merges what they would change.
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
    coincidences: "tuple[Coincidence, ...]" = ()
    findings: "tuple[Finding, ...]" = ()
    not_assessed: "tuple[NotAssessed, ...]" = ()
    plan: "Plan | None" = None


@dataclass(frozen=True, slots=True)
class Analysis:
    """All runs of a bundle, and its members whether analysed or not.

    `total_statistics` and `total` add up the runs, without monitors unless there is nothing else; None for a
    single run.
    """

    members: tuple[MemberSummary, ...]
    runs: tuple[RunAnalysis, ...]
    selection: Selection
    total: FamilyWrites | None = None
    total_statistics: CompactionStatistics | None = None
    counted_in_total: tuple[str, ...] = field(default=())

    @property
    def counted(self) -> tuple[RunAnalysis, ...]:
        """The runs that stand for the bundle: all but monitors, unless there is nothing else."""
        return tuple(one for one in self.runs if not one.run.is_monitor) or self.runs


def analyze(
    paths: Sequence[str],
    selection: Selection | None = None,
    window_seconds: float | None = None,
    on_progress: Callable[[str, int], None] | None = None,
) -> Analysis:
    """Read everything under `paths` and measure it.

    `window_seconds` asks for sums by time window. `on_progress` is told the member being read and the bytes read
    since last told. Raises InputError for a path that does not exist and where nothing could be read, ValueError
    for a time in `selection` that is none.
    """
    members, runs = read_runs(paths, on_progress)
    return analyze_runs(members, runs, selection, window_seconds)


def analyze_runs(
    members: Sequence[MemberSummary],
    runs: Sequence[Run],
    selection: Selection | None = None,
    window_seconds: float | None = None,
) -> Analysis:
    """Measure and diagnose runs that were read. Raises ValueError for a time in `selection` that is none."""
    selection = selection or Selection()
    undiagnosed = [measure(run, selection, window_seconds) for run in runs]
    measured = tuple(_diagnosed(one, undiagnosed, selection) for one in undiagnosed)
    if len(measured) < 2:
        return Analysis(tuple(members), measured, selection)
    counted = Analysis(tuple(members), measured, selection).counted
    sums = {name: sum(one.sums[name] for one in counted) for name in counted[0].sums}
    durations = [one.statistics.log_duration_seconds or 0.0 for one in counted]
    return Analysis(
        tuple(members),
        measured,
        selection,
        added(one.total for one in counted),
        statistics_of(sums, sum(durations)),
        tuple(one.run.name for one in counted),
    )


def measure(run: Run, selection: Selection, window_seconds: float | None = None) -> RunAnalysis:
    """The statistics of one run's selected jobs. Raises ValueError for a time that is none."""
    wanted = selection.of(run)
    jobs = wanted.of(run.jobs)
    sums: dict[str, float] = sums_of(jobs).row(0, named=True)
    families = writes_by_family(jobs)
    beside = read_companions(run.companions)
    options, ceph_options = options_of(run, beside)
    series = series_of(run)
    courses = measure_pressure_series(run)
    counters = counters_of(run, beside)
    life = last_life(run) if counters is not None else None
    check = cross_check(life, counters) if selection == Selection() else None
    total_with_wal = total_amplification(run, series, counters, check) if selection == Selection() else None
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
    from lsmlens.analyzer.coincidences import measure_coincidences

    return measure_coincidences(run, beside)


def _diagnosed(measured: RunAnalysis, runs: Sequence[RunAnalysis], selection: Selection) -> RunAnalysis:
    from lsmlens.analyzer.findings import Finding
    from lsmlens.analyzer.plan import plan_of
    from lsmlens.analyzer.rules import RULES

    peers = [one for one in runs if one is not measured and not one.run.is_monitor]
    said = [one for rule in RULES for one in rule.check(measured, peers)]
    wanted = selection.column_families
    found = [
        bounded(one, measured.run)
        for one in said
        if isinstance(one, Finding) and (not wanted or one.column_family is None or one.column_family in wanted)
    ]
    findings = sorted(found, key=lambda one: -one.severity.rank)
    return replace(
        measured,
        findings=tuple(findings),
        not_assessed=tuple(one for one in said if not isinstance(one, Finding)),
        plan=plan_of(measured, findings),
    )
