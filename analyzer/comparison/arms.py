"""Arms of a comparison as they are asked for, `[NAME=]PATH[,PATH…]`, and as they were read.

Tables of published figures as observations: a CSV or TSV with the published labels, a column for each arm.

    metric,v17.2.6,reef-9d5a260e,reef-9d5a260e-newtuning
    Total OSD Log Duration (seconds),9857.44,9300.18,9166.42

Rows are known by the labels of the "Compaction Statistics" table or by the names of metrics; `compare -o FILE.csv`
writes such a table, and what ceph/cbt's ceph_rocksdb_log_parser.py prints is one too. Other rows are left out and
counted.

A saved analysis (`analyze -o run.json`) as an observation: what the document says, no more.
"""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec
from lsmlens.analyzer.analysis_document import AnalysisJson, DumpsJson, RunJson, WindowSumsJson
from lsmlens.analyzer.bundles.members import open_bundle
from lsmlens.analyzer.clients.client_results import ClientResult
from lsmlens.analyzer.comparison.observations import (
    Daemon,
    FindingSeen,
    Kind,
    Observation,
    OptionValue,
    each_daemon,
    figures_of,
    note_of_reach,
)
from lsmlens.analyzer.comparison.window_sums import WindowSums
from lsmlens.analyzer.errors import InputError, LsmlensError
from lsmlens.analyzer.measures.amplification import FamilyWrites
from lsmlens.analyzer.measures.compaction_statistics import CompactionStatistics
from lsmlens.analyzer.measures.life import SAME_TIME
from lsmlens.analyzer.metrics import LABELS, LOG_SECONDS, METRICS, of_part, values_of
from lsmlens.analyzer.numbers import counted
from lsmlens.analyzer.printable import printable
from lsmlens.analyzer.units import MIB

LARGEST_DOCUMENT = 1 << 28
# From so many OSDs in each arm on, the OSDs are what differs by chance, and not the parts of their sum (ours).
LEAST_OSDS = 3
HINT = "use [NAME=]PATH[,PATH…], such as stock=run1,run2 tuned=run3,run4"
_NAMES = {label: name for name, label in LABELS.items()} | {metric.name: metric.name for metric in METRICS}
# Metrics that a table without their rows tells all the same.
_MADE = ("compaction_busy_share", "output_mib_per_second")
# What the parser prints for the mean of nothing.
NOTHING = "-1"
# The parts that are read. Of the others, which are not looked at, a newer or an older document may say what it will.
PARTS = frozenset(("members", "selection", "runs", "total", "window_sums"))
PARTS_OF_RUN = frozenset(
    (
        *("name", "monitor", "ceph_version", "rocksdb_version", "compaction_statistics", "column_families", "stalls"),
        *("write_amplification", "statistics_dumps", "options", "counters", "client_results", "findings"),
        *("live_tables", "data_quality"),
    )
)


@dataclass(frozen=True, slots=True)
class ArmRequest:
    """One arm as asked for; `name` is None where none was given."""

    name: str | None
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm: its name, and an observation for each of its paths."""

    name: str
    observations: tuple[Observation, ...]

    @property
    def osds(self) -> "dict[str, Observation]":
        """The observation of each OSD, where the arm is a set of OSDs: each of its own name, enough to judge by."""
        names = [one.runs[0] for one in self.observations if len(one.runs) == 1]
        is_set = LEAST_OSDS <= len(names) == len(self.observations) == len(set(names))
        return dict(zip(names, self.observations, strict=True)) if is_set else {}

    @property
    def versions(self) -> str:
        """Of Ceph and RocksDB, in words; empty where nothing tells."""
        return "; ".join(dict.fromkeys(one.versions for one in self.observations if one.versions))


def parse_arm(text: str) -> ArmRequest:
    """What an argument asks for. A path that exists is taken whole, whatever signs are in it.

    Raises LsmlensError for an empty name or path.
    """
    if _exists(text):
        return ArmRequest(None, (text,))
    name, equals, rest = text.partition("=")
    if not equals or "/" in name:
        name, rest = "", text
    elif not name.strip():
        raise LsmlensError(f"{text}: an arm needs a name", HINT)
    paths = (rest,) if _exists(rest) else tuple(rest.split(","))
    if not all(paths):
        raise LsmlensError(f"{text}: an arm needs a path", HINT)
    return ArmRequest(name.strip() or None, paths)


def read_arms(requests: Sequence[ArmRequest], on_progress: Callable[[str, int], None] | None = None) -> tuple[Arm, ...]:
    """Read the arms in their order; a table with several columns is as many arms.

    Where each arm is of several OSDs, each of them is an observation.

    Raises InputError for what cannot be read, LsmlensError where fewer than two arms come of it or two have one name.
    """
    arms: list[Arm] = []
    for request, default in zip(requests, _default_names(requests), strict=True):
        read = [_read(path, on_progress) for path in request.paths]
        columns = [name for one in read for name, _ in one if name is not None]
        if len(read) == 1 and len(columns) > 1:
            arms += [
                Arm(f"{request.name} {name}" if request.name else str(name), (observation,))
                for name, observation in read[0]
            ]
            continue
        crowded = next((path for path, one in zip(request.paths, read, strict=True) if len(one) > 1), None)
        if crowded is not None:
            raise InputError(
                crowded, "a table with several columns is several arms", "give it as an argument of its own"
            )
        own_name = columns[0] if len(read) == 1 and columns else default
        arms.append(Arm(request.name or own_name, tuple(observation for one in read for _, observation in one)))
    _check(arms)
    if all(sum(len(one.runs) for one in arm.observations) >= LEAST_OSDS for arm in arms):
        apart = [
            replace(arm, observations=tuple(one for some in arm.observations for one in each_daemon(some)))
            for arm in arms
        ]
        if all(arm.osds for arm in apart):
            return tuple(apart)
    return tuple(arms)


def with_baseline(arms: Sequence[Arm], name: str) -> tuple[Arm, ...]:
    """The arms with the named one first. Raises LsmlensError where there is none of that name."""
    chosen = [arm for arm in arms if arm.name == name]
    if not chosen:
        raise LsmlensError(f"--baseline: no arm {name}", f"there are {', '.join(arm.name for arm in arms)}")
    return (*chosen, *(arm for arm in arms if arm.name != name))


def _check(arms: Sequence[Arm]) -> None:
    if len(arms) < 2:
        raise LsmlensError("there is one arm only", "give two or more; the first is what the others are compared with")
    names = [arm.name for arm in arms]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise LsmlensError(f"two arms are called {twice}", "name them: NAME=PATH")


def _read(path: str, on_progress: Callable[[str, int], None] | None) -> list[tuple[str | None, Observation]]:
    """A path's observation, or those of a table's columns, with their names."""
    content = _small_file(path)
    text = content.decode("utf-8", "replace")
    document = _document(path, content) if text.lstrip()[:1] == "{" else None
    if document is not None:
        return [(None, observe_document(path, document))]
    if text and is_table(text):
        return list(observe_table(path, text))
    from lsmlens.analyzer.comparison.observations import observe_bundle

    return [(None, observe_bundle(path, on_progress))]


def _small_file(path: str) -> bytes:
    """What a file holds that may be a saved analysis or a table, decompressed if need be; else nothing."""
    try:
        if not Path(path).is_file():
            return b""
    except (OSError, ValueError):
        return b""
    with closing(open_bundle([path])) as members:
        member = next(members, None)
        if member is None or member.path != printable(path):  # an archive
            return b""
        content = member.read(LARGEST_DOCUMENT + 1) if _may_be_small(member.head()) else b""
    return content if len(content) <= LARGEST_DOCUMENT else b""


def _may_be_small(head: bytes) -> bool:
    """Whether a file begins like JSON or like a table; logs, which may be long, do neither."""
    return head.lstrip()[:1] == b"{" or is_table(head.decode("utf-8", "replace"))


def _document(path: str, content: bytes) -> dict[str, Any] | None:
    """The saved analysis that JSON text holds; None for another document."""
    import orjson
    from lsmlens.analyzer.analysis_document import SCHEMA

    try:
        document = orjson.loads(content)
    except ValueError:
        return None
    if not isinstance(document, dict) or not str(document.get("schema", "")).startswith("lsmlens."):
        return None
    if document["schema"] != SCHEMA:
        reason = f"a document of schema {document['schema']}, not {SCHEMA}"
        raise InputError(path, reason, "give what `lsmlens analyze` saved")
    return document


def _exists(path: str) -> bool:
    try:
        return path == "-" or Path(path).exists()
    except (OSError, ValueError):
        return False


def _default_names(requests: Sequence[ArmRequest]) -> list[str]:
    """Names from paths: the last part, with as many parts before it as tell them apart."""
    parts = [[part for part in request.paths[0].split("/") if part not in ("", ".")] for request in requests]
    names = [one[-1] if one else request.paths[0] for one, request in zip(parts, requests, strict=True)]
    for depth in range(2, 1 + max(map(len, parts), default=0)):
        clashing = [place for place, name in enumerate(names) if names.count(name) > 1]
        if not clashing:
            break
        for place in clashing:
            names[place] = "/".join(parts[place][-depth:])
    return names


def is_table(head: str) -> bool:
    """Whether a text begins like such a table: one of its first rows has a label that is known."""
    return any(_name_of(row[0]) for row in _rows(head[:4096]) if row)


def observe_table(path: str, text: str) -> list[tuple[str, Observation]]:
    """The arms of a table, in its order: their names, and what it says of them.

    Raises InputError for a table without a column of figures, or with two of one name.
    """
    rows = _rows(text)
    header = next((row for row in rows if row), [])
    names = [name.strip() for name in header[1:]]
    if not names or len(set(names)) < len(names):
        reason = "two columns have one name" if names else "no column of figures"
        raise InputError(path, reason, "the first row is `metric` and then the name of each arm")
    known: list[tuple[str, list[str]]] = []
    left_out = 0
    for row in rows[rows.index(header) + 1 :]:
        if not row:
            break  # the parser's list of compactions follows
        name = _name_of(row[0])
        if name is None:
            left_out += 1
        else:
            known.append((name, row[1:]))
    problems = (f"{counted(left_out, 'row')} with unknown labels",) if left_out else ()
    return [(name, _observation(path, known, column, problems)) for column, name in enumerate(names)]


def _observation(path: str, rows: list[tuple[str, list[str]]], column: int, problems: tuple[str, ...]) -> Observation:
    values: dict[str, float] = {}
    printed: dict[str, str] = {}
    for name, cells in rows:
        cell = cells[column].strip() if column < len(cells) else ""
        value = None if cell == NOTHING else _number(cell)
        if value is not None:
            values[name], printed[name] = value, cell
    sums = {
        "compaction_seconds": values.get("total_compaction_seconds"),
        "output_bytes": values.get("total_output_size_mib", 0) * MIB,
        LOG_SECONDS: values.get("log_duration_seconds"),
    }
    made = {name: value for name, value in values_of(sums).items() if name in _MADE and value}
    return Observation(path, Kind.TABLE, made | values, problems=problems, printed=printed)


MOST = 1e100  # no figure is near it, and what is computed of one stays finite


def _number(cell: str) -> float | None:
    try:
        value = int(cell) if re.fullmatch(r"-?[0-9]{1,18}", cell) else float(cell)
    except ValueError:
        return None
    return value if abs(value) < MOST else None


def _name_of(label: str) -> str | None:
    label = label.strip()
    return _NAMES.get(label) or (label if of_part(label) is not None else None)


def _rows(text: str) -> list[list[str]]:
    """The rows of a text, whichever of tab and comma parts its cells; a blank line is an empty row."""
    lines = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").splitlines()
    delimiter = "\t" if "\t" in "".join(lines[:3]) else ","
    try:
        return list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return []


def observe_document(path: str, document: Mapping[str, Any]) -> Observation:
    """The observation a parsed document holds. Raises InputError for one that is not as its schema says."""
    try:
        return _observe(path, msgspec.convert(_read_parts(document), AnalysisJson))
    except ValueError as error:  # as msgspec's ValidationError is
        reason = f"not a saved analysis that can be read: {error}"
        raise InputError(path, reason, "save it again with `lsmlens analyze … -o FILE.json`") from None


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
