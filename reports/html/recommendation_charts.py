"""Charts of a recommendation: the search's course, the front, and bytes by column family now and predicted."""

from collections.abc import Iterator

import altair as alt
from lsmlens.analyzer.units import MIB
from lsmlens.reports.html.charts import Dataset, Value, data, make_chart
from lsmlens.reports.html.page import ChartBlock
from lsmlens.reports.html.palette import css
from lsmlens.reports.recommendation_report import (
    RecommendationReport,
    families_table,
    front_table,
    tried_table,
)
from lsmlens.tuners.search.recommendation import Recommendation

HEIGHT = 240
LANE_PIXELS, BAR_PIXELS = 34, 12
GIB = 1024 * MIB
COLOURS = {"current": "series-2", "pick": "good", "finalist": "series-1", "screened": "series-7"}


def recommendation_charts(report: RecommendationReport) -> Iterator[ChartBlock]:
    """All charts there is something to draw for."""
    one = report.recommendation
    yield front(one)
    if one.course:
        yield course(one)
    if one.picked is not None:
        yield families(one)


def front(one: Recommendation) -> ChartBlock:
    """Bytes written against records processed: what was screened, the finalists, the pick, what runs now."""
    names = {finalist.name for finalist in one.finalists}
    rows: list[tuple[Value, ...]] = [
        (tried.name, "screened", tried.scores.written_bytes / GIB, tried.scores.processed_records / 1e6)
        for tried in one.tried
        if tried.scores is not None and tried.name not in names and tried.name != "current"
    ]
    for finalist in one.finalists:
        kind = "pick" if finalist is one.picked else "finalist"
        rows.append((finalist.name, kind, finalist.scores.written_bytes / GIB, finalist.scores.processed_records / 1e6))
    present = one.present_scores
    rows.append(("current settings", "current", present.written_bytes / GIB, present.processed_records / 1e6))
    kinds = [kind for kind in COLOURS if any(row[1] == kind for row in rows)]
    rounded = tuple((name, kind, round(x, 3), round(y, 3)) for name, kind, x, y in rows)  # type: ignore[arg-type]
    drawn = (
        alt.Chart(data("front"))
        .mark_point(filled=True, size=80, opacity=0.9)
        .encode(
            x=alt.X("written:Q", title="flushed and compacted (GiB)", scale=alt.Scale(zero=False, padding=16)),
            y=alt.Y("records:Q", title=None, scale=alt.Scale(zero=False, padding=16)),
            color=alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=[css(COLOURS[kind]) for kind in kinds])),
            tooltip=[
                alt.Tooltip("settings:N"),
                alt.Tooltip("kind:N"),
                alt.Tooltip("written:Q", title="GiB written"),
                alt.Tooltip("records:Q", title="million records"),
            ],
        )
        .properties(width="container", height=HEIGHT, autosize=alt.AutoSizeParams(type="fit-x"))
    )
    chart = make_chart(
        "front",
        "What candidates cost (records through compactions, millions)",
        "Each candidate by the bytes it writes and the records its compactions read, for the log's own work.",
        drawn,
        {"front": Dataset(("settings", "kind", "written", "records"), rounded)},
    )
    return ChartBlock(chart, front_table(one), "Nearer to the lower left is better in both.")


def course(one: Recommendation) -> ChartBlock:
    """The cost of each candidate in the order in which they were tried, and the least so far."""
    rows = tuple((number, round(cost, 4), round(least, 4)) for number, cost, least in one.course)
    base = alt.Chart(data("course")).encode(x=alt.X("candidate:Q", title="candidate", axis=alt.Axis(format="d")))
    y = alt.Scale(zero=False, padding=8)
    points = base.mark_point(filled=True, size=45, opacity=0.8, color=css("series-7")).encode(
        y=alt.Y("cost:Q", title=None, scale=y),
        tooltip=[alt.Tooltip("candidate:Q"), alt.Tooltip("cost:Q"), alt.Tooltip("least:Q", title="least so far")],
    )
    line = base.mark_line(interpolate="step-after", color=css("series-1")).encode(
        y=alt.Y("least:Q", title=None, scale=y)
    )
    drawn = alt.layer(points, line).properties(
        width="container", height=HEIGHT, autosize=alt.AutoSizeParams(type="fit-x")
    )
    chart = make_chart(
        "course",
        "The search's course (cost, the current settings have 1)",
        "The cost of every candidate screened, and the least so far.",
        drawn,
        {"course": Dataset(("candidate", "cost", "least"), rows)},
    )
    return ChartBlock(chart, tried_table(one))


def families(one: Recommendation) -> ChartBlock:
    """Bytes written by column family: now, and predicted with the interval."""
    assert one.picked is not None
    before = one.anchor.observed
    rows: list[tuple[Value, ...]] = []
    for family in one.picked.evaluated.prediction.families:
        seen = before[family.name].written_bytes / MIB
        value, low, high = (getattr(family.predicted, end).written_bytes / MIB for end in ("value", "low", "high"))
        rows.append((family.name, "current", round(seen, 1), round(seen, 1), round(seen, 1)))
        rows.append((family.name, "predicted", round(value, 1), round(low, 1), round(high, 1)))
    order = sorted({str(row[0]) for row in rows}, key=lambda name: (-before[name].written_bytes, name))
    kinds = ["current", "predicted"]
    encoded = alt.Chart(data("families")).encode(
        y=alt.Y("family:N", sort=order, title=None),
        yOffset=alt.YOffset("kind:N", sort=kinds),
    )
    x = "flushed and compacted (MiB)"
    bars = encoded.mark_bar(height=BAR_PIXELS).encode(
        x=alt.X("mib:Q", title=x),
        color=alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=[css("series-2"), css("good")])),
        tooltip=[
            alt.Tooltip("family:N"),
            alt.Tooltip("kind:N"),
            alt.Tooltip("mib:Q", title="MiB"),
            alt.Tooltip("low:Q"),
            alt.Tooltip("high:Q"),
        ],
    )
    bounds = encoded.mark_rule(color=css("ink")).encode(x=alt.X("low:Q", title=x), x2="high:Q")
    drawn = alt.layer(bars, bounds).properties(
        width="container", height=LANE_PIXELS * len(order), autosize=alt.AutoSizeParams(type="fit-x")
    )
    chart = make_chart(
        "families",
        "Bytes by column family (MiB)",
        "What each column family writes now and is predicted to write, with the 90 % interval.",
        drawn,
        {"families": Dataset(("family", "kind", "mib", "low", "high"), tuple(rows))},
    )
    return ChartBlock(chart, families_table(one, one.picked)[0])
