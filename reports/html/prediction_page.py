"""The HTML report of a prediction."""

from collections.abc import Iterator
from dataclasses import replace

from lsmlens.reports.document import (
    Block,
    ChartBlock,
    Document,
    Figure,
    Figures,
    Notices,
    Paragraphs,
    Section,
    TableBlock,
    Terms,
)
from lsmlens.reports.html.prediction_charts import families_charts, figures_chart
from lsmlens.reports.prediction_report import (
    Observed,
    PredictionReport,
    basis,
    checks_table,
    families_table,
    figures_table,
    hidden_families,
    in_short,
    notes,
    outside,
    overview_table,
)
from lsmlens.reports.tables import Table
from lsmlens.tuners.predictions.prediction import OptionsPrediction

OUTSIDE = "!"
TERMS = (
    (
        "predicted",
        "What the log shows of each column family, times the ratio of two replays of the same workload: under these"
        " options and under the log's own. The workload is learned from the log alone.",
    ),
    (
        "90 % interval",
        "By the scatter of the replays, what the log leaves open of the workload, how far the replay under the log's"
        " own options is from the log, and what any such model errs.",
    ),
    ("change", "Predicted over what this log shows, less one."),
    ("error", "Predicted over observed, less one; ! where the observed figure lies outside the interval."),
    ("write amplification (LSM)", "(flushed + compaction output) / flushed."),
    (
        "self-consistency",
        "The fitted workload replayed under the log's own options, against the log. It holds where flushes are within"
        " 5 % and compaction bytes within 15 %.",
    ),
)


def prediction_page(report: PredictionReport) -> Document:
    """The page of a prediction."""
    anchor = report.prediction.anchor
    run = anchor.fitted.evidence.run.run
    charts = {id(one): chart for one, chart in families_charts(report)}
    sections = [Section("short", "In short", tuple(_short(report)))]
    every = zip(report.prediction.predictions, report.observed, strict=True)
    for number, (one, observed) in enumerate(every, 1):
        blocks: tuple[Block, ...] = (Paragraphs(("No prediction: the notes below say why.",)),)
        if one.predicted is not None:
            figures = figures_table(report, one, observed)
            table, hidden = families_table(report, one, observed)
            blocks = (
                TableBlock("For the same work, in the log's own units", replace(figures, tones=_tones(figures))),
                ChartBlock(charts[id(one)], table, hidden_families(hidden), is_open=True),
            )
        sections.append(Section(f"options-{number}", f"Under {one.name}", blocks))
    checks = checks_table(report)
    lines = (
        "The fitted workload replayed under the log's own options, against the log: how well it is understood.",
        "Where it does not hold, that family's intervals are wider.",
    )
    sections.append(
        Section(
            "self-consistency",
            "Self-consistency",
            (
                Paragraphs((" ".join(lines),)),
                TableBlock("Against the log", replace(checks, tones=_checks_tones(checks))),
            ),
        )
    )
    said = tuple(notes(report))
    if said:
        sections.append(Section("notes", "Before you believe it", (Notices(said),)))
    sections.append(
        Section("computed", "How each number is computed", (Paragraphs(tuple(basis(report))), Terms(TERMS)))
    )
    facts = (
        ("Ceph", run.ceph_version or "-"),
        ("RocksDB", run.rocksdb_version or "-"),
        ("replayed in", anchor.engine.version),
    )
    return Document("Prediction", anchor.fitted.name, facts=facts, sections=tuple(sections))


def _short(report: PredictionReport) -> Iterator[Block]:
    yield Paragraphs(tuple(in_short(report)), lead=True)
    beyond = tuple(outside(report))
    if beyond:
        yield Notices(beyond)
    predicted = [
        (one, observed)
        for one, observed in zip(report.prediction.predictions, report.observed, strict=True)
        if one.predicted is not None
    ]
    if len(predicted) == 1:
        yield Figures(tuple(_figures(report, *predicted[0])))
    chart = figures_chart(report)
    if chart is not None:
        note = "The line is the 90 % interval"
        note += "; a diamond is what a real run did." if any(report.observed) else "."
        yield ChartBlock(chart, overview_table(report), note, is_open=len(predicted) > 1)


def _figures(report: PredictionReport, one: OptionsPrediction, observed: Observed | None) -> Iterator[Figure]:
    for row in figures_table(report, one, observed).rows[:4]:
        yield Figure(row[0], row[2], f"{row[3]}; this log {row[1]}, {row[4]}")


def _tones(table: Table) -> dict[tuple[int, int], str]:
    """Marks on errors of figures outside their interval."""
    last = len(table.header) - 1
    return {(row, last): "warning" for row, cells in enumerate(table.rows) if cells[last].endswith(OUTSIDE)}


def _checks_tones(table: Table) -> dict[tuple[int, int], str]:
    last = len(table.header) - 1
    return {(row, last): "warning" for row, cells in enumerate(table.rows) if cells[last] == "NO"}
