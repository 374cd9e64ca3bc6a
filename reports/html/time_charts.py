"""Charts of one run over time. All have the same axis of time and the same left edge, so they read as one."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import ceil, floor, log10
from typing import Any, TypeVar

import altair as alt
from lsmlens.analyzer.numbers import counted, duration
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH
from lsmlens.analyzer.units import MIB, MICROS
from lsmlens.reports.html.charts import Chart, Dataset, data, make_chart
from lsmlens.reports.html.palette import HEAT, LEVELS, SERIES, css
from lsmlens.reports.timeline import Timeline

STALLED = "stalled"
MOST_REASONS = len(SERIES)
OTHER_REASONS = "others"
# A window that flushed next to nothing has any amplification; what is this much above the run's is drawn at the top.
HIGHEST = 3.0

PartT = TypeVar("PartT")
# Files in level 0, in classes of one shade each.
FILE_CLASSES = ((1, "1"), (2, "2 to 3"), (4, "4 to 7"), (8, "8 to 15"), (16, "16 to 31"), (32, "32 or more"))
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
        first, last = self._ends()
        days = [datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%d") for millis in (first, last)]
        title = f"{days[0]}, UTC" if days[0] == days[1] else f"{days[0]} to {days[1]}, UTC"
        seconds = (last - first) / 1000
        form = "%H:%M:%S" if seconds < 600 else "%H:%M" if days[0] == days[1] else "%m-%d %H:%M"
        if seconds > 8 * 86400:
            form = "%Y-%m-%d" if seconds > 300 * 86400 else "%m-%d"
        return alt.X(
            field,
            title=title,
            scale=alt.Scale(type="utc", domainMin=first, domainMax=last, nice=False),
            axis=alt.Axis(format=form, tickCount=8),
        )

    def _ends(self) -> tuple[int, int]:
        """The first and the last moment of all charts, in milliseconds."""
        first = self.timeline.first_micros // 1000
        return first, max(self.timeline.last_micros // 1000, first + 1)

    def when(self) -> list[alt.Tooltip]:
        """From when to when a mark is, for its tooltip."""
        return [alt.Tooltip("since:N", title="from"), alt.Tooltip("until:N", title="to")]

    def chart(
        self, name: str, title: str, description: str, layers: list[Any], height: int, datasets: dict[str, Dataset]
    ) -> Chart:
        """A chart of these layers, as wide as the page lets it; a page zooms all of one run together.

        Tooltips have their moments as text: as times they would be in the reader's zone, or without milliseconds.
        """
        form = "%Y-%m-%d %H:%M:%S" + ("" if self.timeline.bins.seconds >= 1 else ".%L")
        said = {name: f"utcFormat(datum.{of}, '{form}')" for name, of in (("since", "start"), ("until", "end"))}
        layers = [layer.transform_calculate(**said) for layer in layers]
        drawn = alt.layer(*layers) if len(layers) > 1 else layers[0]
        drawn = drawn.properties(width="container", height=height, autosize=alt.AutoSizeParams(type="fit-x"))
        made = make_chart(name, title, description, drawn, datasets)
        since, until = self._ends()
        made.spec["usermeta"] = {"time": {"run": self._prefix, "since": since, "until": until}}
        return made

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
        rows.append((*axis.span(index), STALLED, kind, f"{counted(lines, 'line')} of the log"))
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


def levels(axis: TimeAxis) -> Chart:
    """Bytes written by level."""
    timeline = axis.timeline
    seconds = timeline.bins.seconds
    rates = {key: count / MIB / seconds for key, count in timeline.level_bytes.items()}
    return _of_levels(
        axis,
        "levels",
        "Bytes written by level (MiB/s)",
        "MiB per second written into each level over time; level 0 is written by flushes.",
        rates,
        {key: (round(rate * seconds, 2),) for key, rate in rates.items()},
        {
            "level": alt.Tooltip("level:N", title="into level"),
            "mib": alt.Tooltip("mib:Q", title="MiB written", format=",.1f"),
        },
    )


def shape(axis: TimeAxis) -> Chart | None:
    """What each level holds; None where no table is told of."""
    held = {key: one for key, one in axis.timeline.shape.items() if one.bytes}
    if not held:
        return None
    mib = {key: one.bytes / MIB for key, one in held.items()}
    return _of_levels(
        axis,
        "shape",
        "What each level holds (MiB)",
        "The shape of the tree over time: bytes and files of the tables in each level.",
        mib,
        {key: (round(mib[key], 2), one.files) for key, one in held.items()},
        {
            "level": alt.Tooltip("level:N"),
            "mib": alt.Tooltip("mib:Q", title="MiB held", format=",.1f"),
            "files": alt.Tooltip("files:Q"),
        },
    )


def _of_levels(
    axis: TimeAxis,
    name: str,
    title: str,
    description: str,
    heights: Mapping[tuple[int, int], float],
    details: Mapping[tuple[int, int], tuple[float, ...]],
    tooltips: Mapping[str, alt.Tooltip],
) -> Chart:
    """Levels that stand upon each other, by bin and level: `heights`, and `details` that tooltips say besides."""
    levels = sorted({level for _, level in heights})
    names = {level: f"L{level}" for level in levels}
    colours = {level: css(LEVELS[min(max(level, 0), len(LEVELS) - 1)]) for level in levels}
    rows = [
        (*axis.span(index), names[level], low, high, *details[index, level])
        for index, level, low, high in _stacked(heights, levels)
    ]
    level, *others = tooltips
    drawn = axis.bars(name, "level:N", list(names.values()), list(colours.values()), list(tooltips.values()))
    fields = ("start", "end", level, "low", "high", *others)
    return axis.chart(name, title, description, [drawn], PLOT_PIXELS, {axis.name(name): axis.dataset(fields, rows)})


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
        "Memory of the memtables flushed over time, by the reason of the flush.",
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
