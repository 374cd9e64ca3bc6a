"""A saved analysis (`analyze -o run.json`) as an observation: what the document says, no more."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import msgspec
from lsmlens.analyzer.analysis_document import AnalysisJson, DumpsJson, RunJson, WindowSumsJson
from lsmlens.analyzer.clients.client_results import ClientResult
from lsmlens.analyzer.comparison.observations import (
    Daemon,
    FindingSeen,
    Kind,
    Observation,
    OptionValue,
    figures_of,
    note_of_reach,
)
from lsmlens.analyzer.comparison.window_sums import WindowSums
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.measures.amplification import FamilyWrites
from lsmlens.analyzer.measures.compaction_statistics import CompactionStatistics
from lsmlens.analyzer.measures.life import SAME_TIME

# The parts that are read. Of the others, which are not looked at, a newer or an older document may say what it will.
PARTS = frozenset(("members", "selection", "runs", "total", "window_sums"))
PARTS_OF_RUN = frozenset(
    (
        *("name", "monitor", "ceph_version", "rocksdb_version", "compaction_statistics", "column_families", "stalls"),
        *("write_amplification", "statistics_dumps", "options", "counters", "client_results", "findings"),
        *("live_tables", "data_quality"),
    )
)


def observe_document(path: str, document: Mapping[str, Any]) -> Observation:
    """The observation a parsed document holds. Raises InputError for one that is not as its schema says."""
    try:
        return _observe(path, msgspec.convert(_read_parts(document), AnalysisJson))
    except ValueError as error:  # as msgspec's ValidationError is
        reason = f"not a saved analysis that can be read: {error}"
        raise InputError(path, reason, "save it anew with `lsmlens analyze … -o FILE.json`") from None


def _read_parts(document: Mapping[str, Any]) -> dict[str, Any]:
    read = {name: value for name, value in document.items() if name in PARTS}
    if isinstance(runs := read.get("runs"), list):
        read["runs"] = [
            {name: value for name, value in run.items() if name in PARTS_OF_RUN} if isinstance(run, dict) else run
            for run in runs
        ]
    return read


def _observe(path: str, document: AnalysisJson) -> Observation:
    runs = [run for run in document.runs if not run.monitor] or document.runs
    if not runs:
        raise ValueError("it holds no run")
    counted = runs[0] if len(runs) == 1 else document.total
    if counted is None:
        raise ValueError("it holds no total of its runs")
    daemons = tuple(map(_daemon, runs))
    statistics = msgspec.convert(counted.compaction_statistics, CompactionStatistics, from_attributes=True)
    values = figures_of(statistics, daemons)
    odd = next((name for name, value in values.items() if not (isfinite(value) and value >= 0)), None)
    if odd is not None:
        raise ValueError(f"its {odd} is {values[odd]}")
    problems = [f"{member.path}: {member.problem}" for member in document.members if member.problem]
    if any(msgspec.to_builtins(document.selection).values()):
        problems.append("it was saved with a selection of time, column families or levels")
    results = msgspec.to_builtins([run.client_results for run in document.runs])
    return Observation(
        path=path,
        kind=Kind.ANALYSIS,
        values=values,
        daemons=daemons,
        windows=_windows(document.window_sums),
        client_results=tuple(
            msgspec.convert(result, ClientResult, str_keys=True) for of_run in results for result in of_run
        ),
        problems=tuple(problems),
    )


def _daemon(run: RunJson) -> Daemon:
    written = run.write_amplification
    amplification = None
    if None not in (written.total_wal_bytes, written.total_table_bytes, written.total_user_bytes):
        bytes_written = (written.total_wal_bytes or 0) + (written.total_table_bytes or 0)
        amplification = (bytes_written, written.total_user_bytes or 0)
    counters: dict[str, Any] = msgspec.to_builtins(run.counters) or {}
    numbers = {name: value for name, value in counters.items() if isinstance(value, int | float)}
    difference = numbers.get("table_bytes_difference")
    dumps = run.statistics_dumps or DumpsJson()
    seconds = run.compaction_statistics.log_duration_seconds
    return Daemon(
        name=run.name,
        families=tuple(msgspec.convert(one, FamilyWrites, from_attributes=True) for one in run.column_families),
        stall_seconds=run.stalls.seconds,
        stall_lines=sum(line.lines for line in run.stalls.lines),
        user_bytes=dumps.user_bytes or None,
        total_amplification=amplification,
        live_tables={} if run.live_tables is None else msgspec.to_builtins(run.live_tables),
        counters=numbers,
        covers_counters=difference is not None and abs(difference) <= SAME_TIME,
        versions=(run.ceph_version, run.rocksdb_version),
        options=tuple(OptionValue(one.column_family, one.name, one.value, one.source) for one in run.options),
        findings=tuple(FindingSeen(one.code, one.title, one.severity, one.column_family) for one in run.findings),
        notes=(
            *run.data_quality.notes,
            *note_of_reach([point.uptime_seconds for point in dumps.points], seconds),
        ),
    )


def _windows(said: WindowSumsJson | None) -> WindowSums | None:
    if said is None:
        return None
    columns: dict[str, Sequence[float]] = dict(said.columns)
    if len({len(values) for values in columns.values()}) > 1:
        raise ValueError("window sums that do not fit together")
    if not all(isfinite(value) and value >= 0 for values in columns.values() for value in values):
        raise ValueError("window sums that are no sums")
    return WindowSums(said.start_micros, said.seconds, said.longest_job_seconds, columns)
