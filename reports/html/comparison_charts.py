"""Charts of a comparison: changes with their intervals, arms over time, by column family and by client job."""

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt
from lsmlens.analyzer.comparison.comparison import Comparison, MetricRow
from lsmlens.analyzer.comparison.verdicts import Verdict
from lsmlens.analyzer.comparison.window_sums import WindowSums
from lsmlens.analyzer.comparison.work import Scaling, change
from lsmlens.analyzer.metrics import Better, Group
from lsmlens.reports import comparison_tables as tables
from lsmlens.reports.html.charts import Chart, Dataset, Value, data, make_chart
from lsmlens.reports.html.palette import SERIES, css

GIB = 1 << 30
POINTS = 60
AMPLIFICATION_POINTS = 24
MOST_BARS = 30
LANE_PIXELS, BAR_PIXELS, PLOT_PIXELS = 22, 11, 190
METRIC_PIXELS, PART_PIXELS = 210, 140
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down")
VERDICT_COLOURS = {
    Verdict.BETTER: "good",
    Verdict.SAME: "series-1",
    Verdict.NOT_SIGNIFICANT: "series-7",
    Verdict.NOT_COMPARABLE: "series-7",
    Verdict.WORSE: "critical",
}
# Ratios at which a logarithmic axis of changes has its labels.
TICKS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1, 1.2, 1.5, 2, 3, 5, 10)
AS_CHANGE = (
    "datum.value == 1 ? 'same' : datum.value < 3 ? format(100 * (datum.value - 1), '+.0f') + ' %'"
    " : 'x' + format(datum.value, '.2~f')"
)


def changes(comparison: Comparison) -> Chart | None:
    """Every change of the whole database with its interval; None where no noise is known."""
    judged = (row for row in comparison.rows if row.metric.part is None and row.metric.better is not Better.NEITHER)
    chosen = [row for row in judged if _has_interval(row)]
    if not chosen:
        return None
    rows: list[tuple[Value, ...]] = []
    for row in chosen:
        for name, judgement in zip(comparison.names, row.judgements, strict=True):
            if judgement is not None and judgement.ratio and judgement.low and judgement.high:
                rows.append(
                    (
                        tables.name_of(row),
                        name,
                        round(judgement.ratio, 4),
                        round(judgement.low, 4),
                        round(judgement.high, 4),
                        str(judgement.verdict),
                        f"{change(judgement.ratio)} ({tables.interval(judgement)})",
                    )
                )
    arms = list(comparison.names[1:])
    metrics = [tables.name_of(row) for row in chosen]
    verdicts = [verdict for verdict in Verdict if any(row[5] == verdict for row in rows)]
    low, high = min(float(row[3] or 1) for row in rows), max(float(row[4] or 1) for row in rows)
    bounds = [max(0.02, min(low, 0.8) * 0.95), min(50.0, max(high, 1.2) * 1.05)]
    x = alt.X(
        "low:Q",
        title=None,
        scale=alt.Scale(type="log", domainMin=bounds[0], domainMax=bounds[1], nice=False, clamp=True),
        axis=alt.Axis(values=list(TICKS), labelExpr=AS_CHANGE),
    )
    base = alt.Chart(data("changes")).encode(
        y=alt.Y("metric:N", sort=metrics, title=None, axis=_axis(METRIC_PIXELS)),
        yOffset=alt.YOffset("arm:N", sort=arms, scale=alt.Scale(domain=arms)),
        color=alt.Color(
            "verdict:N",
            scale=alt.Scale(
                domain=[str(verdict) for verdict in verdicts],
                range=[css(VERDICT_COLOURS[verdict]) for verdict in verdicts],
            ),
        ),
        tooltip=[
            alt.Tooltip("metric:N"),
            alt.Tooltip("arm:N"),
            alt.Tooltip("said:N", title="change"),
            alt.Tooltip("verdict:N"),
        ],
    )
    shape = alt.Shape(
        "arm:N",
        scale=alt.Scale(domain=arms, range=[SHAPES[place % len(SHAPES)] for place in range(len(arms))]),
        legend=alt.Legend() if len(arms) > 1 else None,
    )
    none = alt.Chart(data("same")).mark_rule(color=css("faint-ink")).encode(x="ratio:Q")
    layers = [
        base.mark_rule(strokeWidth=1.5).encode(x=x, x2="high:Q"),
        base.mark_point(filled=True, size=42, opacity=1).encode(x="ratio:Q", shape=shape),
        none,
    ]
    fields = ("metric", "arm", "ratio", "low", "high", "verdict", "said")
    return _chart(
        "changes",
        f"Changes against {comparison.names[0]}, with 95 % intervals",
        "The ratio of each metric to the baseline's with its 95 % interval, coloured by verdict.",
        alt.layer(*layers),
        max(LANE_PIXELS, BAR_PIXELS * len(arms) + 6) * len(metrics),
        {"changes": Dataset(fields, tuple(rows)), "same": Dataset(("ratio",), ((1,),))},
    )


def amplification(comparison: Comparison) -> Chart | None:
    """Write amplification of each arm over its time; None without window sums."""
    rows = [(name, *point) for name, sums in _windows(comparison) for point in _amplification(sums)]
    return _lines(
        comparison,
        "amplification",
        "LSM write amplification over time",
        "Write amplification of each arm in stretches of time since its log began.",
        rows,
    )


def written(comparison: Comparison) -> Chart | None:
    """Bytes flushed and compacted so far, of each arm; None without window sums."""
    rows = [(name, *point) for name, sums in _windows(comparison) for point in _written(sums)]
    return _lines(
        comparison,
        "written",
        "Written to tables so far (GiB)",
        "GiB written by flushes and compactions of each arm since its log began.",
        rows,
    )


def families(comparison: Comparison) -> Chart | None:
    """Bytes written by column family and arm; None where no arm tells of families."""
    flushed, compacted = (_by_part(comparison, kind) for kind in ("flush_bytes", "compaction_output_bytes"))
    by_bytes = sorted(
        flushed.keys() | compacted.keys(), key=lambda part: (-max(_added(flushed, compacted, part)), part)
    )
    parts = by_bytes[:MOST_BARS]
    if not parts:
        return None
    rows = [
        (part or '""', name, round(value / GIB, 4))
        for part in parts
        for name, value in zip(comparison.names, _added(flushed, compacted, part), strict=True)
    ]
    return _bars(
        comparison,
        "families",
        "Bytes written by column family (GiB)",
        "GiB flushed and written by compactions of each column family, for each arm.",
        rows,
    )


def clients(comparison: Comparison, kind: str) -> Chart | None:
    """One figure of every client's job by arm: `client_iops` or `client_latency_p99` and the like; None without."""
    rows = [
        (row.metric.part or "", name, round(value * (1000 if is_time else 1), 4))
        for row in comparison.of(Group.CLIENTS)
        if row.metric.name.partition(".")[0] == kind
        for is_time in (kind.startswith("client_latency"),)
        for name, value in zip(comparison.names, row.values, strict=True)
        if value is not None
    ]
    if not rows:
        return None
    label = next(row.metric.label for row in comparison.of(Group.CLIENTS) if row.metric.name.startswith(f"{kind}."))
    title = f"{label[0].upper()}{label[1:]} by client job{' (ms)' if kind.startswith('client_latency') else ''}"
    name = kind.removeprefix("client_").removeprefix("latency_")
    return _bars(comparison, name, title, f"{label} of each client's job, for each arm.", rows)


def scaling(found: Scaling, number: int) -> Chart:
    """A metric over amounts of a resource."""
    dataset = f"scaling-{number}"
    rows = tuple((point.amount, point.value, point.arm) for point in found.points)
    drawn = (
        alt.Chart(data(dataset))
        .mark_line(point={"filled": True, "size": 45}, color=css("series-1"))
        .encode(
            x=alt.X("amount:Q", title=found.resource or "amount", scale=alt.Scale(zero=True)),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5)),
            tooltip=[alt.Tooltip("arm:N"), alt.Tooltip("value:Q", title=found.metric.label, format=",.4~g")],
        )
    )
    title = f"{found.metric.part}: {found.metric.label} by {found.resource or 'amount'}"
    return _chart(
        "scaling", title, found.sentence, drawn, PLOT_PIXELS, {dataset: Dataset(("amount", "value", "arm"), rows)}
    )


def _has_interval(row: MetricRow) -> bool:
    return any(one is not None and one.ratio and one.low and one.high for one in row.judgements)


def _windows(comparison: Comparison) -> Iterator[tuple[str, WindowSums]]:
    """The window sums of each arm's first run that has any."""
    for arm in comparison.arms:
        sums = next((one.windows for one in arm.observations if one.windows is not None), None)
        if sums is not None and sums.count:
            yield arm.name, sums


def _grouped(sums: WindowSums, most: int) -> Iterator[tuple[float, float, float]]:
    """Minutes since the beginning at a stretch's end, bytes flushed and bytes compacted in it; at most `most`."""
    step = -(-sums.count // most)
    flushed, compacted = sums.columns["flush_bytes"], sums.columns["compaction_output_bytes"]
    for first in range(0, sums.count, step):
        last = min(first + step, sums.count)
        yield last * sums.seconds / 60, sum(flushed[first:last]), sum(compacted[first:last])


def _amplification(sums: WindowSums) -> Iterator[tuple[float, float]]:
    for minutes, flushed, compacted in _grouped(sums, AMPLIFICATION_POINTS):
        if flushed:
            yield round(minutes, 3), round((flushed + compacted) / flushed, 4)


def _written(sums: WindowSums) -> Iterator[tuple[float, float]]:
    total = 0.0
    for minutes, flushed, compacted in _grouped(sums, POINTS):
        total += flushed + compacted
        yield round(minutes, 3), round(total / GIB, 4)


def _by_part(comparison: Comparison, kind: str) -> dict[str, tuple[float | None, ...]]:
    rows = (row for row in comparison.of(Group.FAMILIES) if row.metric.name.startswith(f"{kind}."))
    return {row.metric.part or "": row.values for row in rows}


def _added(
    flushed: dict[str, tuple[float | None, ...]], compacted: dict[str, tuple[float | None, ...]], part: str
) -> list[float]:
    pairs = zip(flushed.get(part, ()), compacted.get(part, ()), strict=False)
    return [(one or 0.0) + (other or 0.0) for one, other in pairs] or [0.0]


def _arm_colours(comparison: Comparison) -> alt.Scale:
    names = list(comparison.names)
    return alt.Scale(domain=names, range=[css(SERIES[place % len(SERIES)]) for place in range(len(names))])


def _lines(
    comparison: Comparison, name: str, title: str, description: str, rows: Sequence[tuple[str, float, float]]
) -> Chart | None:
    if not rows:
        return None
    drawn = (
        alt.Chart(data(name))
        .mark_line(point={"filled": True, "size": 18}, strokeWidth=1.6)
        .encode(
            x=alt.X(
                "minutes:Q",
                title="minutes since the log began",
                scale=alt.Scale(nice=False),
                axis=alt.Axis(tickCount=8),
            ),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5)),
            color=alt.Color("arm:N", scale=_arm_colours(comparison)),
            strokeDash=alt.StrokeDash("arm:N", scale=_arm_dashes(comparison)),
            tooltip=[
                alt.Tooltip("arm:N"),
                alt.Tooltip("minutes:Q", title="to minute"),
                alt.Tooltip("value:Q", title=title, format=",.3~f"),
            ],
        )
    )
    return _chart(
        name, title, description, drawn, PLOT_PIXELS, {name: Dataset(("arm", "minutes", "value"), tuple(rows))}
    )


def _arm_dashes(comparison: Comparison) -> alt.Scale:
    names = list(comparison.names)
    dashes = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
    return alt.Scale(domain=names, range=[dashes[place % len(dashes)] for place in range(len(names))])


def _bars(
    comparison: Comparison, name: str, title: str, description: str, rows: Sequence[tuple[str, str, float]]
) -> Chart:
    parts = list(dict.fromkeys(row[0] for row in rows))[:MOST_BARS]
    names = list(comparison.names)
    drawn = (
        alt.Chart(data(name))
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title=None, axis=alt.Axis(tickCount=6), scale=alt.Scale(zero=True)),
            y=alt.Y(
                "part:N",
                sort=parts,
                title=None,
                scale=alt.Scale(domain=parts, paddingInner=0.25),
                axis=_axis(PART_PIXELS),
            ),
            yOffset=alt.YOffset("arm:N", sort=names, scale=alt.Scale(domain=names)),
            color=alt.Color("arm:N", scale=_arm_colours(comparison)),
            tooltip=[alt.Tooltip("part:N", title=" "), alt.Tooltip("arm:N"), alt.Tooltip("value:Q", format=",.4~g")],
        )
    )
    height = max(LANE_PIXELS, BAR_PIXELS * len(names) + 6) * max(2, len(parts))
    return _chart(name, title, description, drawn, height, {name: Dataset(("part", "arm", "value"), tuple(rows))})


def _axis(pixels: int) -> alt.Axis:
    """An axis of names that takes so much of the width."""
    return alt.Axis(minExtent=pixels, maxExtent=pixels, labelLimit=pixels - 8)


def _chart(name: str, title: str, description: str, drawn: Any, height: int, datasets: dict[str, Dataset]) -> Chart:
    sized = drawn.properties(width="container", height=height, autosize=alt.AutoSizeParams(type="fit-x"))
    return make_chart(name, title, description, sized, datasets)
