"""A comparison as CSV in the form of the published tables: a row a metric, a column an arm.

The rows of the "Compaction Statistics" table have its labels, others the names of their metrics. Figures that came from
such a table keep their digits, so a published table comes out as it went in; what is written can be compared again.
"""

import csv
from io import StringIO

from lsmlens.analyzer.comparison.comparison import Comparison, Figure
from lsmlens.analyzer.comparison.observations import Kind
from lsmlens.analyzer.metrics import Group
from lsmlens.reports.tables import as_text


def to_csv(comparison: Comparison) -> str:
    """The table as text; a cell is empty where an arm does not tell."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["metric", *map(as_text, comparison.names)])
    is_table = [all(one.kind is Kind.TABLE for one in arm.observations) for arm in comparison.arms]
    for row in comparison.rows:
        figures = zip(row.figures, is_table, strict=True)
        if all(figure is None or (of_table and figure.printed is None) for figure, of_table in figures):
            continue  # made of other rows of a table
        is_published = row.metric.group is Group.STATISTICS
        writer.writerow([row.metric.label if is_published else row.metric.name, *map(_cell, row.figures)])
    return text.getvalue()


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return ""
    return as_text(figure.printed) if figure.printed is not None else str(figure.value)
