"""Charts of a recommendation: the search's course, the front, and bytes by column family now and predicted."""

from collections.abc import Iterator

import altair as alt
from lsmlens.analyzer.units import GIB, MIB
from lsmlens.reports.document import ChartBlock
from lsmlens.reports.html.charts import Chart, Dataset, Value, data, make_chart
from lsmlens.reports.html.palette import css
from lsmlens.reports.recommendation_tables import (
    LEAST_SHARE,
    RecommendationReport,
    families_table,
    front_table,
    tried_table,
)
from lsmlens.reports.tables import Table
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.search.evaluation import Evaluated
from lsmlens.tuners.search.recommendation import Finalist, Recommendation

HEIGHT = 240
LANE_PIXELS, BAR_PIXELS = 34, 12
COLOURS = {"current": "series-2", "pick": "good", "finalist": "series-1", "screened": "series-7"}


def recommendation_charts(report: RecommendationReport) -> Iterator[ChartBlock]:
    """All charts there is something to draw for."""
    one = report.recommendation
    yield front(one)
    if one.course:
        yield course(one)
    if one.picked is not None:
        yield families(one)


def charts_called(report: RecommendationReport, name: str) -> list[tuple[str, Chart]]:
    """The charts of a name, with the run they are of."""
    run = report.recommendation.fitted.name
    return [(run, block.drawn()) for block in recommendation_charts(report) if block.drawn().name == name]


def timeline(one: Recommendation, finalist: Finalist, number: int) -> ChartBlock | None:
    """Bytes flushed and compacted so far over the workload's time, now and under a finalist's settings.

    Of the replays at the finest scale, in the log's units; None where one has no course.
    """
    courses = {"current": _course_of(one.present_evaluated), "finalist": _course_of(finalist.evaluated)}
    if not all(courses.values()):
        return None
    rows: list[tuple[Value, ...]] = [
        (kind, round(seconds, 1), round(written / GIB, 4), round(flushed / GIB, 4))
        for kind, points in courses.items()
        for seconds, flushed, written in points
    ]
    kinds = ["current", "finalist"]
    drawn = (
        alt.Chart(data(f"timeline-{number}"))
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("seconds:Q", title="time in the log (s)"),
            y=alt.Y("written:Q", title=None),
            color=alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=[css("series-2"), css("series-1")])),
            tooltip=[
                alt.Tooltip("kind:N"),
                alt.Tooltip("seconds:Q", title="s"),
                alt.Tooltip("written:Q", title="GiB written"),
                alt.Tooltip("flushed:Q", title="GiB of it flushed"),
            ],
        )
        .properties(width="container", height=HEIGHT, autosize=alt.AutoSizeParams(type="fit-x"))
    )
    chart = make_chart(
        f"timeline-{number}",
        "Written so far (GiB)",
        "Bytes of flushes and compactions since the log's start, over the log's time.",
        drawn,
        {f"timeline-{number}": Dataset(("kind", "seconds", "written", "flushed"), tuple(rows))},
    )
    table = Table(
        ("s", "current, GiB", "finalist, GiB"),
        tuple(
            (f"{now[0]:.0f}", f"{now[2] / GIB:.3f}", f"{then[2] / GIB:.3f}")
            for now, then in list(zip(courses["current"], courses["finalist"], strict=True))[:: len(rows) // 16 or 1]
        ),
    )
    return ChartBlock(
        chart, table, f"As replayed at 1/{one.anchor.scale:g} of the size, times that; steps are compactions."
    )


def _course_of(evaluated: Evaluated) -> list[tuple[float, float, float]]:
    """Seconds, bytes flushed and bytes written so far, of the replay at the finest scale."""
    first = evaluated.results[0]
    if not isinstance(first, Measurement):
        return []
    points = first.multiplied().course
    return [(one.seconds, one.flush_bytes, one.flush_bytes + one.compaction_output_bytes) for one in points]


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
    least = LEAST_SHARE * sum(seen.written_bytes for seen in before.values())
    rows: list[tuple[Value, ...]] = []
    for family in one.picked.evaluated.prediction.families:
        if max(before[family.name].written_bytes, family.predicted.value.written_bytes) < least:
            continue  # of hardly any bytes, and an interval that would dwarf all others
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
        "What each large column family writes now and is predicted to write, with the 90 % interval.",
        drawn,
        {"families": Dataset(("family", "kind", "mib", "low", "high"), tuple(rows))},
    )
    return ChartBlock(chart, families_table(one, one.picked)[0])
