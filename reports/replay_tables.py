"""What replays came to, as titled tables: one column for each set of options."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lsmlens.analyzer.metrics import LABELS
from lsmlens.reports.numbers import mib, plain, ratio, share
from lsmlens.reports.tables import Table
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.replays.outcome import Outcome, OutcomeFigures

OPTIONS_SHOWN = 40
FAMILIES_NAMED = 4
VALUE_WIDTH = 24


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What there is to report: the workload by its name and length, and the outcome of each set of options.

    `workload_notes` say what reading the workload had to leave out or to assume.
    """

    workload: str
    workload_seconds: float
    outcomes: tuple[Outcome, ...]
    workload_notes: tuple[str, ...] = ()


def sections(report: ReplayReport) -> Iterator[tuple[str, Table]]:
    """Title and table, in the order of a report; those that would be empty are left out."""
    outcomes = [one for one in report.outcomes if one.figures is not None]
    if outcomes:
        yield "Compaction Statistics", _statistics(outcomes)
        yield "writes and what they cost", _costs(outcomes)
        families = _families(outcomes)
        if families.rows:
            yield "by column family: flush MiB / compaction MiB / LSM WA", families
        died = _died_in_memory(outcomes)
        if died.rows:
            yield "puts that died in memory", died
        if any(len(one.seeds) > 1 for one in outcomes):
            yield "spread over the seeds: lowest to highest", _spreads(outcomes)
    differing = _differing_options(report.outcomes)
    if differing.rows:
        yield "options that differ, as replayed", differing


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
    ("CPU (seconds)*", lambda one: plain(one.cpu_seconds, 3)),
    ("Memory at the most (MiB)*", lambda one: mib(one.memory_bytes)),
    ("Replay took (seconds)*", lambda one: plain(one.wall_seconds, 3)),
)


def _costs(outcomes: Sequence[Outcome]) -> Table:
    columns = _columns(outcomes)
    rows = [(label, *(show(column) for column in columns)) for label, show in _COSTS]
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
            *(share(column[name].dropped_puts_share) if name in column else "-" for column in columns),
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
    "p99_response_micros": "Write latency p99 (µs)*",
}


def _spreads(outcomes: Sequence[Outcome]) -> Table:
    rows = []
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
    rows = [(name, _named(families), *map(_short, found)) for (name, found), families in alike.items()]
    if len(rows) > OPTIONS_SHOWN:
        rows[OPTIONS_SHOWN:] = [(f"… and {len(rows) - OPTIONS_SHOWN} more", "", *("" for _ in outcomes))]
    return Table(("option", "of", *(one.name for one in outcomes)), tuple(rows), left=(0, 1))


def _flat(options: ResolvedOptions, families: Sequence[str]) -> dict[tuple[str, str], str]:
    """Value by option and family, the database's under no family."""
    flat = {(name, ""): value for name, value in options.database.items()}
    for each in (options.families, options.tables):
        for family in families:
            flat |= {(name, family): value for name, value in each.get(family, {}).items()}
    return flat


def _short(value: str) -> str:
    return value if len(value) <= VALUE_WIDTH else value[: VALUE_WIDTH - 1] + "…"


def _named(families: Sequence[str]) -> str:
    if families == [""]:
        return "database"
    if len(families) <= FAMILIES_NAMED:
        return ", ".join(families)
    return f"{', '.join(families[:FAMILIES_NAMED])} and {len(families) - FAMILIES_NAMED} more"
