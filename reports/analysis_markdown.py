"""The analysis as Markdown: verdict and findings first, tables after, long ones folded."""

from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.findings import Finding, Severity
from lsmlens.analyzer.plan import Plan
from lsmlens.reports import client_tables, plan_blocks, run_tables
from lsmlens.reports.glossary import ANALYSIS_TERMS
from lsmlens.reports.markdown import COMMENT_CHARACTERS, Markdown, code, escaped
from lsmlens.reports.numbers import plain, size
from lsmlens.reports.tables import Table
from lsmlens.reports.text_life import stall_lines
from lsmlens.reports.verdict import sentences
from lsmlens.reports.waterfall import waterfall_table

SIDE_BY_SIDE = 6
EVIDENCE_SHOWN = 3
MARKS = {Severity.CRITICAL: "🛑 critical", Severity.WARNING: "⚠️ warning", Severity.INFO: "🔵 info"}


def render(analysis: Analysis, limit: int = COMMENT_CHARACTERS) -> str:
    """The report, of at most `limit` characters."""
    page = Markdown()
    runs = analysis.runs
    names = ", ".join(one.run.name for one in runs[:SIDE_BY_SIDE])
    page.heading(f"RocksDB compaction report: {names}{' …' if len(runs) > SIDE_BY_SIDE else ''}")
    for one in runs:
        if not one.run.is_monitor or len(runs) == 1:
            first, *rest = sentences(one)
            name = f"**{escaped(one.run.name)}**: " if len(runs) > 1 else ""
            page.marked(f"{name}**{escaped(first)}** {escaped(' '.join(rest))}")
    _findings(page, analysis)
    for one, plan in plan_blocks.planned(runs, SIDE_BY_SIDE):
        _plan(page, plan, f"{one.run.name}: plan" if len(runs) > 1 else "Plan")
    if len(runs) <= SIDE_BY_SIDE:
        page.table(run_tables.statistics(run_tables.statistics_columns(analysis)), "Compaction Statistics")
        for one in runs:
            _run(page, one, f"{one.run.name}: " if len(runs) > 1 else "")
    else:
        page.table(run_tables.statistics_by_run(analysis), "Compaction Statistics by run")
        for one in runs:
            _notes(page, one, f"{one.run.name}: ")
    with page.details("How each number is computed"):
        page.items([f"**{escaped(term)}**: {escaped(text)}" for term, text in ANALYSIS_TERMS])
    return page.text(limit)


def _findings(page: Markdown, analysis: Analysis) -> None:
    several = len(analysis.runs) > 1
    found = [(one, finding) for one in analysis.runs for finding in one.findings]
    found.sort(key=lambda item: -item[1].severity.rank)
    if found:
        rows = [
            (MARKS[finding.severity], finding.code, finding.title, _where(one, finding, several), finding.value)
            for one, finding in found
        ]
        page.table(
            Table(("severity", "rule", "finding", "where", "found"), tuple(rows), left=(0, 1, 2, 3, 4)), "Findings"
        )
    said: set[tuple[str, str, tuple[str, ...]]] = set()
    for _, finding in found:
        advice = (finding.code, finding.advice, finding.commands)
        if advice not in said:
            said.add(advice)
            with page.details(f"{finding.code} {finding.title}: what it means and what to change"):
                _finding(page, finding)
    lacking = {
        (rule.code, rule.title, rule.needs)
        for one in analysis.runs
        for rule in one.not_assessed
        if not one.run.is_monitor
    }
    if lacking:
        with page.details(f"{len(lacking)} rules that could not be applied"):
            page.table(Table(("rule", "looks for", "needs"), tuple(sorted(lacking)), left=(0, 1, 2)))


def _plan(page: Markdown, plan: Plan, title: str) -> None:
    if plan.changes:
        page.table(plan_blocks.changes_table(plan), title)
    page.items([escaped(text) for text in plan_blocks.left_out(plan)])
    if plan.steps:
        with page.details(f"{title}: how to do it, and the way back"):
            for heading, step_notes, pasted in plan_blocks.steps(plan):
                page.paragraph(f"**{escaped(heading)}**")
                page.items([escaped(text) for text in step_notes])
                if pasted:
                    page.fenced(pasted, "sh")


def _where(one: RunAnalysis, finding: Finding, several: bool) -> str:
    parts = [one.run.name] if several else []
    parts += [finding.column_family or '""'] if finding.column_family is not None else []
    return " ".join(parts) or "whole database"


def _finding(page: Markdown, finding: Finding) -> None:
    page.paragraph(f"{finding.meaning}.")
    page.paragraph(f"Threshold: {finding.threshold} ({finding.threshold_source}). Confidence: {finding.confidence}.")
    places = [
        code(f"{one.source if one.line is None else f'{one.source}:{one.line}'}: {one.text}")
        for one in finding.evidence[:EVIDENCE_SHOWN]
    ]
    page.items([f"evidence: {place}" for place in places])
    if finding.advice:
        page.paragraph(f"Change: {finding.advice}")
    if finding.commands:
        page.fenced(finding.commands, "sh")
    for name, text in (("Risk", finding.risk), ("Check", finding.check)):
        if text:
            page.paragraph(f"{name}: {text}")


def _run(page: Markdown, one: RunAnalysis, prefix: str) -> None:
    if one.families:
        page.table(run_tables.families(one), f"{prefix}by column family")
        with page.details(f"{prefix}by level, and what flushes took in"):
            page.table(run_tables.levels(one), "By level written to")
            page.table(run_tables.reasons(one), "Why flushes and compactions ran")
            if one.flushes:
                page.table(run_tables.flushes(one), "What flushes took in")
    if one.windows:
        with page.details(f"{prefix}by time"):
            page.table(run_tables.windows(one.windows))
    around = [
        (title, table)
        for title, table in (
            ("How near column families came to stalls, at worst and on average", run_tables.pressure(one.pressure)),
            ("Options that differ from the defaults", run_tables.options(one)),
            ("Counters", run_tables.counters(one)),
            ("Counters from each perf dump to the next", run_tables.counter_intervals(one)),
            ("What load programs measured", client_tables.client_results(one)),
            ("What load programs measured over time", client_tables.client_series(one)),
            ("Where operations kept by the OSD spent their time", client_tables.stages(one)),
            ("The slowest operations, stage by stage", waterfall_table(one)),
            ("What was slow while flushes, compactions and stalls ran", client_tables.coincidences(one)),
        )
        if table is not None and table.rows
    ]
    stalls = stall_lines(one)
    if around or stalls:
        with page.details(f"{prefix}stalls, options, counters and clients"):
            page.items([escaped(line) for line in stalls])
            for title, table in around:
                page.table(table, title)
    _notes(page, one, prefix)


def _notes(page: Markdown, one: RunAnalysis, prefix: str) -> None:
    quality = one.run.quality
    about = "about " if quality.lines_are_estimated else ""
    read = (
        f"{prefix}read {about}{plain(quality.lines)} lines ({size(quality.bytes)}),"
        f" {plain(sum(one.run.event_counts.values()))} events, {plain(quality.events_rejected)} rejected"
    )
    page.items([escaped(read), *(f"⚠️ {escaped(f'{prefix}{note}')}" for note in one.notes)])
