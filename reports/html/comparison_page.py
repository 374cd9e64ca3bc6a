"""The page of `lsmlens compare`: what to know first, the verdict, then changes, arms over time, tables and options."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.comparison.comparison import Comparison, Row
from lsmlens.analyzer.comparison.verdicts import Judgement, Verdict
from lsmlens.analyzer.comparison.work import change
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.metrics import Better, Group
from lsmlens.analyzer.selection import Selection
from lsmlens.reports import comparison_tables as tables
from lsmlens.reports.document import (
    Block,
    ChartBlock,
    Details,
    Document,
    Lines,
    Notices,
    Paragraphs,
    Section,
    TableBlock,
    Terms,
)
from lsmlens.reports.glossary import ANALYSIS_TERMS, COMPARISON_TERMS
from lsmlens.reports.html import comparison_charts as charts
from lsmlens.reports.html.charts import Chart
from lsmlens.reports.outputs import ComparisonReport
from lsmlens.reports.run_sections import time_blocks
from lsmlens.reports.tables import Table

# Each arm's charts hold about 60 KB of data.
ARMS_WITH_CHARTS = 4
KEY_METRICS = ("write_amplification_lsm", "total_output_size_mib", "total_compaction_seconds", "stall_seconds")
CLIENT_CHARTS = ("client_iops", "client_bandwidth", "client_latency_mean", "client_latency_p99")
TONES = {Verdict.BETTER: "better", Verdict.WORSE: "worse"}


def comparison_page(report: ComparisonReport) -> Document:
    """The page of a comparison."""
    comparison = report.comparison
    names = comparison.names
    sections = [Section("verdict", "Verdict", tuple(_verdict(report)))]
    changed = tuple(_changes(comparison))
    sections.append(Section("changes", "What changed", changed))
    if comparison.of(Group.STATISTICS):
        table = TableBlock('The published "Compaction Statistics" table', tables.statistics(comparison))
        sections.append(Section("statistics", "Compaction statistics", (table,)))
    for anchor, title, blocks in (
        ("time", "Over time", _over_time(comparison)),
        ("figures", "Write amplification, work, stalls and latencies", _figures(comparison)),
        ("families", "Column families", _families(comparison)),
        ("clients", "What clients measured", _clients(comparison)),
        ("options", "Options and findings that differ", _differences(comparison)),
    ):
        made = tuple(blocks)
        if made:
            sections.append(Section(anchor, title, made))
    sections += _arm_sections(comparison)
    sections.append(Section("data", "The arms and their data", tuple(_data(comparison))))
    terms = (*COMPARISON_TERMS, *_metric_terms(comparison), *ANALYSIS_TERMS)
    sections.append(Section("computed", "How each number is computed", (Terms(terms),)))
    versions = sorted({arm.versions for arm in comparison.arms if arm.versions})
    facts = [("Baseline", names[0])] + ([("Versions", "; ".join(versions))] if versions else [])
    return Document("RocksDB comparison", f"{', '.join(names[1:])} against {names[0]}", tuple(facts), tuple(sections))


def comparison_charts(comparison: Comparison, name: str) -> list[tuple[str, Chart]]:
    """One chart of a comparison, or a chart of a run for every arm that has it, with the arm's name."""
    makers = {"changes": charts.changes, "amplification": charts.amplification, "written": charts.written}
    makers["families"] = charts.families
    if name in makers:
        made = makers[name](comparison)
        return [("", made)] if made is not None else []
    found = []
    for number, (arm, one, selection) in enumerate(_runs(comparison)):
        blocks = time_blocks(one, selection, f"arm-{number}-")
        drawn = (block.drawn() for block in blocks)
        found += [(arm, chart) for chart in drawn if chart.name == name]
    return found


def _verdict(report: ComparisonReport) -> Iterator[Block]:
    comparison = report.comparison
    failed = tuple(f"Gate failed: {one.reason}." for one in report.gates if one.is_failed)
    if failed:
        yield Notices(failed, Severity.CRITICAL)
    if comparison.notices:
        texts = [
            f"{', '.join(notice.arms)}{': ' if notice.arms else ''}{notice.text}." for notice in comparison.notices
        ]
        yield Notices(tuple(texts))
    passed = [f"Gate passed: {one.reason}." for one in report.gates if not one.is_failed]
    yield Paragraphs(tuple(f"{sentence}." for sentence in comparison.sentences))
    if passed:
        yield Paragraphs(tuple(passed))
    rows = [row for name in KEY_METRICS if (row := comparison.row(name)) is not None]
    if rows:
        yield _key_figures(comparison, rows)


def _key_figures(comparison: Comparison, rows: Sequence[Row]) -> TableBlock:
    """Each arm's value of some metrics, the others' with their change and verdict."""
    made = []
    tones: dict[tuple[int, int], str] = {}
    for number, row in enumerate(rows):
        cells = [tables.name_of(row)]
        for place, (figure, judgement) in enumerate(zip(row.figures, row.judgements, strict=True)):
            said = f" ({_said(judgement)})" if judgement is not None else ""
            cells.append(f"{tables.cell(row.metric, figure)}{said}")
            if judgement is not None and judgement.verdict in TONES:
                tones[number, place + 1] = TONES[judgement.verdict]
        made.append(tuple(cells))
    return TableBlock("Key figures", Table(("", *comparison.names), tuple(made), tones=tones))


def _said(judgement: Judgement) -> str:
    changed = f"{change(judgement.ratio)}, " if judgement.ratio is not None else ""
    return f"{changed}{'noise unknown' if tables.is_noise_unknown(judgement) else judgement.verdict}"


def _changes(comparison: Comparison) -> Iterator[Block]:
    chart = charts.changes(comparison)
    others = list(enumerate(comparison.names))[1:]
    every = [(place, name, tables.verdicts(comparison, place, everything=True)) for place, name in others]
    if chart is not None:
        note = "Left of the line is less. A dot is the change, its bar the interval: one across the line may be chance."
        header, rows = every[0][2].header, [(name, *row) for _, name, table in every for row in table.rows]
        table = Table(("arm", *header[:1], comparison.names[0], "arm's", *header[3:]), tuple(rows), left=(0, 1, 6))
        yield ChartBlock(chart, table, note)
    for place, name, everything in every:
        shown = tables.verdicts(comparison, place)
        if shown.rows:
            hidden = tables.hidden(comparison, place).partition(";")[0]  # what follows is of the terminal
            yield TableBlock(f"{name} against {comparison.names[0]}", _toned(shown), hidden)
        else:
            yield Paragraphs((f"{name}: no metric can be judged better or worse.",))
        if len(everything.rows) > len(shown.rows):
            reasons = tuple(f"{reason}." for reason in tables.reasons(comparison, place))
            blocks: tuple[Block, ...] = (
                TableBlock(f"All metrics of {name}", _toned(everything)),
                Paragraphs(reasons),
            )
            yield Details(f"{name}: all {len(everything.rows)} metrics", blocks)


def _toned(table: Table) -> Table:
    """Verdicts in colour, which repeats their words."""
    last = len(table.header) - 1
    tones = {(place, last): TONES[Verdict(row[last])] for place, row in enumerate(table.rows) if row[last] in TONES}
    return replace(table, tones=tones)


def _over_time(comparison: Comparison) -> Iterator[Block]:
    for chart in (charts.amplification(comparison), charts.written(comparison)):
        if chart is not None:
            dataset = chart.datasets[chart.name]
            header = ("arm", "to minute", "value")
            rows = tuple(tuple(str(cell) for cell in row) for row in dataset.rows)
            yield ChartBlock(chart, Table(header, rows), "Of the first run of each arm; times are since its log began.")


def _figures(comparison: Comparison) -> Iterator[Block]:
    table = tables.figures(comparison, (Group.AMPLIFICATION, Group.WORK, Group.STALLS, Group.COUNTERS))
    if table.rows:
        yield TableBlock("All arms", table)


def _families(comparison: Comparison) -> Iterator[Block]:
    chart, table = charts.families(comparison), tables.figures(comparison, (Group.FAMILIES,))
    if chart is not None and table.rows:
        yield ChartBlock(chart, table)


def _clients(comparison: Comparison) -> Iterator[Block]:
    for number, found in enumerate(comparison.scalings):
        yield ChartBlock(charts.scaling(found, number), tables.scaling(found), f"{found.sentence}.")
    for kind in CLIENT_CHARTS:
        chart = charts.clients(comparison, kind)
        if chart is not None:
            yield ChartBlock(chart, tables.client_matrix(comparison, kind=kind))
    if comparison.of(Group.CLIENTS):
        yield TableBlock("All that clients measured", tables.figures(comparison, (Group.CLIENTS,)))


def _differences(comparison: Comparison) -> Iterator[Block]:
    if comparison.options:
        sources = "; ".join(tables.option_sources(comparison))
        yield TableBlock("Options that differ, and only those", tables.options(comparison), note=sources)
    if comparison.findings:
        yield TableBlock("Findings that not all arms have", tables.findings(comparison))


def _runs(comparison: Comparison) -> Iterator[tuple[str, RunAnalysis, Selection]]:
    """The runs whose time is drawn: of each of the first arms, all of its first bundle that are not monitors'."""
    for arm in comparison.arms[:ARMS_WITH_CHARTS]:
        analysis = next((one.analysis for one in arm.observations if one.analysis is not None), None)
        for one in analysis.runs if analysis is not None else ():
            if not one.run.is_monitor and (one.total.flushes or one.total.compactions):
                yield (
                    arm.name if analysis and len(analysis.counted) == 1 else f"{arm.name} {one.run.name}",
                    one,
                    (analysis.selection if analysis else Selection()),
                )


def _arm_sections(comparison: Comparison) -> Iterator[Section]:
    for number, (name, one, selection) in enumerate(_runs(comparison)):
        blocks = tuple(time_blocks(one, selection, f"arm-{number}-")) if number < ARMS_WITH_CHARTS else ()
        if blocks:
            yield Section(f"arm-{number}", f"{name} over time", blocks)


def _data(comparison: Comparison) -> Iterator[Block]:
    rows = [
        (arm.name, str(one.kind), one.versions or "-", ", ".join(one.runs) or "-", one.path)
        for arm in comparison.arms
        for one in arm.observations
    ]
    header = ("arm", "form", "versions", "daemons", "path")
    yield TableBlock("What was read", Table(header, tuple(rows), left=(0, 1, 2, 3, 4)))
    for arm in comparison.arms:
        notes = list(dict.fromkeys(note for one in arm.observations for note in one.notes))
        if notes:
            yield Details(f"{arm.name}: {len(notes)} notes on its data", (Lines(tuple(notes)),))


def _metric_terms(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """How each metric is computed, each once whatever family or job it is of."""
    told: dict[str, str] = {}
    for row in comparison.rows:
        better = {Better.LOWER: "less is better", Better.HIGHER: "more is better", Better.NEITHER: "neither is better"}
        how = f"{row.metric.how[0].upper()}{row.metric.how[1:]}; {better[row.metric.better]}." if row.metric.how else ""
        told.setdefault(row.metric.label, how)
    yield from ((label, how) for label, how in told.items() if how)
