"""The page of `lsmlens analyze`: verdict and findings first, then time, tables, and how far to trust them."""

from collections.abc import Iterator, Sequence

from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.reports import run_tables
from lsmlens.reports.document import (
    Block,
    ChartBlock,
    Document,
    Figure,
    Figures,
    Paragraphs,
    Section,
    TableBlock,
    Terms,
)
from lsmlens.reports.finding_blocks import finding_blocks
from lsmlens.reports.glossary import ANALYSIS_TERMS
from lsmlens.reports.html.charts import Chart
from lsmlens.reports.html.family_chart import family_chart
from lsmlens.reports.html.run_sections import files, has_jobs, run_sections, time_blocks
from lsmlens.reports.html.waterfall_chart import waterfall_chart
from lsmlens.reports.moments import moment
from lsmlens.reports.numbers import size
from lsmlens.reports.plan_blocks import blocks_of
from lsmlens.reports.time_bins import duration
from lsmlens.reports.timeline import measure_timeline
from lsmlens.reports.verdict import key_figures, sentences

# A run's charts hold some 100 KB, its tables some 20 KB; what is beyond these is in the table of all runs.
RUNS_WITH_CHARTS = 6
RUNS_WITH_SECTIONS = 24


def analysis_page(analysis: Analysis) -> Document:
    """The page of an analysis; the runs with the gravest findings, then those that wrote most, have charts."""
    runs = analysis.runs
    sections = [
        Section("verdict", "Verdict", tuple(_verdict(analysis))),
        Section("findings", "Findings", tuple(_findings(runs))),
    ]
    plan = tuple(blocks_of(runs, RUNS_WITH_CHARTS))
    if plan:
        sections.append(Section("plan", "Plan", plan))
    if len(runs) == 1:
        sections += run_sections(runs[0], analysis.selection, "", charted=True)
    else:
        sections.append(Section("runs", "Runs", tuple(_overview(analysis))))
        sections += _sections_of_runs(analysis)
    sections.append(Section("computed", "How each number is computed", (Terms(ANALYSIS_TERMS),)))
    names = [one.run.name for one in runs]
    more = len(names) - RUNS_WITH_CHARTS
    title = ", ".join(names[:RUNS_WITH_CHARTS]) + (f" and {more} more" if more > 0 else "")
    return Document("RocksDB compaction report", title, tuple(_facts(analysis)), tuple(sections))


def analysis_charts(analysis: Analysis, name: str) -> list[tuple[str, Chart]]:
    """One chart of every run that has it, with the run's name: what a picture shows."""
    found = []
    for number, one in enumerate(analysis.runs):
        waterfall = waterfall_chart(one, f"run-{number}-") if name == "waterfall" else None
        if waterfall is not None:
            found.append((one.run.name, waterfall))
        if not has_jobs(one):
            continue
        timeline = measure_timeline(one, analysis.selection)
        blocks = time_blocks(timeline, f"run-{number}-") if timeline is not None else ()
        charts = (block.drawn() for block in blocks if isinstance(block, ChartBlock))
        found += [(one.run.name, chart) for chart in charts if chart.name == name]
        if name == "families" and one.families:
            found.append((one.run.name, family_chart(one, f"run-{number}-")))
    return found


def _sections_of_runs(analysis: Analysis) -> Iterator[Section]:
    by_weight = sorted(analysis.runs, key=_weight)
    charted = {id(one) for one in by_weight[:RUNS_WITH_CHARTS]}
    told = {id(one) for one in by_weight[:RUNS_WITH_SECTIONS]}
    figured = {id(one) for one in _figured(analysis.runs)}
    for number, one in enumerate(analysis.runs):
        if id(one) not in told:
            continue
        prefix = f"run-{number}-"
        parts = tuple(run_sections(one, analysis.selection, prefix, charted=id(one) in charted))
        blocks: tuple[Block, ...] = (Paragraphs((_about(one),)),)
        if not has_jobs(one):
            blocks += (Paragraphs(("No flush or compaction finished in what was read.",)),)
        elif id(one) not in figured:
            blocks += (Figures(_key_figures(one)),)
        yield Section(f"run-{number}", one.run.name, blocks, parts)


def _weight(one: RunAnalysis) -> tuple[bool, int, int]:
    """What a run is sorted by, the most telling first."""
    gravest = max((finding.severity.rank for finding in one.findings), default=-1)
    return one.run.is_monitor, -gravest, -(one.total.flush_bytes + one.total.compaction_output_bytes)


def _findings(runs: Sequence[RunAnalysis]) -> Iterator[Block]:
    named = [(one.run.name if len(runs) > 1 else "", one) for one in runs]
    return finding_blocks(
        ((name, finding) for name, one in named for finding in one.findings),
        ((name, rule) for name, one in named if not one.run.is_monitor for rule in one.not_assessed),
    )


def _facts(analysis: Analysis) -> Iterator[tuple[str, str]]:
    runs = analysis.runs
    for name, versions in (
        ("Ceph", {one.run.ceph_version for one in runs}),
        ("RocksDB", {one.run.rocksdb_version for one in runs}),
    ):
        known = sorted(version for version in versions if version)
        if known:
            yield name, ", ".join(known)
    times = [time for one in runs if (time := _times(one))]
    if len(runs) == 1 and times:
        yield "Log", times[0]
    members, read = sum(len(one.run.members) for one in runs), sum(one.run.quality.bytes for one in runs)
    yield "Read", f"{files(members)}, {size(read)}"
    wanted = analysis.selection
    chosen = [
        f"since {wanted.since}" if wanted.since else "",
        f"until {wanted.until}" if wanted.until else "",
        f"column family {', '.join(sorted(wanted.column_families))}" if wanted.column_families else "",
        f"output level {wanted.level}" if wanted.level is not None else "",
    ]
    if any(chosen):
        yield "Only jobs", "; ".join(filter(None, chosen))


def _times(one: RunAnalysis) -> str:
    run = one.run
    first, last = (moment(millis, run.utc_offset_seconds) for millis in (run.stamps.first, run.stamps.last))
    if first is None or last is None:
        return ""
    seconds = ((run.stamps.last or 0) - (run.stamps.first or 0)) / 1000
    zone = " UTC" if first.endswith("Z") else " local time"
    begin, end = (text.removesuffix("Z").replace("T", " ")[:19] for text in (first, last))
    return f"{begin} to {end[11:] if begin[:10] == end[:10] else end}{zone} ({duration(seconds)})"


def _about(one: RunAnalysis) -> str:
    run = one.run
    versions = [
        f"{name} {text}" for name, text in (("Ceph", run.ceph_version), ("RocksDB", run.rocksdb_version)) if text
    ]
    kind = ["a monitor's store.db"] if run.is_monitor else []
    return "; ".join(filter(None, [*kind, ", ".join(versions), _times(one)])) + "."


def _figured(runs: Sequence[RunAnalysis]) -> list[RunAnalysis]:
    """The run whose figures stand in the verdict: the only one that is not a monitor's."""
    told = [one for one in runs if not one.run.is_monitor] or list(runs)
    return told if len(told) == 1 else []


def _verdict(analysis: Analysis) -> Iterator[Block]:
    runs = analysis.runs
    figured = _figured(runs)
    for one in figured:
        first, *rest = sentences(one)
        yield Paragraphs((f"{one.run.name}: {first}" if len(runs) > 1 else first, " ".join(rest)), lead=True)
        yield Figures(_key_figures(one))
    if figured:
        return
    told = sorted((one for one in runs if not one.run.is_monitor), key=_weight)
    for one in told[:RUNS_WITH_CHARTS]:
        yield Paragraphs((f"{one.run.name}: {' '.join(sentences(one))}",))
    if len(told) > RUNS_WITH_CHARTS:
        yield Paragraphs((f"{len(told) - RUNS_WITH_CHARTS} more runs are in the table of runs.",))


def _key_figures(one: RunAnalysis) -> tuple[Figure, ...]:
    return tuple(Figure(*figure) for figure in key_figures(one))


def _overview(analysis: Analysis) -> Iterator[Block]:
    yield TableBlock("Compaction statistics by run", run_tables.statistics_by_run(analysis))
    count = len(analysis.runs)
    if count > RUNS_WITH_CHARTS:
        sections = f", and sections for {RUNS_WITH_SECTIONS}" if count > RUNS_WITH_SECTIONS else ""
        text = (
            f"There are charts for {RUNS_WITH_CHARTS} runs{sections}: those with the gravest findings and most bytes."
        )
        yield Paragraphs((text,))
