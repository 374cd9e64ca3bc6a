"""A saved analysis (`analyze -o run.json`) as an observation: what the document says, no more.

Declared here is what of the schema `lsmlens.analysis/1` is read; a newer document may say more.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import msgspec
from lsmlens.analyzer.amplification import FamilyWrites
from lsmlens.analyzer.clients.client_results import ClientResult
from lsmlens.analyzer.compaction_statistics import CompactionStatistics
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
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.life import SAME_TIME

SCHEMA = "lsmlens.analysis/1"


class _Member(msgspec.Struct):
    path: str
    problem: str | None


class _Amplification(msgspec.Struct):
    total_user_bytes: float | None = None
    total_wal_bytes: float | None = None
    total_table_bytes: float | None = None


class _StallLines(msgspec.Struct):
    lines: int


class _Stalls(msgspec.Struct):
    lines: list[_StallLines]
    seconds: float | None


class _Point(msgspec.Struct):
    uptime_seconds: float | None


class _Dumps(msgspec.Struct):
    user_bytes: float | None
    points: list[_Point]


class _Option(msgspec.Struct):
    column_family: str | None
    name: str
    value: str
    source: str


class _Finding(msgspec.Struct):
    code: str
    title: str
    severity: Severity
    column_family: str | None


class _Quality(msgspec.Struct):
    notes: list[str]


class _Run(msgspec.Struct):
    name: str
    monitor: bool
    ceph_version: str | None
    rocksdb_version: str | None
    compaction_statistics: CompactionStatistics
    column_families: tuple[FamilyWrites, ...]
    write_amplification: _Amplification
    stalls: _Stalls
    statistics_dumps: _Dumps | None
    options: list[_Option]
    counters: dict[str, Any] | None
    client_results: tuple[ClientResult, ...]
    findings: list[_Finding]
    data_quality: _Quality


class _Total(msgspec.Struct):
    compaction_statistics: CompactionStatistics


class _Windows(msgspec.Struct):
    start_micros: int
    seconds: float
    longest_job_seconds: float
    columns: dict[str, list[float]]


class _Document(msgspec.Struct):
    members: list[_Member]
    selection: dict[str, Any]
    runs: list[_Run]
    total: _Total | None
    window_sums: _Windows | None = None


def observe_document(path: str, document: Mapping[str, Any]) -> Observation:
    """The observation a parsed document holds. Raises InputError for one that is not as its schema says."""
    try:
        return _observe(path, msgspec.convert(document, _Document, str_keys=True))
    except ValueError as error:  # as msgspec's ValidationError is
        reason = f"not a saved analysis that can be read: {error}"
        raise InputError(path, reason, "save it anew with `lsmlens analyze … -o FILE.json`") from None


def _observe(path: str, document: _Document) -> Observation:
    runs = [run for run in document.runs if not run.monitor] or document.runs
    if not runs:
        raise ValueError("it holds no run")
    counted = runs[0] if len(runs) == 1 else document.total
    if counted is None:
        raise ValueError("it holds no total of its runs")
    daemons = tuple(map(_daemon, runs))
    values = figures_of(counted.compaction_statistics, daemons)
    odd = next((name for name, value in values.items() if not (isfinite(value) and value >= 0)), None)
    if odd is not None:
        raise ValueError(f"its {odd} is {values[odd]}")
    problems = [f"{member.path}: {member.problem}" for member in document.members if member.problem]
    if any(document.selection.values()):
        problems.append("it was saved with a selection of time, column families or levels")
    return Observation(
        path=path,
        kind=Kind.ANALYSIS,
        values=values,
        daemons=daemons,
        windows=_windows(document.window_sums),
        client_results=tuple(result for run in document.runs for result in run.client_results),
        problems=tuple(problems),
    )


def _daemon(run: _Run) -> Daemon:
    written, counters = run.write_amplification, run.counters or {}
    amplification = None
    if None not in (written.total_wal_bytes, written.total_table_bytes, written.total_user_bytes):
        bytes_written = (written.total_wal_bytes or 0) + (written.total_table_bytes or 0)
        amplification = (bytes_written, written.total_user_bytes or 0)
    numbers = {name: value for name, value in counters.items() if isinstance(value, int | float)}
    difference = numbers.get("table_bytes_difference")
    dumps = run.statistics_dumps or _Dumps(None, [])
    seconds = run.compaction_statistics.log_duration_seconds
    return Daemon(
        name=run.name,
        families=run.column_families,
        stall_seconds=run.stalls.seconds,
        stall_lines=sum(line.lines for line in run.stalls.lines),
        user_bytes=dumps.user_bytes or None,
        total_amplification=amplification,
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


def _windows(said: _Windows | None) -> WindowSums | None:
    if said is None:
        return None
    columns: dict[str, Sequence[float]] = dict(said.columns)
    if len({len(values) for values in columns.values()}) > 1 or not said.seconds > 0:
        raise ValueError("window sums that do not fit together")
    if not all(isfinite(value) and value >= 0 for values in columns.values() for value in values):
        raise ValueError("window sums that are no sums")
    return WindowSums(said.start_micros, said.seconds, said.longest_job_seconds, columns)
