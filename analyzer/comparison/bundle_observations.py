"""A bundle as an observation: its daemons' figures, its window sums, and what was counted between perf dumps."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lsmlens.analyzer.comparison.observations import (
    SAME_TIME,
    Daemon,
    FindingSeen,
    Intervals,
    Kind,
    Observation,
    OptionValue,
    figures_of,
    note_of_reach,
)
from lsmlens.analyzer.comparison.window_sums import window_sums
from lsmlens.analyzer.metrics import LATENCIES
from lsmlens.analyzer.reading import nothing_read, read_bundle

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis
    from lsmlens.analyzer.counters.perf_dumps import PerfDump


def observe_bundle(path: str, on_progress: Callable[[str, int], None] | None = None) -> Observation:
    """Read and measure what is under `path`.

    Raises InputError for a path that does not exist, or under which there is neither a log nor a client result.
    """
    from lsmlens.analyzer.analysis import analyze_runs
    from lsmlens.analyzer.clients.cbt import test_parameters
    from lsmlens.analyzer.companions import client_results_of

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
    daemons = tuple(_daemon(one) for one in counted)
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


def _daemon(one: "RunAnalysis") -> Daemon:
    run, series, total, check = one.run, one.series, one.total_amplification, one.cross_check
    difference = check.difference if check else None
    return Daemon(
        name=run.name,
        families=one.families,
        stall_seconds=series.stall_seconds if series else None,
        stall_lines=sum(run.stall_lines.values()),
        user_bytes=(series.user_bytes or None) if series else None,
        total_amplification=(total.wal_bytes + total.table_bytes, total.user_bytes) if total else None,
        counters=_numbers(one),
        covers_counters=check is not None
        and difference is not None
        and abs(difference) <= SAME_TIME
        and check.earlier_log_bytes <= SAME_TIME * check.log_bytes,
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
