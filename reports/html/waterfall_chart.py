"""The slowest operations an OSD kept, as a chart: each a bar of its stages, in the time since it began."""

import altair as alt
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.clients.stages import StageGroup
from lsmlens.reports.html.charts import Chart, Dataset, data, make_chart
from lsmlens.reports.html.palette import css
from lsmlens.reports.waterfall import begun, slowest_apart

LANE_PIXELS = 22
COLOURS = {
    StageGroup.RECEIVE: "series-7",
    StageGroup.QUEUE: "series-5",
    StageGroup.PG: "series-3",
    StageGroup.BLOCKED: "stop",
    StageGroup.KV_COMMIT: "series-1",
    StageGroup.DEVICE: "series-2",
    StageGroup.REPLICATION: "series-4",
    StageGroup.REPLY: "series-6",
    StageGroup.OTHER: "rule",
}


def waterfall_chart(one: RunAnalysis, prefix: str = "") -> Chart | None:
    """The slowest operations of some moments, the slowest on top; None where the OSD kept none."""
    operations = [operation for operation in slowest_apart(one.beside.operations) if operation.stages]
    if not operations:
        return None
    names = [f"{number}. {operation.operation_class}" for number, operation in enumerate(operations, 1)]
    rows = []
    for name, operation in zip(names, operations, strict=True):
        for stage in operation.stages:
            start = 1000 * stage.start_seconds
            end = start + 1000 * stage.seconds
            what = f"{stage.since} to {stage.until}"
            rows.append((name, str(stage.group), round(start, 4), round(end, 4), round(end - start, 4), what,
                         begun(operation) or "-", operation.description))  # fmt: skip
    present = [group for group in StageGroup if any(row[1] == group for row in rows)]
    dataset = f"{prefix}waterfall"
    most = max(row[3] for row in rows) or 1.0
    drawn = (
        alt.Chart(data(dataset))
        .mark_bar()
        .encode(
            x=alt.X("start:Q", title=None, axis=alt.Axis(tickCount=6), scale=alt.Scale(domain=[0, most], nice=False)),
            x2="end:Q",
            y=alt.Y("operation:N", sort=names, title=None, scale=alt.Scale(padding=0.2)),
            color=alt.Color(
                "group:N",
                scale=alt.Scale(domain=list(map(str, present)), range=[css(COLOURS[group]) for group in present]),
                legend=alt.Legend(columns=4),
            ),
            tooltip=[
                alt.Tooltip("operation:N", title="operation"),
                alt.Tooltip("begun:N", title="began"),
                alt.Tooltip("group:N", title="held by"),
                alt.Tooltip("stage:N", title="stage"),
                alt.Tooltip("millis:Q", title="ms", format=",.3~f"),
                alt.Tooltip("description:N", title=" "),
            ],
        )
        .properties(
            width="container", height=LANE_PIXELS * max(2, len(names)), autosize=alt.AutoSizeParams(type="fit-x")
        )
    )
    fields = ("operation", "group", "start", "end", "millis", "stage", "begun", "description")
    return make_chart(
        "waterfall",
        "The slowest operations, stage by stage (ms)",
        "The slowest operations kept by the OSD, each as a bar of the stages it went through, in milliseconds.",
        drawn,
        {dataset: Dataset(fields, tuple(rows))},
    )
