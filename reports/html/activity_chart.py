"""Flushes, compactions and stalls by column family, over time."""

from typing import Any

import altair as alt
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH
from lsmlens.analyzer.units import MIB, MICROS
from lsmlens.reports.html.charts import Chart, Dataset, data
from lsmlens.reports.html.palette import css
from lsmlens.reports.html.time_axis import LANE_PIXELS, TimeAxis

STALLED = "stalled"


def activity(axis: TimeAxis) -> Chart:
    """Flushes, compactions and stalls by column family."""
    timeline, bins = axis.timeline, axis.timeline.bins
    jobs = axis.dataset(
        ("start", "end", "family", "kind", "share", "busy", "jobs", "mib"),
        [
            (
                *axis.span(index),
                lane or '""',
                kind,
                round(min(1.0, one.busy_micros / bins.width_micros), 3),
                round(one.busy_micros / MICROS, 6),
                one.jobs,
                round(one.bytes / MIB, 2),
            )
            for (index, lane, kind), one in sorted(timeline.activity.items())
        ],
    )
    lanes = [lane or '""' for lane in timeline.families]
    has_stalls = bool(timeline.stall_lines or timeline.stalled_seconds)
    order = [STALLED, *lanes] if has_stalls else lanes
    y = alt.Y("family:N", sort=order, title=None, scale=alt.Scale(domain=order, paddingInner=0.2, paddingOuter=0.1))
    kinds = [FLUSH, COMPACTION] + (["slowdown", "stop"] if has_stalls else [])
    color = alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=[css(kind) for kind in kinds]))
    layers: list[Any] = [
        alt.Chart(data(axis.name("jobs")))
        .mark_rect()
        .encode(
            x=axis.x(leads=True),
            x2="end:T",
            y=y,
            yOffset=alt.YOffset("kind:N", sort=[FLUSH, COMPACTION], scale=alt.Scale(domain=[FLUSH, COMPACTION])),
            color=color,
            opacity=alt.Opacity("share:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0.4, 1])),
            tooltip=[
                *axis.when(),
                alt.Tooltip("family:N", title="column family"),
                alt.Tooltip("kind:N"),
                alt.Tooltip("busy:Q", title="seconds of jobs"),
                alt.Tooltip("jobs:Q", title="finished"),
                alt.Tooltip("mib:Q", title="MiB written", format=",.1f"),
            ],
        )
    ]
    datasets = {axis.name("jobs"): jobs}
    if has_stalls:
        datasets[axis.name("stalls")] = _stalls(axis)
        layers.append(
            alt.Chart(data(axis.name("stalls")))
            .mark_rect()
            .encode(
                x=axis.x(),
                x2="end:T",
                y=y,
                color=color,
                tooltip=[*axis.when(), alt.Tooltip("kind:N"), alt.Tooltip("said:N", title="source")],
            )
        )
    layers += _opens(axis, datasets)
    return axis.chart(
        "timeline",
        "Flushes, compactions and stalls by column family",
        "Flushes and compactions of each column family over time, and when writes were stalled.",
        layers,
        LANE_PIXELS * max(2, len(order)),
        datasets,
    )


def _stalls(axis: TimeAxis) -> Dataset:
    timeline = axis.timeline
    rows: list[tuple[str | int | float | None, ...]] = [
        (since // 1000, until // 1000, STALLED, "slowdown", f"statistics dump: {seconds:.3g} s in this time")
        for since, until, seconds in timeline.stalled_seconds
    ]
    for (index, kind), lines in sorted(timeline.stall_lines.items()):
        rows.append((*axis.span(index), STALLED, kind, f"{lines} line(s) of the log"))
    return axis.dataset(("start", "end", "family", "kind", "said"), rows)


def _opens(axis: TimeAxis, datasets: dict[str, Dataset]) -> list[Any]:
    """Marks where the database was opened."""
    moments = axis.timeline.opens_micros
    if not moments:
        return []
    rows = [(moment // 1000, "database opened") for moment in moments]
    datasets[axis.name("opens")] = axis.dataset(("start", "said"), rows)
    return [
        alt.Chart(data(axis.name("opens")))
        .mark_rule(color=css("faint-ink"), strokeDash=[2, 3])
        .encode(x=axis.x(), tooltip=[alt.Tooltip("since:N", title="at"), alt.Tooltip("said:N", title=" ")])
    ]
