"""The report of `lsmlens replay`: what a workload cost under each set of options."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lsmlens.analyzer.metrics import LABELS
from lsmlens.analyzer.numbers import counted, duration, mib, percent, plain, ratio, setting, size
from lsmlens.reports.document import (
    Block,
    Detail,
    Document,
    Notices,
    Paragraphs,
    Section,
    Statement,
    TableBlock,
    Tone,
    VerdictBlock,
)
from lsmlens.reports.tables import Table
from lsmlens.tuners.engines.read_counts import ReadCounts
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.replays.measurement import Mode
from lsmlens.tuners.replays.outcome import Outcome, OutcomeFigures

FAMILIES_NAMED = 4
VALUE_WIDTH = 24
UNCHANGED = 0.005  # of the bytes written, and said to be neither better nor worse


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What there is to report: the workload by its name and length, and the outcome of each set of options.

    `workload_notes` say what reading the workload had to leave out or to assume.
    """

    workload: str
    workload_seconds: float
    outcomes: tuple[Outcome, ...]
    workload_notes: tuple[str, ...] = ()


def compose(report: ReplayReport) -> Document:
    """The report of replays: what each set of options came to, then tables, one column for each set."""
    outcomes = [one for one in report.outcomes if one.figures is not None]
    sections = (
        Section("verdict", "Verdict", tuple(_verdict(report))),
        Section("costs", "Writes and what they cost", tuple(_cost_blocks(outcomes))),
        Section("options", "Options", tuple(_option_blocks(report.outcomes))),
        Section("reading", "How to read this", (Paragraphs(tuple(_legend(outcomes)), detail=Detail.BRIEF),)),
        Section("quality", "Data quality", tuple(_quality(report))),
    )
    facts = tuple((one.name, _played(one)) for one in report.outcomes)
    more = "More: --full (column families, options, spreads) · -o replay.html"
    title = f"{report.workload}, {duration(report.workload_seconds)} of its time"
    return Document("RocksDB replay", title, facts, sections, more)


def _played(outcome: Outcome) -> str:
    if outcome.figures is None:
        return "no figures"
    lost = f", {counted(len(outcome.failures), 'run')} failed" if outcome.failures else ""
    return (
        f"{outcome.engine}, RocksDB {outcome.rocksdb_version}; {outcome.mode}, scale {outcome.scale:g},"
        f" {counted(len(outcome.seeds), 'seed')}{lost}"
    )


def _verdict(report: ReplayReport) -> Iterator[Block]:
    """Each set of options in a line, with the bytes it wrote against the first's."""
    first = next((one.figures for one in report.outcomes if one.figures is not None), None)
    for one in report.outcomes:
        yield VerdictBlock(one.name, tuple(_statements(one, first)))


def _statements(outcome: Outcome, first: OutcomeFigures | None) -> Iterator[Statement]:
    figures = outcome.figures
    if figures is None:
        yield Statement("no run finished", Tone.CRITICAL)
        return
    written, baseline = _written(figures), _written(first) if first is not None else 0
    yield Statement(f"{size(written)} written to tables")
    if figures is not first and baseline:
        changed = written / baseline - 1
        tone = Tone.NEUTRAL if abs(changed) < UNCHANGED else Tone.WORSE if changed > 0 else Tone.BETTER
        yield Statement(f"{100 * changed:+.1f} %", tone)
    if figures.total.write_amplification is not None:
        yield Statement(f"write amplification {figures.total.write_amplification:.2f}")
    if outcome.mode is Mode.PACED and figures.stall_seconds is not None:
        stalled = figures.stall_seconds
        yield Statement(f"stalled {duration(stalled)}", Tone.WARNING) if stalled else Statement("no stalls")
    if outcome.failures:
        yield Statement(f"{counted(len(outcome.failures), 'run')} failed", Tone.WARNING)


def _written(figures: OutcomeFigures) -> int:
    return figures.total.flush_bytes + figures.total.compaction_output_bytes


def _cost_blocks(outcomes: Sequence[Outcome]) -> Iterator[Block]:
    if not outcomes:
        return
    yield TableBlock("", _costs(outcomes), detail=Detail.BRIEF)
    yield TableBlock("Compaction statistics", _statistics(outcomes))
    for caption, table in (
        ("By column family: flush MiB / compaction MiB / LSM WA", _families(outcomes)),
        ("Puts that died in memory", _died_in_memory(outcomes)),
        ("Spread over the seeds: lowest to highest", _spreads(outcomes)),
    ):
        if table.rows:
            yield TableBlock(caption, table)


def _option_blocks(outcomes: Sequence[Outcome]) -> Iterator[Block]:
    differing = _differing_options(outcomes)
    if differing.rows:
        yield TableBlock("Options that differ, as replayed", differing)


def _legend(outcomes: Sequence[Outcome]) -> Iterator[str]:
    scaled = sorted({one.scale for one in outcomes if one.scale != 1})
    if scaled:
        by = ", ".join(f"{scale:g}" for scale in scaled)
        yield (
            f"Replayed with every size and population divided by {by}; bytes, records and compaction seconds are"
            " multiplied back, counts, ratios and rates are as replayed."
        )
    yield "* as replayed on this machine."
    if any(one.mode is Mode.SETTLED for one in outcomes):
        yield (
            "Settled: the database finished its compactions after each step, so that bytes are repeatable; stalls and"
            " seconds say nothing of a busy one (--mode paced does)."
        )
    if any(one.mode is Mode.PACED for one in outcomes):
        yield "Latencies count from the moment the workload meant to write."


def _quality(report: ReplayReport) -> Iterator[Block]:
    """The workload's notes, then each of the outcomes' once, with the options it is of unless it is of all."""
    said = [f"workload: {note}" for note in report.workload_notes]
    notes: dict[str, list[str]] = {}
    for outcome in report.outcomes:
        for note in outcome.quality:
            notes.setdefault(note, []).append(outcome.name)
    for note, names in notes.items():
        said.append(note if len(names) == len(report.outcomes) else f"{', '.join(names)}: {note}")
    if said:
        yield Notices(tuple(said), detail=Detail.BRIEF)


def _columns(outcomes: Sequence[Outcome]) -> list[OutcomeFigures]:
    return [one.figures for one in outcomes if one.figures is not None]


def _header(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    return ("", *(one.name for one in outcomes))


def _statistics(outcomes: Sequence[Outcome]) -> Table:
    columns = [one.statistics for one in _columns(outcomes)]
    rows = [(label, *(plain(getattr(column, name)) for column in columns)) for name, label in LABELS.items()]
    return Table(_header(outcomes), tuple(rows))


_COSTS: tuple[tuple[str, Callable[[OutcomeFigures], str]], ...] = (
    ("Records there before", lambda one: plain(one.preloaded_records)),
    ("Records written", lambda one: plain(one.records)),
    ("Written by the workload (MiB)", lambda one: mib(one.user_bytes)),
    ("Written to the WAL (MiB)", lambda one: "-" if one.wal_bytes is None else mib(one.wal_bytes)),
    ("Flushes", lambda one: plain(one.total.flushes)),
    ("Written by flushes (MiB)", lambda one: mib(one.total.flush_bytes)),
    ("Written by compactions (MiB)", lambda one: mib(one.total.compaction_output_bytes)),
    ("LSM write amplification", lambda one: ratio(one.total.write_amplification)),
    ("Total write amplification", lambda one: ratio(one.total_write_amplification)),
    ("Records left in memtables", lambda one: plain(one.memtable_entries)),
    ("Tables at the end (MiB)", lambda one: mib(one.space_bytes)),
    ("All files at the most (MiB)", lambda one: mib(one.peak_space_bytes)),
    ("Writes stalled (seconds)", lambda one: plain(one.stall_seconds, 3)),
    ("Sorted runs a read looks into", lambda one: plain(one.sorted_runs, 2)),
    ("CPU (seconds)*", lambda one: plain(one.cpu_seconds, 3)),
    ("Memory at the most (MiB)*", lambda one: mib(one.memory_bytes)),
    ("Replay took (seconds)*", lambda one: plain(one.wall_seconds, 3)),
)


_READS: tuple[tuple[str, Callable[[ReadCounts], str]], ...] = (
    ("Gets", lambda one: plain(one.gets)),
    ("Blocks looked into for a Get", lambda one: plain(one.blocks_per_get, 2)),
    ("Iterators", lambda one: plain(one.seeks)),
    ("Blocks looked into for one", lambda one: plain(one.blocks_per_seek, 2)),
    ("Tombstones stepped over for each step", lambda one: plain(one.tombstones_per_next, 3)),
    ("Blocks found in the cache", lambda one: percent(one.cache_hit_ratio)),
    ("Filter checks that spared a table", lambda one: percent(one.filters_useful_share)),
)


def _costs(outcomes: Sequence[Outcome]) -> Table:
    columns = _columns(outcomes)
    rows = [(label, *(show(column) for column in columns)) for label, show in _COSTS]
    if any(column.reads.gets or column.reads.seeks for column in columns):
        rows += [(label, *(show(column.reads) for column in columns)) for label, show in _READS]
    if any(column.latencies for column in columns):
        rows += [
            (f"Write latency {_percentile(percent)} (ms)*", *(_latency(column, percent) for column in columns))
            for percent in (50.0, 99.0, 99.9, 99.99, 100.0)
        ]
    return Table(_header(outcomes), tuple(rows))


def _percentile(percent: float) -> str:
    return "at the most" if percent == 100 else f"p{percent:g}"


def _latency(figures: OutcomeFigures, percent: float) -> str:
    return plain(figures.latencies.response_micros[percent] / 1000, 3) if figures.latencies else "-"


def _families(outcomes: Sequence[Outcome]) -> Table:
    columns = [{family.name: family for family in one.families} for one in _columns(outcomes)]
    names = sorted({name for column in columns for name in column})
    rows = [
        (
            name or '""',
            *(
                f"{mib(column[name].flush_bytes)} / {mib(column[name].compaction_output_bytes)}"
                f" / {ratio(column[name].write_amplification)}"
                if name in column
                else "-"
                for column in columns
            ),
        )
        for name in names
    ]
    return Table(_header(outcomes), tuple(rows))


def _died_in_memory(outcomes: Sequence[Outcome]) -> Table:
    columns = [{view.name: view for view in one.flushes} for one in _columns(outcomes)]
    names = sorted({name for column in columns for name in column})
    rows = [
        (
            name or '""',
            *(percent(column[name].dropped_puts_share) if name in column else "-" for column in columns),
        )
        for name in names
        if any(name in column and column[name].dropped_puts_share for column in columns)
    ]
    return Table(_header(outcomes), tuple(rows))


_SPREAD_LABELS = {
    "compactions": "Compactions",
    "flush_mib": "Written by flushes (MiB)",
    "total_output_size_mib": "Written by compactions (MiB)",
    "output_input_ratio_of_sums": "Output/Input Ratio of Sums",
    "write_amplification": "LSM write amplification",
    "stall_seconds": "Writes stalled (seconds)",
    "cpu_seconds": "CPU (seconds)*",
    "sorted_runs": "Sorted runs a read looks into",
    "blocks_per_get": "Blocks looked into for a Get",
    "p99_response_micros": "Write latency p99 (µs)*",
}


def _spreads(outcomes: Sequence[Outcome]) -> Table:
    rows = []
    if all(len(one.seeds) == 1 for one in outcomes):
        return Table(_header(outcomes), ())
    for name, label in _SPREAD_LABELS.items():
        spreads = [one.spreads.get(name) for one in outcomes]
        if any(spreads):
            rows.append((label, *(f"{plain(one.low, 4)} … {plain(one.high, 4)}" if one else "-" for one in spreads)))
    return Table(_header(outcomes), tuple(rows))


def _differing_options(outcomes: Sequence[Outcome]) -> Table:
    """Options that are not the same in all sets, of families that all have; alike families together."""
    shared = [name for name in outcomes[0].options.families if all(name in one.options.families for one in outcomes)]
    values = [_flat(one.options, shared) for one in outcomes]
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for name, family in sorted({place for one in values for place in one}):
        found = tuple(one.get((name, family), "-") for one in values)
        if len(set(found)) > 1:
            alike.setdefault((name, found), []).append(family)
    rows = [
        (name, _named(families), *(_short(name, value) for value in found)) for (name, found), families in alike.items()
    ]
    return Table(("option", "of", *(one.name for one in outcomes)), tuple(rows), left=(0, 1))


def _flat(options: ResolvedOptions, families: Sequence[str]) -> dict[tuple[str, str], str]:
    """Value by option and family, the database's under no family."""
    flat = {(name, ""): value for name, value in options.database.items()}
    for each in (options.families, options.tables):
        for family in families:
            flat |= {(name, family): value for name, value in each.get(family, {}).items()}
    return flat


def _short(name: str, value: str) -> str:
    shown = setting(name, value)
    return shown if len(shown) <= VALUE_WIDTH else shown[: VALUE_WIDTH - 1] + "…"


def _named(families: Sequence[str]) -> str:
    if families == [""]:
        return "database"
    if len(families) <= FAMILIES_NAMED:
        return ", ".join(families)
    return f"{', '.join(families[:FAMILIES_NAMED])} and {len(families) - FAMILIES_NAMED} more"
