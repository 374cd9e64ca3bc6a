"""Charts on scheduling: what each class is given, candidates' front, and the course of a recovery."""

from collections.abc import Iterator

import altair as alt
from lsmlens.analyzer.numbers import percent, plain, time_of
from lsmlens.analyzer.qos.allocation import ClassAllocation
from lsmlens.reports import qos_tables as tables
from lsmlens.reports.document import ChartBlock
from lsmlens.reports.html.charts import Chart, Dataset, Value, data, make_chart
from lsmlens.reports.html.palette import SERIES, css
from lsmlens.reports.tables import Table
from lsmlens.tuners.qos.assessment import QosAssessment
from lsmlens.tuners.qos.recommendation import QosPrediction, QosRecommendation

CLASS_PIXELS = 170
LANE_PIXELS, BAR_PIXELS, PLOT_PIXELS = 34, 14, 260
COURSE_PIXELS = 160
MILLIS = 1e3
CURVES = 6


def qos_charts(assessment: QosAssessment) -> Iterator[tuple[str, ChartBlock]]:
    """All charts there is something to draw for, with the subject of each."""
    subject = assessment.subject
    if subject.allocation:
        yield subject.name, allocation(subject.name, subject.allocation)
    if assessment.recommendation is not None:
        yield subject.name, front(assessment.recommendation)
        for block in courses(assessment.recommendation):
            yield subject.name, block


def charts_called(assessment: QosAssessment, name: str) -> list[tuple[str, Chart]]:
    """The charts of a name, with the subject of each."""
    return [(of, block.drawn()) for of, block in qos_charts(assessment) if block.drawn().name == name]


def allocation(name: str, classes: tuple[ClassAllocation, ...]) -> ChartBlock:
    """Bars from reservation to limit, as shares of the capacity."""
    most = max([1.0, *(one.limit_share for one in classes)])
    rows: list[tuple[Value, ...]] = []
    for one in classes:
        end = one.limit_share or most
        words = f"at most {percent(one.limit_share, 0)}" if one.limit_share else "no limit"
        rows.append(
            (one.service_class.value, "reserved", 0.0, one.reservation_share, percent(one.reservation_share, 0))
        )
        rows.append((one.service_class.value, "up to the limit", one.reservation_share, end, words))
    order = [one.service_class.value for one in classes]
    drawn = (
        alt.Chart(data("allocation"))
        .mark_bar(height=BAR_PIXELS)
        .encode(
            y=alt.Y("class:N", sort=order, title=None, axis=_labels(CLASS_PIXELS)),
            x=alt.X(
                "begin:Q",
                title="share of the OSD's capacity",
                scale=alt.Scale(domainMin=0, domainMax=most),
                axis=alt.Axis(format=".0%", tickCount=10),
            ),
            x2="end:Q",
            color=alt.Color(
                "part:N",
                scale=alt.Scale(domain=["reserved", "up to the limit"], range=[css("series-1"), css("shade")]),
            ),
            tooltip=[alt.Tooltip("class:N"), alt.Tooltip("part:N"), alt.Tooltip("words:N", title="share")],
        )
        .properties(width="container", height=LANE_PIXELS * len(order), autosize=alt.AutoSizeParams(type="fit-x"))
    )
    chart = make_chart(
        "allocation",
        "What each class is given (share of capacity)",
        f"Reservation and limit of each class of operations on {name}.",
        drawn,
        {"allocation": Dataset(("class", "part", "begin", "end", "words"), tuple(rows))},
    )
    note = "Weights share out what is left above reservations, and only among classes that wait."
    return ChartBlock(chart, tables.allocation(classes), note)


def front(recommendation: QosRecommendation) -> ChartBlock:
    """Clients' mean against the recovery's time, with their bounds; the pick and what is in force named."""
    rows: list[tuple[Value, ...]] = []
    for alike in tables.alike_predictions(recommendation):
        one = alike[0]
        rows.append(
            (
                tables.name_of(alike),
                _kind(alike, recommendation),
                round(one.recovery_seconds, 2),
                round(one.recovery_low, 2),
                round(one.recovery_high, 2),
                round(one.mean_seconds * MILLIS, 4),
                f"{tables.duration(one.recovery_seconds)}, mean {time_of(one.mean_seconds)}",
            )
        )
    fields = ("settings", "kind", "seconds", "low", "high", "mean", "words")
    kinds = [kind for kind in ("in force", "pick", "on the front", "beaten") if any(row[1] == kind for row in rows)]
    colours = {"in force": "series-2", "pick": "good", "on the front": "series-1", "beaten": "series-7"}
    low = min(one.recovery_low for one in recommendation.predictions)
    high = max(one.recovery_high for one in recommendation.predictions)
    scale = alt.Scale(type="log", domainMin=low / 1.2, domainMax=high * 1.6, nice=False)
    y = alt.Y("mean:Q", title=None, scale=alt.Scale(zero=False, padding=16))
    base = alt.Chart(data("front")).encode(
        color=alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=[css(colours[kind]) for kind in kinds])),
        tooltip=[alt.Tooltip("settings:N"), alt.Tooltip("kind:N"), alt.Tooltip("words:N", title="prediction")],
    )
    x = alt.X("seconds:Q", title="recovery takes (s)", scale=scale)
    bounds = base.mark_rule(opacity=0.45).encode(
        x=alt.X("low:Q", title="recovery takes (s)", scale=scale), x2="high:Q", y=y
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x=x, y=y)
    # What is in force often lies on another point: its name stands below.
    above, below = (
        alt.Chart(data("front"))
        .mark_text(align="left", dx=8, dy=offset)
        .encode(x=x, y=y, text="settings:N", color=alt.value(css("faint-ink")))
        .transform_filter(f"datum.kind {comparison} 'in force'")
        for offset, comparison in ((-9, "!="), (12, "=="))
    )
    drawn = (bounds + points + above + below).properties(
        width="container", height=PLOT_PIXELS, autosize=alt.AutoSizeParams(type="fit-x")
    )
    chart = make_chart(
        "front",
        "Clients' mean latency (ms) against recovery's time",
        "Each candidate's mean latency of clients during recovery, and how long the recovery takes.",
        drawn,
        {"front": Dataset(fields, tuple(rows))},
    )
    note = (
        "Lower and further left is better. Lines are what recovery's time is worth; clients' means share one error"
        f" of {percent(recommendation.pick.mean_error, 0)} either way."
    )
    return ChartBlock(chart, tables.candidates(recommendation), note)


def _kind(alike: list[QosPrediction], recommendation: QosRecommendation) -> str:
    if recommendation.pick in alike:
        return "pick"
    if alike[0].candidate.is_current:
        return "in force"
    return "on the front" if alike[0].is_on_front else "beaten"


def courses(recommendation: QosRecommendation) -> Iterator[ChartBlock]:
    """Clients' mean, and recovery's rate, over the recovery: what is in force, the pick, others that differ."""
    chosen = _curves(recommendation)
    named = {id(alike[0]): tables.name_of(alike) for alike in tables.alike_predictions(recommendation)}
    rows: list[tuple[Value, ...]] = []
    for one in chosen:
        for point in one.play.course:
            mean = None if point.client_mean_seconds is None else round(point.client_mean_seconds * MILLIS, 4)
            rows.append((named[id(one)], round(point.seconds, 2), mean, round(point.objects_per_second, 3)))
    dataset = {"course": Dataset(("settings", "seconds", "mean", "objects"), tuple(rows))}
    names = [named[id(one)] for one in chosen]
    note = "Simulated with fewer objects and stretched to their true number; steps are where queues run out."
    table = _course_table(recommendation, chosen)
    for name, field, title, says in (
        ("course", "mean", "Clients' mean during the recovery (ms)", "Clients' mean latency over the recovery."),
        ("recovery", "objects", "Recovered objects a second", "Recovered objects a second over the recovery."),
    ):
        yield ChartBlock(make_chart(name, title, says, _curve(field, names), dataset), table, note)


def _curve(field: str, names: list[str]) -> alt.Chart:
    colours = [css(SERIES[place % len(SERIES)]) for place in range(len(names))]
    drawn: alt.Chart = (
        alt.Chart(data("course"))
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("seconds:Q", title="seconds of recovery", axis=alt.Axis(tickCount=10)),
            y=alt.Y(f"{field}:Q", title=None),
            color=alt.Color(
                "settings:N",
                scale=alt.Scale(domain=names, range=colours),
                legend=alt.Legend(columns=3, labelLimit=260),
            ),
            tooltip=[
                alt.Tooltip("settings:N"),
                alt.Tooltip("seconds:Q"),
                alt.Tooltip(f"{field}:Q", format=".3~g"),
            ],
        )
        .properties(width="container", height=COURSE_PIXELS, autosize=alt.AutoSizeParams(type="fit-x"))
    )
    return drawn


def _curves(recommendation: QosRecommendation) -> list[QosPrediction]:
    """One of each play, that of what is in force and of the pick among them."""
    groups = tables.alike_predictions(recommendation)
    firsts = [alike[0] for alike in groups]
    wanted = [firsts[0], next(alike[0] for alike in groups if recommendation.pick in alike)]
    others = [one for one in firsts if id(one.play) not in {id(two.play) for two in wanted}]
    return list({id(one): one for one in (*wanted, *others[: CURVES - 2])}.values())


def _course_table(recommendation: QosRecommendation, chosen: list[QosPrediction]) -> Table:
    rows = []
    for one in chosen:
        half = one.play.course[: len(one.play.course) // 2]
        busiest = max(half, key=lambda point: point.client_mean_seconds or 0.0, default=None)
        rows.append(
            (
                tables.settings_of(one, recommendation),
                plain(round(one.client_iops)),
                time_of(one.mean_seconds),
                "-" if busiest is None else time_of(busiest.client_mean_seconds),
                f"{one.objects_per_second:.3g}",
                tables.duration(one.recovery_seconds),
            )
        )
    header = ("settings", "client IOPS", "mean", "worst stretch", "objects/s", "recovery")
    return Table(header, tuple(rows))


def _labels(pixels: int) -> alt.Axis:
    return alt.Axis(minExtent=pixels, maxExtent=pixels, labelLimit=pixels - 8)
