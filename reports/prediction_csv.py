"""A prediction as CSV: one row for each figure of each set of options, whole (no column family) and by family."""

import csv
from collections.abc import Iterator
from io import StringIO

from lsmlens.reports.prediction_tables import (
    OF_COMPACTIONS,
    PredictionReport,
    named_bounds,
    named_log,
    named_values,
    unjudged,
)
from lsmlens.reports.tables import as_text
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.predictions.prediction import OptionsPrediction

COLUMNS = ("options", "column_family", "figure", "this_log", "predicted", "low", "high", "observed")


def to_csv(report: PredictionReport) -> str:
    """The rows; a cell is empty where a figure is not known, or the log is too short to judge it."""
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for one, observed in zip(report.prediction.predictions, report.observed, strict=True):
        if one.predicted is None:
            continue
        low, high = named_bounds(one)
        real = observed.named() if observed is not None else {}
        left_open = OF_COMPACTIONS if unjudged(report, one) else frozenset()
        for name, before in named_log(report.prediction).items():
            row = {"options": as_text(one.name), "figure": name, "this_log": before, "observed": real.get(name)}
            if name not in left_open:
                row |= {"predicted": named_values(one)[name], "low": low[name], "high": high[name]}
            writer.writerow(row)
        if not left_open:
            writer.writerows(_families(report, one, observed.families if observed is not None else {}))
    return text.getvalue()


def _families(
    report: PredictionReport, one: OptionsPrediction, observed: dict[str, Figures]
) -> Iterator[dict[str, object]]:
    """Bounds of ratios are not the ratios of bounds, and are left out."""
    for family in one.families:
        low, high = family.predicted.low.named(), family.predicted.high.named()
        real = observed[family.name].named() if family.name in observed else {}
        for name, value in family.predicted.value.named().items():
            is_ratio = name in ("write_amplification", "output_input_ratio_of_sums")
            yield {
                "options": as_text(one.name),
                "column_family": as_text(family.name),
                "figure": name,
                "this_log": report.prediction.anchor.observed[family.name].named()[name],
                "predicted": value,
                "low": None if is_ratio else low[name],
                "high": None if is_ratio else high[name],
                "observed": real.get(name),
            }
