"""Pressure over time: files in level 0, and how busy the thread is that commits."""

import altair as alt
from lsmlens.reports.html.charts import Chart, data
from lsmlens.reports.html.palette import HEAT, css
from lsmlens.reports.html.time_axis import LANE_PIXELS, PLOT_PIXELS, TimeAxis

# Files in level 0, in classes of one shade each.
FILE_CLASSES = ((1, "1"), (2, "2 to 3"), (4, "4 to 7"), (8, "8 to 15"), (16, "16 to 31"), (32, "32 or more"))


def level0(axis: TimeAxis) -> Chart | None:
    """Files in level 0 by column family; None where no event tells any."""
    timeline = axis.timeline
    if not timeline.level0:
        return None
    rows = []
    for span in timeline.level0:
        place = max(number for number, (least, _) in enumerate(FILE_CLASSES) if span.files >= least)
        rows.append((*axis.span(span.since, span.until), span.family or '""', span.files, FILE_CLASSES[place][1]))
    lanes = [lane or '""' for lane in timeline.families if any(span.family == lane for span in timeline.level0)]
    drawn = (
        alt.Chart(data(axis.name("level0")))
        .mark_rect()
        .encode(
            x=axis.x(leads=True),
            x2="end:T",
            y=alt.Y("family:N", sort=lanes, title=None, scale=alt.Scale(domain=lanes, padding=0.12)),
            color=alt.Color(
                "class:N",
                title="files",
                scale=alt.Scale(domain=[name for _, name in FILE_CLASSES], range=[css(name) for name in HEAT]),
                legend=alt.Legend(columns=6, title="files"),
            ),
            tooltip=[
                *axis.when(),
                alt.Tooltip("family:N", title="column family"),
                alt.Tooltip("files:Q", title="most files in level 0"),
            ],
        )
    )
    layers = [drawn]
    datasets = {axis.name("level0"): axis.dataset(("start", "end", "family", "files", "class"), rows)}
    return axis.chart(
        "level0",
        "Files in level 0 by column family",
        "The most files that level 0 of each column family held, over time.",
        layers,
        round(LANE_PIXELS * 0.8) * max(2, len(lanes)),
        datasets,
    )


def kv_thread(axis: TimeAxis) -> Chart | None:
    """How busy the thread was that commits to RocksDB; None where no line tells."""
    if not axis.timeline.kv_thread:
        return None
    rows = [
        (since // 1000, until // 1000, 0, round(100 * busy, 1))
        for since, until, busy in sorted(axis.timeline.kv_thread)
    ]
    drawn = (
        alt.Chart(data(axis.name("kv-thread")))
        .mark_rect(color=css("series-1"))
        .encode(
            x=axis.x(leads=True),
            x2="end:T",
            y=alt.Y("none:Q", title=None, scale=alt.Scale(domainMin=0, domainMax=100), axis=alt.Axis(tickCount=5)),
            y2="busy:Q",
            tooltip=[*axis.when(), alt.Tooltip("busy:Q", title="busy, %")],
        )
    )
    return axis.chart(
        "kvthread",
        "BlueStore's kv thread, busy (%)",
        "The share of time in which the thread that commits to RocksDB had work.",
        [drawn],
        PLOT_PIXELS // 2,
        {axis.name("kv-thread"): axis.dataset(("start", "end", "none", "busy"), rows)},
    )
