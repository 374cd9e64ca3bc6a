"""Latency of operations and of load programs, before the times in which compactions ran."""

from math import ceil, floor, log10
from typing import Any

import altair as alt
from lsmlens.analyzer.runs.jobs import COMPACTION
from lsmlens.reports.html.charts import Chart, Dataset, data
from lsmlens.reports.html.palette import SERIES, css
from lsmlens.reports.html.time_axis import PLOT_PIXELS, TimeAxis


def latency(axis: TimeAxis) -> Chart | None:
    """Latency of operations and of load programs, before the times in which compactions ran; None without any."""
    timeline = axis.timeline
    if not timeline.operations and not timeline.client_spans:
        return None
    datasets: dict[str, Dataset] = {}
    layers = [_shading(axis, datasets), *_client_layers(axis, datasets)]
    return axis.chart(
        "latency",
        "Latency, and when compactions ran (ms)",
        "Latencies on a logarithmic scale over time; the background is shaded where compactions ran.",
        layers,
        PLOT_PIXELS,
        datasets,
    )


def _shading(axis: TimeAxis, datasets: dict[str, Dataset]) -> Any:
    timeline, width = axis.timeline, axis.timeline.bins.seconds
    busy = sorted(timeline.busy_seconds(COMPACTION).items())
    rows = [(*axis.span(index), round(min(1, seconds / width), 3), round(seconds, 3)) for index, seconds in busy]
    datasets[axis.name("compacting")] = axis.dataset(("start", "end", "share", "busy"), rows)
    return (
        alt.Chart(data(axis.name("compacting")))
        .mark_rect(color=css("shade"))
        .encode(
            x=axis.x(leads=True),
            x2="end:T",
            opacity=alt.Opacity("share:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0.15, 1])),
            tooltip=[*axis.when(), alt.Tooltip("busy:Q", title="seconds of compactions")],
        )
    )


def _client_layers(axis: TimeAxis, datasets: dict[str, Dataset]) -> list[Any]:
    timeline = axis.timeline
    spans = [
        (one.since_micros // 1000, one.until_micros // 1000, one.name, round(1000 * seconds, 4), what)
        for one in timeline.client_spans
        for what, seconds in (("mean", one.mean_seconds), ("p99", one.p99_seconds))
        if seconds
    ]
    operations = [
        (*axis.span(one.bin), f"{one.operation_class}, slowest", round(1000 * one.slowest_seconds, 4), "slowest")
        for one in timeline.operations
        if one.slowest_seconds
    ]
    names = sorted({row[2] for row in spans}) + sorted({row[2] for row in operations})
    colours = [css(SERIES[place % len(SERIES)]) for place in range(len(names))]
    millis = [row[3] for row in (*spans, *operations)]
    decades = [10.0**power for power in range(floor(log10(min(millis))), ceil(log10(max(millis))) + 1)]
    y = alt.Y(
        "millis:Q",
        title=None,
        scale=alt.Scale(type="log", domain=[decades[0], max(decades[-1], 10 * decades[0])], nice=False),
        axis=alt.Axis(values=decades, format="~g"),
    )
    base = alt.Chart().encode(
        x=axis.x(),
        y=y,
        color=alt.Color(
            "name:N", scale=alt.Scale(domain=names, range=colours), legend=alt.Legend(columns=2, labelLimit=320)
        ),
        tooltip=[
            *axis.when(),
            alt.Tooltip("name:N", title="of"),
            alt.Tooltip("what:N", title=" "),
            alt.Tooltip("millis:Q", title="ms"),
        ],
    )
    fields = ("start", "end", "name", "millis", "what")
    layers: list[Any] = []
    if spans:
        datasets[axis.name("clients")] = axis.dataset(fields, spans)
        dashes = alt.Scale(domain=["mean", "p99"], range=[[1, 0], [3, 4]])
        lines = base.mark_rule(strokeWidth=3).properties(data=data(axis.name("clients")))
        layers.append(lines.encode(x2="end:T", strokeDash=alt.StrokeDash("what:N", scale=dashes, legend=None)))
    if operations:
        datasets[axis.name("operations")] = axis.dataset(fields, operations)
        points = base.mark_point(filled=True, shape="diamond", size=70, opacity=1)
        layers.append(points.properties(data=data(axis.name("operations"))))
    return layers
