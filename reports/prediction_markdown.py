"""A prediction as Markdown."""

from lsmlens.reports.markdown import Markdown, escaped
from lsmlens.reports.prediction_report import (
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


def render(report: PredictionReport) -> str:
    """The whole report."""
    document = Markdown()
    document.heading(f"Prediction for {report.prediction.anchor.fitted.name}", 1)
    document.items([escaped(text) for text in in_short(report)])
    beyond = [escaped(text) for text in outside(report)]
    if beyond:
        document.heading("Observed outside its interval")
        document.items(beyond)
    if len(report.prediction.predictions) > 1:
        document.table(overview_table(report), "Predicted, for the same work")
    for one, observed in zip(report.prediction.predictions, report.observed, strict=True):
        if one.predicted is None:
            continue
        document.heading(f"Under {one.name}")
        document.table(figures_table(report, one, observed))
        table, hidden = families_table(report, one, observed)
        document.table(table, "Bytes by column family, MiB")
        if hidden:
            document.paragraph(hidden_families(hidden))
    document.heading("Self-consistency")
    document.paragraph("The fitted workload replayed under the log's own options, against the log.")
    document.table(checks_table(report))
    said = [escaped(text) for text in notes(report)]
    if said:
        document.heading("Before you believe it")
        document.items(said)
    document.items([escaped(text) for text in basis(report)])
    return document.text()
