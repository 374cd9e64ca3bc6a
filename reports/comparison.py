"""The report of `lsmlens compare`: the verdict and what to know of it, then changes, time, tables and options."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.comparison.comparison import Comparison, MetricRow
from lsmlens.analyzer.comparison.gates import GateResult
from lsmlens.analyzer.comparison.verdicts import Judgement, Verdict
from lsmlens.analyzer.comparison.work import change
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.metrics import Better, Group
from lsmlens.analyzer.numbers import counted
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.reports import comparison_tables as tables
from lsmlens.reports import document as blocks
from lsmlens.reports.document import (
    Block,
    ChartBlock,
    Deferred,
    Detail,
    Details,
    Document,
    Lines,
    Notices,
    Paragraphs,
    Section,
    Statement,
    TableBlock,
    Terms,
    Tone,
    charts,
)
from lsmlens.reports.glossary import ANALYSIS_TERMS, COMPARISON_TERMS
from lsmlens.reports.run_sections import time_blocks
from lsmlens.reports.tables import Table

if TYPE_CHECKING:
    from lsmlens.reports.html.charts import Chart

# Each arm's charts hold about 60 KB of data.
ARMS_WITH_CHARTS = 4
KEY_METRICS = ("write_amplification_lsm", "total_output_size_mib", "total_compaction_seconds", "stall_seconds")
CLIENT_CHARTS = ("client_iops", "client_bandwidth", "client_latency_mean", "client_latency_p99")
ALL_FIGURES = (Group.AMPLIFICATION, Group.WORK, Group.TOMBSTONES, Group.STALLS, Group.COUNTERS)


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """What there is to report: the comparison, and what gates said of it."""

    comparison: Comparison
    gates: tuple[GateResult, ...] = ()


def compose(report: ComparisonReport) -> Document:
    """The report of a comparison."""
    comparison = report.comparison
    names = comparison.names
    terms = (*COMPARISON_TERMS, *_metric_terms(comparison), *ANALYSIS_TERMS)
    statistics = [TableBlock("", tables.statistics(comparison), detail=Detail.BRIEF)]
    sections = (
        Section("verdict", "Verdict", tuple(_verdict(comparison, report.gates))),
        Section("changes", "What changed", tuple(_changes(comparison))),
        Section("statistics", "Compaction statistics", tuple(statistics if comparison.of(Group.STATISTICS) else ())),
        Section("time", "Over time", (Deferred(partial(_over_time, comparison)),)),
        Section("figures", "Write amplification, work, stalls and latencies", tuple(_figures(comparison))),
        Section("families", "Column families", tuple(_families(comparison))),
        Section("clients", "What clients measured", tuple(_clients(comparison))),
        Section("options", "Options and findings that differ", tuple(_differences(comparison))),
        *_arm_sections(comparison),
        Section("data", "The arms and their data", tuple(_data(comparison))),
        Section("computed", "How each number is computed", (Terms(terms),)),
    )
    versions = sorted({arm.versions for arm in comparison.arms if arm.versions})
    facts = [("Baseline", names[0])] + ([("Versions", "; ".join(versions))] if versions else [])
    more = "More: --full (all metrics, column families, options) · -o report.html (charts)"
    return Document("RocksDB comparison", f"{', '.join(names[1:])} against {names[0]}", tuple(facts), sections, more)


def charts_called(comparison: Comparison, name: str) -> "list[tuple[str, Chart]]":
    """One chart of a comparison, or a chart of a run for every arm that has it, with the arm's name."""
    from lsmlens.reports.html import comparison_charts

    makers = {
        "changes": comparison_charts.changes,
        "amplification": comparison_charts.amplification,
        "written": comparison_charts.written,
        "families": comparison_charts.families,
    }
    if name in makers:
        made = makers[name](comparison)
        return [("", made)] if made is not None else []
    sections = zip(_runs(comparison), _arm_sections(comparison), strict=True)
    return [(arm, chart) for (arm, *_), section in sections for chart in charts([section]) if chart.name == name]


def _verdict(comparison: Comparison, gates: Sequence[GateResult]) -> Iterator[Block]:
    failed = tuple(f"Gate failed: {one.reason}." for one in gates if one.is_failed)
    if failed:
        yield Notices(failed, Severity.CRITICAL, Detail.BRIEF)
    for place in range(1, len(comparison.names)):
        yield blocks.VerdictBlock(comparison.names[place], tuple(_statements(comparison, place)))
    yield Paragraphs(tuple(f"{sentence}." for sentence in comparison.sentences), detail=Detail.BRIEF)
    if comparison.notices:
        texts = [
            f"{', '.join(notice.arms)}{': ' if notice.arms else ''}{notice.text}." for notice in comparison.notices
        ]
        yield Notices(tuple(texts), detail=Detail.BRIEF)
    passed = tuple(f"Gate passed: {one.reason}." for one in gates if not one.is_failed)
    if passed:
        yield Paragraphs(passed, detail=Detail.BRIEF)
    rows = [row for name in KEY_METRICS if (row := comparison.row(name)) is not None]
    if rows:
        yield TableBlock("Key figures", _key_figures(comparison, rows), detail=Detail.PAGE)


def _statements(comparison: Comparison, place: int) -> Iterator[Statement]:
    """In how many metrics of the whole database an arm is worse, better, the same, and how many are not judged."""
    counts = tables.counts(comparison, place)
    for verdict, tone in ((Verdict.WORSE, Tone.WORSE), (Verdict.BETTER, Tone.BETTER), (Verdict.SAME, None)):
        if counts[verdict]:
            yield Statement(f"{verdict} in {counted(counts[verdict], 'metric')}", tone)
    judged = counts[Verdict.WORSE] + counts[Verdict.BETTER] + counts[Verdict.SAME]
    if not judged:
        yield Statement("no metric can be judged better or worse", Tone.NEUTRAL)
    elif counts.total() > judged:
        yield Statement(f"{counts.total() - judged} not judged")


def _key_figures(comparison: Comparison, rows: Sequence[MetricRow]) -> Table:
    """Each arm's value of some metrics, the others' with their change and verdict."""
    made = []
    tones: dict[tuple[int, int], str] = {}
    for number, row in enumerate(rows):
        cells = [tables.name_of(row)]
        for place, (figure, judgement) in enumerate(zip(row.figures, row.judgements, strict=True)):
            said = f" ({_said(judgement)})" if judgement is not None else ""
            cells.append(f"{tables.cell(row.metric, figure)}{said}")
            if judgement is not None and judgement.verdict in tables.TONES:
                tones[number, place + 1] = tables.TONES[judgement.verdict]
        made.append(tuple(cells))
    return Table(("", *comparison.names), tuple(made), tones=tones)


def _said(judgement: Judgement) -> str:
    changed = f"{change(judgement.ratio)}, " if judgement.ratio is not None else ""
    return f"{changed}{'noise unknown' if tables.is_noise_unknown(judgement) else judgement.verdict}"


def _changes(comparison: Comparison) -> Iterator[Block]:
    others = list(enumerate(comparison.names))[1:]
    yield Deferred(partial(_changes_chart, comparison))
    for place, name in others:
        shown, everything = (tables.verdicts(comparison, place, everything=one) for one in (False, True))
        if shown.rows:
            caption = f"{name} against {comparison.names[0]}"
            yield TableBlock(caption, shown, tables.hidden(comparison, place), Detail.BRIEF)
        if len(everything.rows) > len(shown.rows):
            reasons = tuple(f"{reason}." for reason in tables.reasons(comparison, place))
            yield Details(
                f"{name}: all {len(everything.rows)} metrics", (TableBlock("", everything), Paragraphs(reasons))
            )


def _changes_chart(comparison: Comparison) -> Iterator[Block]:
    from lsmlens.reports.html import comparison_charts

    chart = comparison_charts.changes(comparison)
    if chart is None:
        return
    note = "Left of the line is less. A dot is the change, its bar the interval: one across the line may be chance."
    every = [
        (name, tables.verdicts(comparison, place, everything=True))
        for place, name in enumerate(comparison.names)
        if place
    ]
    header, rows = every[0][1].header, [(name, *row) for name, table in every for row in table.rows]
    table = Table(("arm", *header[:1], comparison.names[0], "arm's", *header[3:]), tuple(rows), left=(0, 1, 6))
    yield ChartBlock(chart, table, note)


def _over_time(comparison: Comparison) -> Iterator[Block]:
    from lsmlens.reports.html import comparison_charts

    for chart in (comparison_charts.amplification(comparison), comparison_charts.written(comparison)):
        if chart is not None:
            dataset = chart.datasets[chart.name]
            header = ("arm", "to minute", "value")
            rows = tuple(tuple(str(cell) for cell in row) for row in dataset.rows)
            yield ChartBlock(chart, Table(header, rows), "Of the first run of each arm; times are since its log began.")


def _figures(comparison: Comparison) -> Iterator[Block]:
    table = tables.figures(comparison, ALL_FIGURES)
    if table.rows:
        yield TableBlock("", table)


def _families(comparison: Comparison) -> Iterator[Block]:
    table = tables.figures(comparison, (Group.FAMILIES,))
    if table.rows:
        yield Deferred(partial(_families_chart, comparison))
        yield TableBlock("", table, tables.unjudged(comparison, Group.FAMILIES))


def _families_chart(comparison: Comparison) -> Iterator[Block]:
    from lsmlens.reports.html import comparison_charts

    chart = comparison_charts.families(comparison)
    if chart is not None:
        yield ChartBlock(chart, tables.figures(comparison, (Group.FAMILIES,)))


def _clients(comparison: Comparison) -> Iterator[Block]:
    """Matrices of jobs and arms where arms are amounts of a resource; of few arms each metric with its change."""
    for number, found in enumerate(comparison.scalings):
        of = f"{found.metric.part}: {found.metric.label} by {found.resource or 'amount'}"
        chart = partial(_scaling_chart, comparison, number)
        yield ChartBlock(chart, tables.scaling(found), caption=of, detail=Detail.BRIEF)
        yield Paragraphs((f"{found.sentence}.",), detail=Detail.BRIEF)
    yield Deferred(partial(_client_charts, comparison))
    if comparison.scalings:
        for kind, label in tables.client_kinds(comparison).items():
            yield TableBlock(label, tables.client_matrix(comparison, kind=kind))
    elif comparison.of(Group.CLIENTS):
        table = tables.figures(comparison, (Group.CLIENTS,))
        detail = Detail.FULL if comparison.of(Group.STATISTICS) else Detail.BRIEF
        yield TableBlock("", table, tables.unjudged(comparison, Group.CLIENTS), detail)


def _scaling_chart(comparison: Comparison, number: int) -> "Chart":
    from lsmlens.reports.html import comparison_charts

    return comparison_charts.scaling(comparison.scalings[number], number)


def _client_charts(comparison: Comparison) -> Iterator[Block]:
    from lsmlens.reports.html import comparison_charts

    for kind in CLIENT_CHARTS:
        chart = comparison_charts.clients(comparison, kind)
        if chart is not None:
            yield ChartBlock(chart, tables.client_matrix(comparison, kind=kind))


def _differences(comparison: Comparison) -> Iterator[Block]:
    if comparison.options:
        sources = "; ".join(tables.option_sources(comparison))
        yield TableBlock(
            f"{counted(len(comparison.options), 'option')} that differ{'s' if len(comparison.options) == 1 else ''}",
            tables.options(comparison),
            note=sources,
        )
    if comparison.findings:
        yield TableBlock("Findings that not all arms have", tables.findings(comparison))


def _runs(comparison: Comparison) -> Iterator[tuple[str, RunAnalysis, Selection]]:
    """The runs whose time is drawn: of each of the first arms, all of its first bundle that are not monitors'."""
    for arm in comparison.arms[:ARMS_WITH_CHARTS]:
        analysis = next((one.analysis for one in arm.observations if one.analysis is not None), None)
        for one in analysis.runs if analysis is not None else ():
            if analysis is not None and not one.run.is_monitor and (one.total.flushes or one.total.compactions):
                name = arm.name if len(analysis.counted) == 1 else f"{arm.name} {one.run.name}"
                yield name, one, analysis.selection


def _arm_sections(comparison: Comparison) -> Iterator[Section]:
    for number, (name, one, selection) in enumerate(_runs(comparison)):
        drawn = Deferred(partial(time_blocks, one, selection, f"arm-{number}-"))
        yield Section(f"arm-{number}", f"{name} over time", (drawn,) if number < ARMS_WITH_CHARTS else ())


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
            yield Details(f"{arm.name}: {counted(len(notes), 'note')} on its data", (Lines(tuple(notes)),))


def _metric_terms(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """How each metric is computed, each once whatever family or job it is of."""
    told: dict[str, str] = {}
    for row in comparison.rows:
        better = {Better.LOWER: " Less is better.", Better.HIGHER: " More is better.", Better.NEITHER: ""}
        told.setdefault(row.metric.label, f"{row.metric.meaning}{better[row.metric.better]}")
    yield from told.items()
