"""Bytes over time: by the level written to, by the reason of flushes, and the write amplification they come to."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import altair as alt
from lsmlens.analyzer.numbers import duration
from lsmlens.analyzer.units import MIB, MICROS
from lsmlens.reports.html.charts import Chart, data
from lsmlens.reports.html.palette import LEVELS, SERIES, css
from lsmlens.reports.html.time_axis import PLOT_PIXELS, TimeAxis

MOST_REASONS = len(SERIES)
OTHER_REASONS = "others"
# A window that flushed next to nothing has any amplification; what is this much above the run's is drawn at the top.
HIGHEST = 3.0

PartT = TypeVar("PartT")


def levels(axis: TimeAxis) -> Chart:
    """Bytes written by level."""
    timeline = axis.timeline
    seconds = timeline.bins.seconds
    levels = sorted({level for _, level in timeline.level_bytes})
    rates = {key: count / MIB / seconds for key, count in timeline.level_bytes.items()}
    names = {level: f"L{level}" for level in levels}
    colours = {level: css(LEVELS[min(max(level, 0), len(LEVELS) - 1)]) for level in levels}
    rows = [
        (*axis.span(index), names[level], low, high, round((rates[index, level]) * seconds, 2))
        for index, level, low, high in _stacked(rates, levels)
    ]
    tooltip = [
        alt.Tooltip("level:N", title="into level"),
        alt.Tooltip("mib:Q", title="MiB written", format=",.1f"),
    ]
    fields = ("start", "end", "level", "low", "high", "mib")
    drawn = axis.bars("levels", "level:N", list(names.values()), list(colours.values()), tooltip)
    return axis.chart(
        "levels",
        "Bytes written by level (MiB/s)",
        "MiB per second written into each level over time; level 0 is written by flushes.",
        [drawn],
        PLOT_PIXELS,
        {axis.name("levels"): axis.dataset(fields, rows)},
    )


def memtables(axis: TimeAxis) -> Chart | None:
    """Memory of the memtables that flushes took in, by reason; None without flushes that say it."""
    timeline = axis.timeline
    if not timeline.flushed:
        return None
    reasons = sorted({reason for _, reason in timeline.flushed})
    shown = reasons if len(reasons) <= MOST_REASONS else reasons[: MOST_REASONS - 1]
    names = shown if len(shown) == len(reasons) else [*shown, OTHER_REASONS]
    mib: dict[tuple[int, str], float] = defaultdict(float)
    flushes: dict[tuple[int, str], int] = defaultdict(int)
    for (index, reason), one in timeline.flushed.items():
        key = index, reason if reason in shown else OTHER_REASONS
        mib[key] += one.memory_bytes / MIB
        flushes[key] += one.flushes
    rows = [
        (*axis.span(index), reason, low, high, flushes[index, reason], timeline.waiting_memtables.get(index, 0))
        for index, reason, low, high in _stacked(mib, names)
    ]
    fields = ("start", "end", "reason", "low", "high", "flushes", "waiting")
    tooltip = [
        alt.Tooltip("reason:N", title="reason"),
        alt.Tooltip("flushes:Q"),
        alt.Tooltip("waiting:Q", title="most memtables waiting"),
    ]
    colours = [css(SERIES[place]) for place in range(len(names))]
    drawn = axis.bars("memtables", "reason:N", names, colours, tooltip)
    return axis.chart(
        "memtables",
        "Memtables flushed, by reason (MiB of memory)",
        "Memory of the memtables that flushes took in over time, by the reason of the flush.",
        [drawn],
        PLOT_PIXELS,
        {axis.name("memtables"): axis.dataset(fields, rows)},
    )


def amplification(axis: TimeAxis) -> Chart:
    """Write amplification by window, and since the beginning."""
    timeline = axis.timeline
    window, so_far = f"{duration(timeline.window_seconds)} windows", "since the beginning"
    flushed = written = 0
    rows = []
    width = round(timeline.window_seconds * MICROS)
    for start, sums in timeline.windows:
        flushed += sums.flush_bytes
        written += sums.flush_bytes + sums.compaction_output_bytes
        millis = (start // 1000, (start + width) // 1000, (start + width // 2) // 1000)
        sizes = (round(sums.flush_bytes / MIB, 2), round(sums.compaction_output_bytes / MIB, 2))
        for name, amplification in ((window, sums.write_amplification), (so_far, flushed and written / flushed)):
            if amplification:
                rows.append((*millis, name, round(amplification, 4), *sizes))
    most = HIGHEST * max((row[4] for row in rows if row[3] == so_far), default=1.0)
    highest = min(most, max((row[4] for row in rows), default=1.0))
    encoding: dict[str, Any] = {
        "y": alt.Y(
            "amplification:Q",
            title=None,
            axis=alt.Axis(tickCount=5),
            scale=alt.Scale(domainMin=0, domainMax=highest, clamp=True, nice=False),
        ),
        "color": alt.Color("of:N", scale=alt.Scale(domain=[window, so_far], range=[css("series-1"), css("series-2")])),
        "tooltip": [
            *axis.when(),
            alt.Tooltip("of:N"),
            alt.Tooltip("amplification:Q", title="write amplification", format=".3f"),
            alt.Tooltip("flushed:Q", title="MiB flushed", format=",.1f"),
            alt.Tooltip("compacted:Q", title="MiB by compactions", format=",.1f"),
        ],
    }
    base = alt.Chart(data(axis.name("windows"))).encode(**encoding)
    size = alt.Size("flushed:Q", legend=None, scale=alt.Scale(range=[8, 90], domainMin=0))
    layers = [
        base.mark_line(strokeWidth=1).encode(x=axis.x("middle:T", leads=True)).transform_filter(_is_of(window)),
        base.mark_point(filled=True, opacity=1)
        .encode(x=axis.x("middle:T"), size=size)
        .transform_filter(_is_of(window)),
        base.mark_line(strokeDash=[6, 3]).encode(x=axis.x("middle:T")).transform_filter(_is_of(so_far)),
    ]
    fields = ("start", "end", "middle", "of", "amplification", "flushed", "compacted")
    return axis.chart(
        "amplification",
        "LSM write amplification over time",
        "Write amplification in each window of time, and since the beginning of the log.",
        layers,
        PLOT_PIXELS,
        {axis.name("windows"): axis.dataset(fields, rows)},
    )


def _is_of(name: str) -> alt.FieldEqualPredicate:
    return alt.FieldEqualPredicate(field="of", equal=name)


def _stacked(
    values: Mapping[tuple[int, PartT], float], parts: Sequence[PartT]
) -> Iterator[tuple[int, PartT, float, float]]:
    """Each bin's parts upon each other, in their order: bin, part, from, to."""
    heights: dict[int, float] = defaultdict(float)
    places = {part: place for place, part in enumerate(parts)}
    for (index, part), value in sorted(values.items(), key=lambda item: (item[0][0], places[item[0][1]])):
        low = heights[index]
        heights[index] = low + value
        yield index, part, round(low, 3), round(low + value, 3)
