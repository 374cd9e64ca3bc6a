"""Charts as pages and pictures take them: a Vega-Lite specification, and apart from it the data.

Data is apart so that a page holds it once, as columns' names and rows, however many charts show it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import altair as alt
from lsmlens.analyzer.printable import printable
from lsmlens.reports.html.palette import css

Value = str | int | float | None
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"
LABEL_PIXELS = 84  # what stands left of the axis, alike in all charts so that their times stand below each other

CONFIG: dict[str, Any] = {
    "background": None,
    "font": FONT,
    "aria": False,
    "padding": {"left": 0, "right": 8, "top": 4, "bottom": 0},
    "view": {"stroke": None},
    "axis": {
        "labelColor": css("faint-ink"),
        "titleColor": css("faint-ink"),
        "titleFontWeight": "normal",
        "titleFontSize": 11,
        "labelFontSize": 11,
        "domainColor": css("rule"),
        "tickColor": css("rule"),
        "gridColor": css("grid"),
        "tickSize": 4,
    },
    "axisY": {"minExtent": LABEL_PIXELS, "maxExtent": LABEL_PIXELS, "labelLimit": LABEL_PIXELS - 8, "domain": False},
    "axisX": {"labelOverlap": "greedy", "labelSeparation": 8, "labelFlush": True},
    "legend": {
        "orient": "top",
        "direction": "horizontal",
        "title": None,
        "labelColor": css("ink"),
        "titleColor": css("faint-ink"),
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "symbolSize": 90,
        "symbolType": "square",
        "symbolBaseFillColor": css("faint-ink"),
        "symbolBaseStrokeColor": css("faint-ink"),
        "offset": 6,
        "columns": 4,
    },
    "rule": {"color": css("faint-ink")},
    "text": {"color": css("ink"), "fontSize": 11},
    "line": {"strokeWidth": 2},
}


@dataclass(frozen=True, slots=True)
class Dataset:
    """Rows of values, as wide as `fields`."""

    fields: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def records(self) -> list[dict[str, Value]]:
        """The rows as Vega-Lite takes them."""
        return [dict(zip(self.fields, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart. `name` is what `-o NAME.svg` asks for; `description` says in a sentence what it shows.

    `spec` names its data; `datasets` has it by those names, which are a page's own: two charts with the same name for
    a dataset share it.
    """

    name: str
    title: str
    description: str
    spec: dict[str, Any]
    datasets: Mapping[str, Dataset] = field(default_factory=dict)


def make_chart(name: str, title: str, description: str, drawn: Any, datasets: Mapping[str, Dataset]) -> Chart:
    """A chart that Altair drew from `NamedData`, without what is the page's: schema and configuration."""
    spec = drawn.to_dict(context={"pre_transform": False})
    for name_of_page in ("$schema", "config", "datasets"):
        spec.pop(name_of_page, None)
    shown = {
        name: Dataset(one.fields, tuple(tuple(map(_printable, row)) for row in one.rows))
        for name, one in datasets.items()
    }
    return Chart(name, title, description, _printable(spec), shown)


def _printable(value: Any) -> Any:
    """The same with all texts printable: of a control character no picture can be made, the program even aborts."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {name: _printable(item) for name, item in value.items()}
    return [_printable(item) for item in value] if isinstance(value, list) else value


def data(name: str) -> alt.NamedData:
    """A dataset of the chart, by its name."""
    return alt.NamedData(name)
