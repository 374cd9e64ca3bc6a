"""A prediction as a terminal report."""

from collections.abc import Iterator

from lsmlens.reports.prediction_report import (
    PredictionReport,
    basis,
    checks_table,
    families_table,
    figures_table,
    hidden_families,
    notes,
)
from lsmlens.reports.sections import indented, lay_out, note_lines


def render(report: PredictionReport, colour: bool = False) -> str:
    """The whole report, ending in a newline; with terminal emphasis where `colour` is set."""
    return lay_out(_parts(report), colour)


def _parts(report: PredictionReport) -> Iterator[tuple[str, list[str]]]:
    yield f"Prediction from {report.source}", indented(basis(report))
    for one, observed in zip(report.prediction.predictions, report.observed, strict=True):
        if one.predicted is None:
            yield f"under {one.name}", ["  no prediction: see below"]
            continue
        yield f"under {one.name}", indented(figures_table(report, one, observed).lines())
        table, hidden = families_table(report, one, observed)
        body = indented(table.lines())
        if hidden:
            body.append(f"  {hidden_families(hidden)}")
        yield f"under {one.name}: bytes by column family, MiB", body
    yield (
        "self-consistency: the fitted workload under the log's own options, against the log",
        indented(checks_table(report).lines()),
    )
    if any(one is not None for one in report.observed):
        yield "how to read this", ["  !  the observed figure lies outside the 90 % interval"]
    said = [line for note in notes(report) for line in note_lines(note)]
    if said:
        yield "quality", said
