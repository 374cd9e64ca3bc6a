"""From paths to a diagnosis: reads everything, measures every run, and asks the rules what to say of each."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lsmlens.analyzer.analysis import Analysis, RunAnalysis, measure
from lsmlens.analyzer.findings import Finding, NotAssessed
from lsmlens.analyzer.measures.amplification import added
from lsmlens.analyzer.measures.compaction_statistics import statistics_of
from lsmlens.analyzer.measures.data_quality import bounded, unseen
from lsmlens.analyzer.plan import plan_of
from lsmlens.analyzer.rules import RULES
from lsmlens.analyzer.runs.reading import MemberSummary, read_runs
from lsmlens.analyzer.runs.run import Run
from lsmlens.analyzer.runs.selection import Selection

if TYPE_CHECKING:
    from lsmlens.analyzer.measures.blame import Blame


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
    measured = tuple(diagnosed(one, undiagnosed, selection) for one in undiagnosed)
    blame = _blame(undiagnosed)
    if len(measured) < 2:
        return Analysis(tuple(members), measured, selection, blame=blame)
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
        blame,
    )


def _blame(runs: Sequence[RunAnalysis]) -> "Blame | None":
    if not any(one.beside.operations or one.beside.cluster or len(one.run.slow_requests) for one in runs):
        return None
    from lsmlens.analyzer.measures.blame import measure_blame

    return measure_blame(runs)


def diagnosed(measured: RunAnalysis, runs: Sequence[RunAnalysis], selection: Selection) -> RunAnalysis:
    """A run with what the rules say of it, beside the others of its bundle."""
    peers = [one for one in runs if one is not measured and not one.run.is_monitor]
    said = [one for rule in RULES for one in rule.check(measured, peers)]
    told = {one.code for one in said}
    titles = {rule.code: rule.title for rule in RULES}
    said += [NotAssessed(code, titles[code], needs) for code, needs in unseen(measured.run) if code not in told]
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
