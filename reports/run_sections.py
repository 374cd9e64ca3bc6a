"""The sections of one run: over time, column families and levels, stalls, clients, options, data quality."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.measures.tombstones import skipped_per_entry
from lsmlens.analyzer.numbers import bytes_of, counted, duration, percent, plain, size
from lsmlens.analyzer.rules.level_targets import level_shape
from lsmlens.analyzer.rules.memory_split import memory_lines, memory_split
from lsmlens.analyzer.runs.osds import is_osd
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.reports import run_tables
from lsmlens.reports.document import (
    Block,
    ChartBlock,
    Deferred,
    Detail,
    Details,
    Lines,
    Notices,
    Paragraphs,
    Section,
    TableBlock,
)
from lsmlens.reports.moments import moment
from lsmlens.reports.tables import Column, Table, tabulate
from lsmlens.reports.waterfall import waterfall_table, waterfalls

if TYPE_CHECKING:
    from lsmlens.analyzer.measures.statistics_series import StatisticsSeries
    from lsmlens.reports.html.charts import Chart
    from lsmlens.reports.timeline import Timeline

SAMPLE_CHARACTERS = 200
# A statistics dump so soon after the open is of the open itself.
AT_OPEN_SECONDS = 1.0


def run_sections(one: RunAnalysis, selection: Selection, prefix: str, charted: bool) -> Iterator[Section]:
    """What there is to say of a run; `prefix` keeps its anchors and data apart from other runs'."""
    if charted and has_jobs(one):
        charts = Deferred(lambda: time_blocks(one, selection, prefix))
        yield Section(f"{prefix}time", "Over time", (charts,))
    if one.families:
        yield Section(f"{prefix}families", "Column families and levels", tuple(_family_blocks(one, prefix)))
    if one.tombstones or one.iterations:
        yield Section(f"{prefix}tombstones", "Tombstones and iterators", tuple(_tombstone_blocks(one)))
    yield Section(f"{prefix}stalls", "Stalls and pressure", tuple(_stall_blocks(one)))
    yield Section(f"{prefix}clients", "Clients and counters", tuple(_client_blocks(one, prefix)))
    yield Section(f"{prefix}options", "Options", tuple(_option_blocks(one)))
    yield Section(f"{prefix}quality", "Data quality", tuple(_quality_blocks(one)))


def time_blocks(one: RunAnalysis, selection: Selection, prefix: str) -> Iterator[ChartBlock]:
    """The charts of a run over time with their tables; `prefix` keeps their data apart from other runs'."""
    from lsmlens.reports.timeline import measure_timeline

    timeline = measure_timeline(one, selection)
    if timeline is not None:
        yield from _time_blocks(timeline, prefix)


def _time_blocks(timeline: "Timeline", prefix: str) -> Iterator[ChartBlock]:
    from lsmlens.reports.html import time_charts as charts

    axis, tables = charts.TimeAxis(timeline, prefix), run_tables.TimeTables(timeline)
    length, window = duration(timeline.bins.seconds), duration(timeline.window_seconds)
    lanes = f"Above in each lane flushes, below compactions; the stronger, the more of its {length} a job ran."
    if timeline.opens_micros:
        lanes += " Dashed lines: the database was opened."
    yield ChartBlock(charts.activity(axis), tables.activity(), f"{lanes} Table: seconds of flushes / of compactions.")
    note = f"In bins of {length}; what a job wrote is spread over the time it ran."
    yield ChartBlock(charts.levels(axis), tables.levels(), note)
    note = (
        f"A job counts in the {window} in which it finished; a window without flushes has no value. The larger a dot,"
        " the more was flushed; what is over three times the whole is drawn at the top."
    )
    yield ChartBlock(charts.amplification(axis), tables.amplification(), note)
    latency = (
        "Shaded where compactions ran. Lines: means that load generators measured, dotted their 99th percentiles."
        " Diamonds: operations that the OSD kept or said to be slow, not all."
    )
    kv_thread = "By the lines `_kv_sync_thread utilization` of the log."
    level0 = "As the jobs' lsm_state says; between two jobs it is as the first left it."
    memtables = f"By when the flush started, in bins of {length}."
    shape = (
        "Bytes of the tables that the log saw created, and with --manifest of those that are older; files as lsm_state"
        " says. A level that grows past its target waits for compactions."
    )
    optional: tuple[tuple[Chart | None, Callable[[], Table], str], ...] = (
        (charts.latency(axis), tables.latency, latency),
        (charts.kv_thread(axis), tables.kv_thread, kv_thread),
        (charts.level0(axis), tables.level0, level0),
        (charts.memtables(axis), tables.memtables, memtables),
        (charts.shape(axis), tables.shape, shape),
    )
    for chart, table, note in optional:
        if chart is not None:
            yield ChartBlock(chart, table(), note)


def _family_blocks(one: RunAnalysis, prefix: str) -> Iterator[Block]:
    def chart() -> "Chart":
        from lsmlens.reports.html.family_chart import family_chart

        return family_chart(one, prefix)

    yield ChartBlock(chart, run_tables.families(one), is_open=True, caption="By column family", detail=Detail.FULL)
    yield TableBlock("By level written to", run_tables.levels(one))
    if one.flushes:
        yield TableBlock("What flushes wrote of their memtables", run_tables.flushes(one))
    if has_jobs(one):
        yield TableBlock("Why flushes and compactions ran", run_tables.reasons(one))
    if one.windows:
        yield TableBlock("By time", run_tables.windows(one.windows))


def _tombstone_blocks(one: RunAnalysis) -> Iterator[Block]:
    said = tuple(tombstone_lines(one))
    if said:
        yield Paragraphs(said)
    if one.tombstones:
        note = (
            "Of the tables that live at the log's end; those from before the log are not seen. Marked on deletion: in"
            " tables that compaction on deletion marks wherever they lie; perhaps marked: if they lie close together."
        )
        yield TableBlock("Tombstones by column family and level", run_tables.tombstones(one), note)
    if one.iterations:
        yield TableBlock("Iterators: by counters, and by lines of slow operations", run_tables.iterations(one))


def tombstone_lines(one: RunAnalysis) -> Iterator[str]:
    """What listings step over in sum, what takes it, and how compaction on deletion is set."""
    levels, collector = one.tombstones, one.collector
    total, entries = sum(level.tombstones for level in levels), sum(level.entries for level in levels)
    if total:
        waiting = sum(level.tombstones for level in levels if level.is_due is False)
        each = total / max(1, entries - total)
        yield (
            f"{plain(total)} tombstones lie in {counted(len(levels), 'level')} of column families, {each:.2f} for each"
            f" other entry; for {plain(waiting)} of them no compaction is due."
        )
        state = {True: "is on", False: "is off", None: "is not known to be on"}[collector.is_on]
        marked, markable = sum(level.marked for level in levels), sum(level.markable for level in levels)
        yield (
            f"Compaction on deletion ({plain(collector.trigger)} deletions in {plain(collector.window)} entries in a"
            f" row) {state}. By their counts it marks tables with {plain(marked)} of these tombstones, perhaps those"
            f" with {plain(markable)}, and not those with {plain(total - marked - markable)}."
        )
    skipped = skipped_per_entry(one.series)
    if skipped is not None:
        yield f"Iterators stepped over {skipped:.2f} entries for each one they returned, by statistics dumps."


def _stall_blocks(one: RunAnalysis) -> Iterator[Block]:
    said = tuple(f"{line[0].upper()}{line[1:]}." for line in stall_lines(one))
    if said:
        yield Paragraphs(said)
    if one.pressure:
        caption = "How near column families came to stalls, at worst and on average"
        yield TableBlock(caption, run_tables.pressure(one.pressure))


def stall_lines(one: RunAnalysis) -> Iterator[str]:
    """Stalls by cause, from warnings and from statistics dumps, and what BlueStore says."""
    run, series = one.run, one.series
    for (family, kind, cause), count in sorted(run.stall_lines.items()):
        yield f"{counted(count, 'line')}: {kind} for {cause.replace('_', ' ')}, {family}"
    if series is not None:
        yield _statistics_dumps(series)
    if run.slow_operations:
        longest = max(seconds for seconds, _ in run.slow_places.values())
        yield f"{counted(len(run.slow_operations), 'line')}: slow operation observed, the longest {duration(longest)}"
    if run.kv_thread:
        busiest = max(time.busy_share for time in run.kv_thread)
        seconds, idle = sum(time.seconds for time in run.kv_thread), sum(time.idle_seconds for time in run.kv_thread)
        yield f"the kv thread was busy {percent(1 - idle / seconds)} of {duration(seconds)}, at most {percent(busiest)}"
    total = one.total_amplification
    if total is not None:
        written = f"WAL {bytes_of(total.wal_bytes)} and tables {bytes_of(total.table_bytes)}"
        reach = (
            f"by counters since the daemon started: {written}, for each byte of the WAL"
            if total.is_by_counters
            else f"as far as the dumps reach: {written} for {bytes_of(total.user_bytes)} from users"
        )
        yield f"total write amplification {total.ratio:.2f}, {reach}"


def _statistics_dumps(series: "StatisticsSeries") -> str:
    cut = sum(point.is_cut for point in series.points)
    last = series.last_of_opens
    uptime = last[-1].uptime_seconds if last else None
    if uptime is not None and uptime < AT_OPEN_SECONDS:
        return f"{counted(len(series.points), 'statistics dump')}, all at the open: they tell nothing of what followed"
    after = f"{duration(uptime)} after the open" if uptime is not None else "at an unknown time"
    seconds = series.stall_seconds
    stalled = "stall time is not known" if seconds is None else f"writes had stalled for {duration(seconds)}"
    return (
        f"{counted(len(series.points), 'statistics dump')}{f', {cut} of them cut' if cut else ''}, the last {after};"
        f" by then {stalled}, users had written {bytes_of(series.user_bytes)}, the WAL {bytes_of(series.wal_bytes)}"
    )


def _client_blocks(one: RunAnalysis, prefix: str) -> Iterator[Block]:
    yield from _tables(
        ("What load generators measured", run_tables.client_results(one)),
        ("What load generators measured over time", run_tables.client_series(one)),
        ("Where operations kept by the OSD spent their time", run_tables.stages(one)),
    )
    table = waterfall_table(one)
    if table is not None:

        def chart() -> "Chart":
            from lsmlens.reports.html.waterfall_chart import waterfall_chart

            drawn = waterfall_chart(one, prefix)
            assert drawn is not None
            return drawn

        yield ChartBlock(
            chart,
            table,
            "One of each moment; those about the same one waited for the same thing. All times since it began.",
            caption="The slowest operations, stage by stage",
            as_text=tuple(waterfalls(one)),
            detail=Detail.FULL,
        )
    coincidences = "What was slow while flushes, compactions and stalls ran, against chance"
    yield from _tables(
        (coincidences, run_tables.coincidences(one)),
        ("Counters", run_tables.counters(one)),
        ("Counters from each perf dump to the next", run_tables.counter_intervals(one)),
    )
    if one.cross_check is not None and one.cross_check.difference is not None:
        said = (
            f"Tables written since then by the log: {bytes_of(one.cross_check.log_bytes)},"
            f" {percent(one.cross_check.difference)} off BlueFS's own count."
        )
        yield Paragraphs((said,))


def _tables(*captioned: tuple[str, Table | None]) -> Iterator[TableBlock]:
    return (TableBlock(caption, table) for caption, table in captioned if table is not None)


def _option_blocks(one: RunAnalysis) -> Iterator[Block]:
    said = tuple(f"{line[0].upper()}{line[1:]}." for line in option_lines(one))
    if said:
        yield Paragraphs(said)
    if not one.options:
        return
    table = run_tables.options(one)
    if table.rows:
        yield TableBlock("Options that differ from the release's defaults", table)
    else:
        yield Paragraphs(("No option with a known default differs from it.",))


def option_lines(one: RunAnalysis) -> Iterator[str]:
    """How the options divide an OSD's memory, where its levels fit, and what schedules its operations."""
    if not is_osd(one.run):
        return
    split = memory_split(one)
    if split is not None:
        yield from memory_lines(split)
    shape = level_shape(one)
    if shape is not None:
        steps = ", ".join(size(step) for step in shape.steps())
        yield (
            f"one level more of a family fits on a block.db of {steps}: level base {size(shape.base_bytes)}, multiplier"
            f" {shape.multiplier}"
        )
    queue = one.beside.config_show.get("osd_op_queue")
    if isinstance(queue, str):
        profile = one.beside.config_show.get("osd_mclock_profile")
        of = f", profile {profile}" if queue == "mclock_scheduler" and isinstance(profile, str) else ""
        yield f"operations are scheduled by {queue}{of}: `lsmlens qos` says of the same files what it allots"


def _quality_blocks(one: RunAnalysis) -> Iterator[Block]:
    run, quality = one.run, one.run.quality
    if one.notes:
        detail = Detail.FULL if has_jobs(one) else Detail.BRIEF
        yield Notices(tuple(f"{note[0].upper()}{note[1:]}." for note in one.notes), detail=detail)
    about = "about " if quality.lines_are_estimated else ""
    read = (
        f"Read {about}{plain(quality.lines)} lines, {size(quality.bytes)};"
        f" {plain(sum(run.event_counts.values()))} events, {plain(quality.duplicates_removed)} repeats removed,"
        f" {plain(quality.events_rejected)} rejected."
    )
    yield Paragraphs(tuple(filter(None, (read, _opens(one)))))
    if run.event_counts:
        table = tabulate(_EVENTS, sorted(run.event_counts.items()))
        yield Details(f"{len(run.event_counts)} kinds of events", (TableBlock("", table),))
    members = tuple(sorted(run.members))
    yield Details(f"{counted(len(members), 'file')} read", (Lines(members),))
    if quality.not_understood:
        samples = tuple(
            f"{line.member if line.line is None else f'{line.member}:{line.line}'}: {line.reason}:"
            f" {line.text[:SAMPLE_CHARACTERS]}"
            for line in quality.not_understood
        )
        yield Details("The first lines that were not understood", (Lines(samples),))


_EVENTS: tuple[Column[tuple[str, int]], ...] = (
    Column("event", lambda one: one[0]),
    Column("count", lambda one: plain(one[1])),
)


def _opens(one: RunAnalysis) -> str:
    sessions = one.run.sessions
    opened = [session.opened_at_millis for session in sessions if session.opened_at_millis is not None]
    if not sessions:
        return ""
    last = f", the last at {moment(max(opened), one.run.utc_offset_seconds)}" if opened else ""
    begins = "" if len(opened) == len(sessions) else "The log begins while the database is open; "
    return f"{begins}{counted(len(opened), 'open')} of the database{last}."


def has_jobs(one: RunAnalysis) -> bool:
    """Whether any flush, compaction or move finished."""
    return bool(one.total.flushes or one.total.compactions or one.total.trivial_moves)
