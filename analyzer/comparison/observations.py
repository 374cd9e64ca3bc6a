"""Observations: what one path of an arm tells, in the same form whether it is a bundle, a saved analysis or a table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import zip_longest
from typing import TYPE_CHECKING

from lsmlens.analyzer.comparison.window_sums import WindowSums, window_sums
from lsmlens.analyzer.measures.amplification import FamilyWrites, added
from lsmlens.analyzer.metrics import LATENCIES, LOG_SECONDS, WORK, family_values, values_of
from lsmlens.analyzer.runs.reading import nothing_read, read_bundle
from lsmlens.analyzer.units import MIB

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import Analysis, RunAnalysis
    from lsmlens.analyzer.clients.client_results import ClientResult
    from lsmlens.analyzer.counters.perf_dumps import PerfDump
    from lsmlens.analyzer.measures.compaction_statistics import CompactionStatistics


# Statistics dumps that reach over less of the log's time than this say little of its stalls.
DUMPS_REACH = 0.5


class Kind(StrEnum):
    """What a path was."""

    BUNDLE = "bundle"
    ANALYSIS = "saved analysis"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class OptionValue:
    """One option of one column family (None: of the whole database, or of Ceph), and where it was read."""

    family: str | None
    name: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class FindingSeen:
    """One finding, as far as a comparison goes."""

    code: str
    title: str
    severity: str
    family: str | None


@dataclass(frozen=True, slots=True)
class Daemon:
    """One daemon's figures, from a bundle or a saved analysis.

    `counters` are by the names of CounterSummary and its ratios; `covers_counters` is whether the log covers the time
    that the counters cover.
    """

    name: str
    families: tuple[FamilyWrites, ...] = ()
    stall_seconds: float | None = None
    stall_lines: int = 0
    user_bytes: float | None = None
    total_amplification: tuple[float, float] | None = None
    """Bytes written (WAL and tables), and the user bytes they were written for."""
    live_tables: Mapping[str, float] = field(default_factory=dict)
    """Sums over the tables that live at the log's end; empty where the log tells of none."""
    counters: Mapping[str, float] = field(default_factory=dict)
    covers_counters: bool = False
    versions: tuple[str | None, str | None] = (None, None)
    """Of Ceph and RocksDB."""
    options: tuple[OptionValue, ...] = ()
    findings: tuple[FindingSeen, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Intervals:
    """What was counted between one perf dump and the next: columns by name, an interval's name from its dump's."""

    names: tuple[str, ...]
    columns: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Observation:
    """One path of an arm. `values` are by the metrics' names; what is not known is not in it.

    `printed` holds the digits of a published table. `analysis` is there for a bundle that has logs.
    """

    path: str
    kind: Kind
    values: Mapping[str, float]
    daemons: tuple[Daemon, ...] = ()
    windows: WindowSums | None = None
    intervals: Intervals | None = None
    client_results: "tuple[ClientResult, ...]" = ()
    client_parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Of CBT's tests, by the folder they stand in."""
    problems: tuple[str, ...] = ()
    printed: Mapping[str, str] = field(default_factory=dict)
    analysis: "Analysis | None" = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about its data before believing its figures."""
        several = len(self.daemons) > 1
        said = [f"{one.name}: {note}" if several else note for one in self.daemons for note in one.notes]
        return (*said, *self.problems)

    @property
    def runs(self) -> tuple[str, ...]:
        """The daemons that were added up."""
        return tuple(one.name for one in self.daemons)

    @property
    def versions(self) -> str:
        """Of Ceph and RocksDB, in words; empty where nothing tells."""
        said = []
        for place, name in enumerate(("Ceph", "RocksDB")):
            found = sorted({version for one in self.daemons if (version := one.versions[place]) is not None})
            if found:
                said.append(f"{name} {' and '.join(found)}")
        return ", ".join(said)


def figures_of(statistics: "CompactionStatistics", daemons: Sequence[Daemon]) -> dict[str, float]:
    """The metrics' values for all daemons together, and those of each column family."""
    families = added_families(daemons)
    printed = {name: value for name in statistics.__slots__ if (value := getattr(statistics, name)) is not None}
    found = values_of(_sums(statistics, added(families), daemons)) | printed
    for family in families:
        found |= family_values(family.name, family.sums)
    return found


def _sums(
    statistics: "CompactionStatistics", total: FamilyWrites, daemons: Sequence[Daemon]
) -> dict[str, float | None]:
    """What metrics are formulas of, added up over daemons."""
    sums: dict[str, float | None] = {
        **total.sums,
        WORK: total.flush_input_records or None,
        LOG_SECONDS: statistics.log_duration_seconds,
        "output_bytes": statistics.total_output_size_mib * MIB,
        "total_written_bytes": _sum([pair[0] if (pair := one.total_amplification) else None for one in daemons]),
        "total_user_bytes": _sum([pair[1] if (pair := one.total_amplification) else None for one in daemons]),
        "user_bytes": _sum([one.user_bytes for one in daemons]),
        "stall_seconds": _sum([one.stall_seconds for one in daemons]),
        "stall_lines": sum(one.stall_lines for one in daemons) if daemons else None,
    }
    for name in OF_TABLES:
        sums[name] = _sum([one.live_tables.get(name) for one in daemons])
    for name in COUNTED:
        sums[name] = _sum([one.counters.get(name) for one in daemons])
    for metric in LATENCIES:
        added_up = _sum([one.counters.get(metric.name) for one in daemons])
        sums[metric.name] = None if added_up is None else added_up / len(daemons)
    hits, misses = sums["onode_hits"], sums["onode_misses"]
    sums["onode_lookups"] = None if hits is None or misses is None else hits + misses
    if daemons and all(one.covers_counters for one in daemons):
        sums |= {f"covered_{name}": sums[name] for name in ("client_writes", "client_write_bytes")}
    return sums


OF_TABLES = ("live_tombstones", "live_entries")
COUNTED = (
    "client_writes",
    "client_write_bytes",
    "bluefs_wal_bytes_written",
    "bluefs_sst_bytes_written",
    "db_used_bytes",
    "slow_peak_bytes",
    "onode_hits",
    "onode_misses",
)


def note_of_reach(uptimes: Sequence[float | None], log_seconds: float | None) -> tuple[str, ...]:
    """That stalls are known of little of the log, if so: dumps tell of the time from an open to its last dump.

    `uptimes` are those of the statistics dumps, in their order.
    """
    known = [uptime for uptime in uptimes if uptime is not None]
    last = [one for one, following in zip_longest(known, known[1:]) if following is None or following < one]
    if not uptimes or not log_seconds or sum(last) >= DUMPS_REACH * log_seconds:
        return ()
    return (
        "statistics dumps reach over less than half of the log, and stall seconds are of that time"
        " (stats_dump_period_sec sets how often they come)",
    )


def added_families(daemons: Iterable[Daemon]) -> list[FamilyWrites]:
    """The column families, each added up over daemons, by name."""
    families: dict[str, FamilyWrites] = {}
    for one in daemons:
        for family in one.families:
            families.setdefault(family.name, FamilyWrites(family.name)).merge(family)
    return [families[name] for name in sorted(families)]


def _sum(values: Sequence[float | None]) -> float | None:
    """Added up over daemons; None unless all of them tell."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def observe_bundle(path: str, on_progress: Callable[[str, int], None] | None = None) -> Observation:
    """Read and measure what is under `path`.

    Raises InputError for a path that does not exist, or under which there is neither a log nor a client result.
    """
    from lsmlens.analyzer.bundles.companions import client_results_of
    from lsmlens.analyzer.clients.cbt import test_parameters
    from lsmlens.analyzer.diagnosis import analyze_runs

    members, runs, companions = read_bundle([path], on_progress)
    results = client_results_of(companions)
    if not runs and not results:
        raise nothing_read([path], members)
    parameters = test_parameters(companions)
    problems = tuple(f"{member.path}: {member.problem}" for member in members if member.problem)
    if not runs:
        return Observation(
            path, Kind.BUNDLE, {}, client_results=results, client_parameters=parameters, problems=problems
        )
    analysis = analyze_runs(members, runs)
    counted = analysis.counted
    daemons = tuple(daemon_of(one) for one in counted)
    statistics = counted[0].statistics if len(counted) == 1 else analysis.total_statistics
    assert statistics is not None
    return Observation(
        path=path,
        kind=Kind.BUNDLE,
        values=figures_of(statistics, daemons),
        daemons=daemons,
        windows=window_sums([one.run for one in counted]),
        intervals=_intervals(counted),
        client_results=results,
        client_parameters=parameters,
        problems=problems,
        analysis=analysis,
    )


def each_daemon(observation: Observation) -> tuple[Observation, ...]:
    """An observation of several daemons as one of each; the same where its analysis is not at hand, or of one."""
    analysis = observation.analysis
    if analysis is None or len(analysis.counted) < 2:
        return (observation,)
    return tuple(
        replace(
            observation,
            values=figures_of(one.statistics, [daemon]),
            daemons=(daemon,),
            windows=window_sums([one.run]),
            intervals=_intervals([one]),
            client_results=observation.client_results if place == 0 else (),  # they are of all OSDs together
            analysis=replace(analysis, runs=(one,), total=None, total_statistics=None, counted_in_total=()),
        )
        for place, (one, daemon) in enumerate(zip(analysis.counted, observation.daemons, strict=True))
    )


def daemon_of(one: "RunAnalysis") -> Daemon:
    """What one run tells, as part of an observation."""
    run, series, total, check = one.run, one.series, one.total_amplification, one.cross_check
    return Daemon(
        name=run.name,
        families=one.families,
        stall_seconds=series.stall_seconds if series else None,
        stall_lines=sum(run.stall_lines.values()),
        user_bytes=(series.user_bytes or None) if series else None,
        total_amplification=(total.wal_bytes + total.table_bytes, total.user_bytes) if total else None,
        live_tables=one.live_tables,
        counters=_numbers(one),
        covers_counters=check is not None and check.is_of_same_time,
        versions=(run.ceph_version, run.rocksdb_version),
        options=tuple(
            OptionValue(option.family, option.name, option.value, str(option.source))
            for option in (*one.options, *one.ceph_options)
        ),
        findings=tuple(
            FindingSeen(found.code, found.title, str(found.severity), found.column_family) for found in one.findings
        ),
        notes=(*one.notes, *_reach_of_dumps(one)),
    )


def _numbers(one: "RunAnalysis") -> dict[str, float]:
    counters = one.counters
    if counters is None:
        return {}
    read = ((name, getattr(counters, name)) for name in counters.__slots__)
    return {name: value for name, value in read if isinstance(value, int | float)}


def _reach_of_dumps(one: "RunAnalysis") -> tuple[str, ...]:
    uptimes = [point.uptime_seconds for point in one.series.points] if one.series else []
    return note_of_reach(uptimes, one.statistics.log_duration_seconds)


def _intervals(counted: "Sequence[RunAnalysis]") -> Intervals | None:
    """Counters' growth from dump to dump over a single daemon's last life; of several, dumps are of unlike times."""
    dumps = counted[0].beside.perf_dumps if len(counted) == 1 else ()
    if len(dumps) < 2:
        return None
    from lsmlens.analyzer.counters.counter_series import deltas, in_series

    series = in_series(dumps)[-1]
    names: list[str] = []
    columns: dict[str, list[float]] = {name: [] for name in _COLUMNS}
    for delta in deltas(series):
        names.append(_dump_name(delta.after))
        for counter in _LATENCIES:
            average = delta.average(counter)
            columns[f"{counter}:sum"].append(average.sum_seconds if average else 0.0)
            columns[f"{counter}:count"].append(average.count if average else 0)
        hits = delta.number("bluestore.onode_hits") or 0
        columns["bluestore.onode_hits"].append(hits)
        columns["onode_lookups"].append(hits + (delta.number("bluestore.onode_misses") or 0))
    return Intervals(tuple(names), columns)


def _dump_name(dump: "PerfDump") -> str:
    return dump.source.replace("!", "/").rsplit("/", 1)[-1]


_LATENCIES = tuple(metric.noise_of[0].removesuffix(":sum") for metric in LATENCIES)
_COLUMNS = (
    *(f"{counter}:{part}" for counter in _LATENCIES for part in ("sum", "count")),
    "bluestore.onode_hits",
    "onode_lookups",
)
