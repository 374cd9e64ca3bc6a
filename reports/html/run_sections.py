"""The sections of one run: over time, column families and levels, statistics, stalls, clients, options, quality."""

from collections.abc import Iterator

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.selection import Selection
from lsmlens.reports import client_tables, run_tables
from lsmlens.reports.document import Block, ChartBlock, Details, Lines, Notices, Paragraphs, Section, TableBlock
from lsmlens.reports.html.family_chart import family_chart
from lsmlens.reports.html.time_charts import TimeCharts
from lsmlens.reports.html.waterfall_chart import waterfall_chart
from lsmlens.reports.numbers import plain, size
from lsmlens.reports.tables import Table
from lsmlens.reports.text_life import stall_lines
from lsmlens.reports.time_bins import duration
from lsmlens.reports.time_tables import TimeTables
from lsmlens.reports.timeline import Timeline, measure_timeline
from lsmlens.reports.waterfall import waterfall_table

SAMPLE_CHARACTERS = 200


def run_sections(one: RunAnalysis, selection: Selection, prefix: str, charted: bool) -> Iterator[Section]:
    """What there is to say of a run; `prefix` keeps its anchors and data apart from other runs'."""
    timeline = measure_timeline(one, selection) if charted and has_jobs(one) else None
    if timeline is not None:
        yield Section(f"{prefix}time", "Over time", tuple(time_blocks(timeline, prefix)))
    if one.families:
        yield Section(f"{prefix}families", "Column families and levels", tuple(_family_blocks(one, prefix)))
    if has_jobs(one):
        columns = [(one.run.name, one.statistics)]
        table = TableBlock('The published "Compaction Statistics" table', run_tables.statistics(columns))
        yield Section(f"{prefix}statistics", "Compaction statistics", (table,))
    stalls = tuple(_stall_blocks(one))
    if stalls:
        yield Section(f"{prefix}stalls", "Stalls and pressure", stalls)
    clients = tuple(_client_blocks(one, prefix))
    if clients:
        yield Section(f"{prefix}clients", "Clients and counters", clients)
    if one.options:
        yield Section(f"{prefix}options", "Options", tuple(_option_blocks(one)))
    yield Section(f"{prefix}quality", "Data quality", tuple(_quality_blocks(one)))


def time_blocks(timeline: Timeline, prefix: str) -> Iterator[Block]:
    """The charts of a run over time with their tables; `prefix` keeps their data apart from other runs'."""
    charts, tables = TimeCharts(timeline, prefix), TimeTables(timeline)
    length, window = duration(timeline.bins.seconds), duration(timeline.window_seconds)
    lanes = f"Above in each lane flushes, below compactions; the stronger, the more of its {length} a job ran."
    if timeline.opens_micros:
        lanes += " Dashed lines: the database was opened."
    yield ChartBlock(charts.activity(), tables.activity(), f"{lanes} Table: seconds of flushes / of compactions.")
    note = f"In bins of {length}; what a job wrote is spread over the time it ran."
    yield ChartBlock(charts.levels(), tables.levels(), note)
    note = (
        f"A job counts in the {window} in which it finished; a window without flushes has no value. The larger a dot,"
        " the more was flushed; what is over three times the whole is drawn at the top."
    )
    yield ChartBlock(charts.amplification(), tables.amplification(), note)
    latency = charts.latency()
    if latency is not None:
        note = (
            "Shaded where compactions ran. Lines: means that load programs measured, dotted their 99th percentiles."
            " Diamonds: operations that the OSD kept or said to be slow, not all."
        )
        yield ChartBlock(latency, tables.latency(), note)
    kv_thread = charts.kv_thread()
    if kv_thread is not None:
        yield ChartBlock(kv_thread, tables.kv_thread(), "By the lines `_kv_sync_thread utilization` of the log.")
    level0 = charts.level0()
    if level0 is not None:
        yield ChartBlock(
            level0, tables.level0(), "As the jobs' lsm_state says; between two jobs it is as the first left it."
        )
    memtables = charts.memtables()
    if memtables is not None:
        yield ChartBlock(memtables, tables.memtables(), f"By when the flush started, in bins of {length}.")


def _family_blocks(one: RunAnalysis, prefix: str) -> Iterator[Block]:
    yield ChartBlock(family_chart(one, prefix), run_tables.families(one), is_open=True)
    yield TableBlock("By level written to", run_tables.levels(one))
    if one.flushes:
        yield TableBlock("What flushes took in", run_tables.flushes(one))
    if one.windows:
        yield TableBlock("By time", run_tables.windows(one.windows))


def _stall_blocks(one: RunAnalysis) -> Iterator[Block]:
    said = tuple(f"{line[0].upper()}{line[1:]}." for line in stall_lines(one))
    if said:
        yield Paragraphs(said)
    if one.pressure:
        caption = "How near column families came to stalls, at worst and on average"
        yield TableBlock(caption, run_tables.pressure(one.pressure))


def _client_blocks(one: RunAnalysis, prefix: str) -> Iterator[Block]:
    yield from _tables(
        ("What load programs measured", client_tables.client_results(one)),
        ("What load programs measured over time", client_tables.client_series(one)),
        ("Where operations kept by the OSD spent their time", client_tables.stages(one)),
    )
    chart, table = waterfall_chart(one, prefix), waterfall_table(one)
    if chart is not None and table is not None:
        note = "One of each moment; those about the same one waited for the same thing. All times since it began."
        yield ChartBlock(chart, table, note)
    coincidences = "What was slow while flushes, compactions and stalls ran, against chance"
    yield from _tables(
        (coincidences, client_tables.coincidences(one)),
        ("Counters", run_tables.counters(one)),
        ("Counters from each perf dump to the next", run_tables.counter_intervals(one)),
    )


def _tables(*captioned: tuple[str, Table | None]) -> Iterator[TableBlock]:
    return (TableBlock(caption, table) for caption, table in captioned if table is not None)


def _option_blocks(one: RunAnalysis) -> Iterator[Block]:
    table = run_tables.options(one)
    if table.rows:
        yield TableBlock("Options that differ from the release's defaults", table)
    else:
        yield Paragraphs(("All options whose defaults are known have them.",))


def _quality_blocks(one: RunAnalysis) -> Iterator[Block]:
    run, quality = one.run, one.run.quality
    if one.notes:
        yield Notices(tuple(f"{note[0].upper()}{note[1:]}." for note in one.notes))
    about = "about " if quality.lines_are_estimated else ""
    yield Paragraphs(
        (
            f"Read {about}{plain(quality.lines)} lines, {size(quality.bytes)};"
            f" {plain(sum(run.event_counts.values()))} events, {plain(quality.duplicates_removed)} repeats removed,"
            f" {plain(quality.events_rejected)} rejected.",
        )
    )
    events = [(kind, plain(count)) for kind, count in sorted(run.event_counts.items())]
    if events:
        table = TableBlock("Events by kind", Table(("event", "count"), tuple(events)))
        yield Details(f"{len(events)} kinds of events", (table,))
    members = tuple(sorted(run.members))
    yield Details(f"{files(len(members))} read", (Lines(members),))
    if quality.not_understood:
        samples = tuple(
            f"{line.member if line.line is None else f'{line.member}:{line.line}'}: {line.reason}:"
            f" {line.text[:SAMPLE_CHARACTERS]}"
            for line in quality.not_understood
        )
        yield Details("The first lines that were not understood", (Lines(samples),))


def has_jobs(one: RunAnalysis) -> bool:
    """Whether there is anything to draw."""
    return bool(one.total.flushes or one.total.compactions or one.total.trivial_moves)


def files(count: int) -> str:
    """A number of files in words."""
    return f"{count} file" if count == 1 else f"{count} files"
