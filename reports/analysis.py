"""The report of `lsmlens analyze`: verdict, findings and plan first, then tables, time, and how far to trust them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.numbers import counted, duration, percent, plain, ratio, size
from lsmlens.analyzer.options.option_changes import has_ceph
from lsmlens.reports import run_tables
from lsmlens.reports.document import (
    Block,
    Detail,
    Document,
    FindingBlock,
    KeyFigure,
    KeyFigures,
    Notices,
    Paragraphs,
    Section,
    Statement,
    TableBlock,
    Terms,
    Tone,
    VerdictBlock,
    charts,
)
from lsmlens.reports.finding_blocks import finding_blocks, plan_blocks, plan_lines
from lsmlens.reports.glossary import ANALYSIS_TERMS, METRIC_TERMS
from lsmlens.reports.moments import moment
from lsmlens.reports.run_sections import has_jobs, run_sections

if TYPE_CHECKING:
    from lsmlens.reports.html.charts import Chart

# Of so many runs the published table has a column each, and each its charts: some 100 KB a run in a page.
RUNS_SIDE_BY_SIDE = 6
# More of them are looked over together first: one screen, not one for each (ours).
RUNS_EACH_SHOWN = 8
# A run's tables hold some 20 KB; what is beyond these is in the table of all runs.
RUNS_WITH_SECTIONS = 24

_WORDS = {Severity.CRITICAL: "critical finding", Severity.WARNING: "warning", Severity.INFO: "note"}


@dataclass(frozen=True, slots=True)
class AnalysisReport:
    """What there is to report: the analysis, and from which severity on a finding is a failure, if that was asked."""

    analysis: Analysis
    fail_on: Severity | None = None


def compose(analysis: Analysis) -> Document:
    """The report; of many runs the look over a fleet, and behind it what a report of few has."""
    whole = _of_each(analysis)
    if len(analysis.counted) <= RUNS_EACH_SHOWN:
        return whole
    from lsmlens.analyzer.fleet.overview import overview
    from lsmlens.analyzer.fleet.rows import AnalysedRuns
    from lsmlens.reports.fleet_report import document

    looked_over = document(overview(AnalysedRuns(analysis)))
    first = tuple(replace(one, anchor=f"fleet-{one.anchor}") for one in looked_over.sections)
    problems = [f"{member.path}: {member.problem}." for member in analysis.members if member.problem]
    notices = (Section("problems", "Not read", (Notices(tuple(problems), detail=Detail.BRIEF),)),) if problems else ()
    behind = tuple(_behind(one) for one in whole.sections)
    facts = (*looked_over.facts, *(fact for fact in whole.facts if fact[0] in ("Read", "Only jobs")))
    return replace(whole, facts=facts, sections=(*notices, *first, *behind))


def _behind(section: Section) -> Section:
    """A section whose blocks are shown with all details only."""
    blocks = (replace(one, detail=Detail.FULL) if one.detail is Detail.BRIEF else one for one in section.blocks)
    return replace(section, blocks=tuple(blocks), sections=tuple(map(_behind, section.sections)))


def _of_each(analysis: Analysis) -> Document:
    """The report of each; of many runs those with the gravest findings, then those that wrote most, have sections."""
    runs = analysis.runs
    findings = tuple(_findings(analysis))
    planned = sorted(analysis.counted, key=_weight)[:RUNS_SIDE_BY_SIDE]
    fired = [block for block in findings if isinstance(block, FindingBlock)]
    sections = [
        Section("verdict", "Verdict", tuple(_verdict(analysis))),
        Section("findings", "Findings", (*findings[: len(fired)], *plan_lines(planned), *findings[len(fired) :])),
        Section("plan", "Plan", tuple(plan_blocks(planned))),
        *_blame(analysis),
        Section("statistics", "Compaction statistics", tuple(_statistics(analysis))),
    ]
    if len(runs) == 1:
        sections += run_sections(runs[0], analysis.selection, "", charted=True)
    else:
        sections += _sections_of_runs(analysis)
    sections.append(Section("read", "What was read", (Paragraphs(tuple(_members(analysis))),)))
    sections.append(Section("computed", "How each number is computed", (Terms((*METRIC_TERMS, *ANALYSIS_TERMS)),)))
    names = [one.run.name for one in runs]
    more = len(names) - RUNS_SIDE_BY_SIDE
    title = ", ".join(names[:RUNS_SIDE_BY_SIDE]) + (f" and {more} more" if more > 0 else "")
    return Document("RocksDB compaction report", title, tuple(_facts(analysis)), tuple(sections), _more(fired))


def _more(findings: Sequence[FindingBlock]) -> str:
    explained = f" · lsmlens explain {findings[0].code}" if findings else ""
    return f"More: --full (all tables, evidence, commands){explained} · -o report.html (charts)"


def _facts(analysis: Analysis) -> Iterator[tuple[str, str]]:
    runs = analysis.runs
    for name, versions in (
        ("Ceph", {one.run.ceph_version for one in runs}),
        ("RocksDB", {one.run.rocksdb_version for one in runs}),
    ):
        known = sorted(version for version in versions if version)
        if known:
            yield name, ", ".join(known)
    times = [time for one in analysis.counted if (time := _times(one))]
    if times:
        yield "Log", times[0] + (f" and {len(times) - 1} more" if len(times) > 1 else "")
    members, read = sum(len(one.run.members) for one in runs), sum(one.run.quality.bytes for one in runs)
    yield "Read", f"{counted(members, 'file')}, {size(read)}"
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


def _verdict(analysis: Analysis) -> Iterator[Block]:
    problems = [f"{member.path}: {member.problem}." for member in analysis.members if member.problem]
    if problems:
        yield Notices(tuple(problems), detail=Detail.BRIEF)
    told = sorted(analysis.counted, key=_weight)
    shown = told if len(told) <= RUNS_SIDE_BY_SIDE else told[:RUNS_SIDE_BY_SIDE]
    for one in shown:
        yield VerdictBlock(one.run.name, tuple(_statements(one)))
    if len(told) > len(shown):
        said = f"{len(told) - len(shown)} more runs, with fewer findings or fewer bytes written, are in the table."
        yield Paragraphs((said,), detail=Detail.BRIEF)
    if len(told) == 1:
        yield Paragraphs(tuple(_sentences(told[0])))
        yield KeyFigures(tuple(_key_figures(told[0])))


def _weight(one: RunAnalysis) -> tuple[bool, int, int]:
    """What a run is sorted by, the most telling first."""
    gravest = max((finding.severity.rank for finding in one.findings), default=-1)
    return one.run.is_monitor, -gravest, -(one.total.flush_bytes + one.total.compaction_output_bytes)


def _statements(one: RunAnalysis) -> Iterator[Statement]:
    """The verdict on a run: findings, write amplification, stalls, time in compactions, notes on the data."""
    counts = Counter(finding.severity for finding in one.findings)
    grave = [severity for severity in _WORDS if counts[severity]]
    for severity in grave[:1] if grave == [Severity.INFO] else [one for one in grave if one is not Severity.INFO]:
        yield Statement(counted(counts[severity], _WORDS[severity]), Tone(severity))
    if not grave:
        yield Statement("no finding", Tone.BETTER)
    if not one.run.members:
        yield Statement("no log: what was written and stalls are not known", Tone.WARNING)
        return
    if not has_jobs(one):
        yield Statement("no flush or compaction finished in what was read", Tone.WARNING)
    if one.total.write_amplification is not None:
        yield Statement(f"write amplification {one.total.write_amplification:.2f}")
    yield _stalls(one)
    seconds = one.statistics.log_duration_seconds
    if seconds and one.total.compactions:
        yield Statement(f"compactions {percent(one.statistics.total_compaction_seconds / seconds)} of the time")
    if one.notes:
        yield Statement(f"{counted(len(one.notes), 'note')} on the data")


def _stalls(one: RunAnalysis) -> Statement:
    seconds = one.series.stall_seconds if one.series else None
    kinds: Counter[str] = Counter()
    for (_, kind, _), count in one.run.stall_lines.items():
        kinds[kind] += count
    said = [f"writes {word} in {counted(kinds[kind], 'line')}" for kind, word in _STALLS.items() if kinds[kind]]
    if seconds:
        said.append(f"stalled {duration(seconds)}")
    return Statement(", ".join(said), Tone.WARNING) if said else Statement("no stalls")


_STALLS = {"stop": "stopped", "slowdown": "slowed down"}


def _sentences(one: RunAnalysis) -> Iterator[str]:
    """What was written, and what the log can tell of stalls."""
    total, statistics = one.total, one.statistics
    seconds = statistics.log_duration_seconds
    if total.flushes or total.compactions:
        written = f"Flushes wrote {size(total.flush_bytes)}, compactions {size(total.compaction_output_bytes)}"
        yield f"{written}{f' in {duration(seconds)}' if seconds else ''}."
    if one.run.members and not one.run.stall_lines and (one.series is None or one.series.stall_seconds is None):
        yield "No write stall is in the log; it has no statistics dumps, which would count their seconds."


def _key_figures(one: RunAnalysis) -> Iterator[KeyFigure]:
    """The figures to be seen first."""
    total, statistics = one.total, one.statistics
    seconds, whole = statistics.log_duration_seconds, one.total_amplification
    yield KeyFigure(
        "LSM write amplification",
        ratio(total.write_amplification),
        f"{whole.ratio:.2f} with the WAL, per user byte" if whole else "(flushed + compacted) / flushed",
    )
    yield KeyFigure("Flushed", size(total.flush_bytes), counted(total.flushes, "flush", "flushes"))
    yield KeyFigure(
        "Written by compactions", size(total.compaction_output_bytes), counted(total.compactions, "compaction")
    )
    records_in = f"{plain(statistics.total_input_records)} in"
    yield KeyFigure("Records out per record in", ratio(statistics.output_input_ratio_of_sums), records_in)
    busy = statistics.total_compaction_seconds
    yield KeyFigure(
        "Time in compactions", duration(busy), f"{percent(busy / seconds)} of {duration(seconds)}" if seconds else ""
    )
    lines = sum(one.run.stall_lines.values())
    stalled = one.series.stall_seconds if one.series else None
    value = duration(stalled) if stalled is not None else "-" if lines else "unknown"
    yield KeyFigure("Write stalls", value, f"{counted(lines, 'line')} in the log" if lines else "none in the log")


def _findings(analysis: Analysis) -> Iterator[Block]:
    told = [one for one in analysis.runs if one in analysis.counted or one.findings]
    named = [(one.run.name if len(told) > 1 else "", one) for one in told]
    return finding_blocks(
        ((name, finding) for name, one in named for finding in one.findings),
        ((name, rule) for name, one in named if one in analysis.counted for rule in one.not_assessed),
    )


def _blame(analysis: Analysis) -> Iterator[Section]:
    """Whose fault slow operations are, over several OSDs."""
    blame = analysis.blame
    if blame is not None:
        said = Paragraphs(tuple(blame.sentences), detail=Detail.BRIEF)
        table = TableBlock("Slow operations by the OSD at fault", run_tables.blame(blame))
        yield Section("slow-operations", "Whose fault slow operations are", (said, table))


def _statistics(analysis: Analysis) -> Iterator[Block]:
    """The published table; of many runs their total, and all of them one below the other."""
    if len(analysis.runs) <= RUNS_SIDE_BY_SIDE:
        if any(map(has_jobs, analysis.runs)):
            table = run_tables.statistics(run_tables.statistics_columns(analysis), has_ceph(analysis))
            yield TableBlock("", table, detail=Detail.BRIEF)
    else:
        assert analysis.total_statistics is not None
        column = (f"{len(analysis.counted_in_total)} runs", analysis.total_statistics)
        yield TableBlock("", run_tables.statistics([column], has_ceph(analysis)), detail=Detail.BRIEF)
    if len(analysis.runs) > 1:
        detail = Detail.BRIEF if len(analysis.runs) > RUNS_SIDE_BY_SIDE else Detail.FULL
        yield TableBlock("By run", run_tables.statistics_by_run(analysis), detail=detail)
    count = len(analysis.runs)
    if count > RUNS_SIDE_BY_SIDE:
        sections = f", and sections for {RUNS_WITH_SECTIONS}" if count > RUNS_WITH_SECTIONS else ""
        said = f"There are charts for {RUNS_SIDE_BY_SIDE} runs{sections}: the gravest findings and most bytes first."
        yield Paragraphs((said,), detail=Detail.PAGE)


def _sections_of_runs(analysis: Analysis) -> Iterator[Section]:
    by_weight = sorted(analysis.runs, key=_weight)
    charted = {id(one) for one in by_weight[:RUNS_SIDE_BY_SIDE]}
    told = {id(one) for one in by_weight[:RUNS_WITH_SECTIONS]}
    for number, one in enumerate(analysis.runs):
        if id(one) in told:
            parts = tuple(run_sections(one, analysis.selection, f"run-{number}-", charted=id(one) in charted))
            blocks: tuple[Block, ...] = (Paragraphs((_about(one),)),)
            if len(analysis.counted) > 1:
                blocks += (KeyFigures(tuple(_key_figures(one))),) if has_jobs(one) else ()
            yield Section(f"run-{number}", one.run.name, blocks, parts)


def _about(one: RunAnalysis) -> str:
    kind = ["a monitor's store.db"] if one.run.is_monitor else []
    none = [] if has_jobs(one) else ["no flush or compaction finished in what was read"]
    return "; ".join(filter(None, [*kind, _versions(one), _times(one), *none])) + "."


def _versions(one: RunAnalysis) -> str:
    versions = (("Ceph", one.run.ceph_version), ("RocksDB", one.run.rocksdb_version))
    return ", ".join(f"{name} {text}" for name, text in versions if text)


def _members(analysis: Analysis) -> Iterator[str]:
    for one in analysis.runs:
        kind = " (a monitor's store.db)" if one.run.is_monitor else ""
        files = f"{counted(len(one.run.members), 'file')}, {size(one.run.quality.bytes)}"
        yield f"{one.run.name}{kind}: {_versions(one) or 'version not in the log'}; {files}"
    used = {path for one in analysis.runs for path in (*one.run.members, *one.beside.paths)}
    others = Counter(str(member.role) for member in analysis.members if member.path not in used)
    if others:
        yield "not analysed: " + ", ".join(f"{count} {role}" for role, count in sorted(others.items()))


def charts_called(analysis: Analysis, name: str) -> "list[tuple[str, Chart]]":
    """One chart of every run that has it, with the run's name: what a picture shows."""
    return [
        (one.run.name, chart)
        for number, one in enumerate(analysis.runs)
        for chart in charts(run_sections(one, analysis.selection, f"run-{number}-", charted=True))
        if chart.name == name
    ]
