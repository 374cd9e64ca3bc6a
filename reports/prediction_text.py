"""A prediction as a terminal report."""

from collections.abc import Iterator
from textwrap import wrap

from lsmlens.reports.prediction_report import PredictionReport, checks_table, families_table, figures_table
from lsmlens.reports.sections import lay_out

WIDTH = 118


def render(report: PredictionReport, colour: bool = False) -> str:
    """The whole report, ending in a newline; with terminal emphasis where `colour` is set."""
    return lay_out(_parts(report), colour)


def _parts(report: PredictionReport) -> Iterator[tuple[str, list[str]]]:
    anchor = report.prediction.anchor
    scales = sorted({one.scale for one in anchor.variants})
    yield (
        f"Prediction from {report.source}",
        [
            f"  the same work under other options, in the log's own units; learned from the log alone, replayed in"
            f" RocksDB {anchor.engine.version}",
            f"  {len(anchor.variants)} replays of each set of options, sizes divided by"
            f" {' and '.join(f'{scale:g}' for scale in scales)}; anchored on the log family by family",
        ],
    )
    for one, observed in zip(report.prediction.predictions, report.observed, strict=True):
        if one.predicted is None:
            yield f"under {one.name}", ["  no prediction: see below"]
            continue
        yield f"under {one.name}", _indented(figures_table(report, one, observed).lines())
        table, hidden = families_table(report, one, observed)
        body = _indented(table.lines())
        if hidden:
            body.append(f"  ({hidden} column families with less than 1 % of the bytes are not shown)")
        yield f"under {one.name}: bytes by column family, MiB", body
    yield (
        "self-consistency: the fitted workload under the log's own options, against the log",
        _indented(checks_table(report).lines()),
    )
    if any(one is not None for one in report.observed):
        yield "how to read this", ["  !  the observed figure lies outside the 90 % interval"]
    notes = list(_quality(report))
    if notes:
        yield "quality", notes


def _quality(report: PredictionReport) -> Iterator[str]:
    """Each note once, with the options it is of unless it is of all."""
    notes: dict[str, list[str]] = {}
    for one in report.prediction.predictions:
        for note in one.quality:
            notes.setdefault(note, []).append(one.name)
    for note, names in notes.items():
        whose = "" if len(names) == len(report.prediction.predictions) else f"{', '.join(names)}: "
        yield from wrap(
            f"! {whose}{note}", WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False
        )


def _indented(lines: list[str]) -> list[str]:
    return ["  " + line for line in lines]
