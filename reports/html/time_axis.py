"""What all charts over time share: the axis, its left edge, tooltips of moments, and names of their data."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import altair as alt
from lsmlens.reports.html.charts import Chart, Dataset, data, make_chart
from lsmlens.reports.timeline import Timeline

LANE_PIXELS = 26
PLOT_PIXELS = 190


class TimeAxis:
    """One run's time, as its charts have it; `prefix` keeps its datasets apart from other runs' in a page."""

    def __init__(self, timeline: Timeline, prefix: str = "") -> None:
        self.timeline = timeline
        self._prefix = prefix

    def name(self, name: str) -> str:
        """A dataset's name in the page."""
        return f"{self._prefix}{name}"

    def dataset(self, fields: tuple[str, ...], rows: Iterable[Iterable[Any]]) -> Dataset:
        """Rows of values as a dataset."""
        return Dataset(fields, tuple(tuple(row) for row in rows))

    def span(self, index: int, until: int | None = None) -> tuple[float, float]:
        """Start and end of a bin, or of all before the bin `until`, in milliseconds as charts have them."""
        bins = self.timeline.bins
        ends = bins.start_of(index), bins.start_of(index + 1 if until is None else until)
        if bins.width_micros % 1000:
            return ends[0] / 1000, ends[1] / 1000
        return ends[0] // 1000, ends[1] // 1000

    def x(self, field: str = "start:T", leads: bool = False) -> alt.X:
        """The axis of time; in layers the first leads and the others follow its domain."""
        if not leads:
            return alt.X(field, scale=alt.Scale(type="utc"))
        first, last = self.timeline.first_micros // 1000, self.timeline.last_micros // 1000
        days = [datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%d") for millis in (first, last)]
        title = f"{days[0]}, UTC" if days[0] == days[1] else f"{days[0]} to {days[1]}, UTC"
        seconds = (last - first) / 1000
        form = "%H:%M:%S" if seconds < 600 else "%H:%M" if days[0] == days[1] else "%m-%d %H:%M"
        if seconds > 8 * 86400:
            form = "%Y-%m-%d" if seconds > 300 * 86400 else "%m-%d"
        return alt.X(
            field,
            title=title,
            scale=alt.Scale(type="utc", domainMin=first, domainMax=max(last, first + 1), clamp=True, nice=False),
            axis=alt.Axis(format=form, tickCount=8),
        )

    def when(self) -> list[alt.Tooltip]:
        """From when to when a mark is, for its tooltip."""
        return [alt.Tooltip("since:N", title="from"), alt.Tooltip("until:N", title="to")]

    def chart(
        self, name: str, title: str, description: str, layers: list[Any], height: int, datasets: dict[str, Dataset]
    ) -> Chart:
        """A chart of these layers, as wide as the page lets it.

        Tooltips have their moments as text: as times they would be in the reader's zone, or without milliseconds.
        """
        form = "%Y-%m-%d %H:%M:%S" + ("" if self.timeline.bins.seconds >= 1 else ".%L")
        said = {name: f"utcFormat(datum.{of}, '{form}')" for name, of in (("since", "start"), ("until", "end"))}
        layers = [layer.transform_calculate(**said) for layer in layers]
        drawn = alt.layer(*layers) if len(layers) > 1 else layers[0]
        drawn = drawn.properties(width="container", height=height, autosize=alt.AutoSizeParams(type="fit-x"))
        return make_chart(name, title, description, drawn, datasets)

    def bars(self, name: str, by: str, names: list[str], colours: list[str], tooltip: list[alt.Tooltip]) -> Any:
        """Stacked bars as wide as the bins, from `low` to `high`."""
        return (
            alt.Chart(data(self.name(name)))
            .mark_rect()
            .encode(
                x=self.x(leads=True),
                x2="end:T",
                y=alt.Y("low:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5)),
                y2="high:Q",
                color=alt.Color(by, scale=alt.Scale(domain=names, range=colours)),
                tooltip=[*self.when(), *tooltip],
            )
        )
