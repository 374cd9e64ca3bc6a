"""What happened as a trace for Perfetto (https://ui.perfetto.dev) and Chrome, in the JSON form that both read.

A process is a daemon; a track is a slot of a thread pool, so that no two slices of a track overlap: flushes,
compactions, moves, BlueStore's slow operations and the clients'. Counters are the bytes and files of each level and the
memtables of each column family. Times are microseconds since 1970 UTC.
https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import msgspec
import polars as pl
from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.measures.shape import LevelHolds, bytes_by_level, files_by_level
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH, MOVE
from lsmlens.analyzer.runs.run import Run
from lsmlens.analyzer.units import MICROS

Event = dict[str, Any]
STALL_GAP_MICROS: Final = 1_000_000  # RocksDB tells a stall again while it lasts; closer lines are one
POOLS: Final = ("flush", "compaction", "move", "stall", "slow in BlueStore", "client operation")
SLOTS: Final = 1000  # track numbers between one pool and the next


class Slice(NamedTuple):
    """Something that took time."""

    start: int
    end: int
    name: str
    arguments: dict[str, Any]


def to_trace(analysis: Analysis) -> str:
    """The trace of all runs."""
    events = [event for number, one in enumerate(analysis.runs, 1) for event in _of_run(number, one)]
    return msgspec.json.encode({"displayTimeUnit": "ms", "traceEvents": events}).decode() + "\n"


def _of_run(process: int, one: RunAnalysis) -> Iterator[Event]:
    run = one.run
    yield _named(process, 0, "process_name", run.name)
    jobs = pl.concat([run.jobs, run.unfinished])
    pools = {
        FLUSH: _jobs(jobs, FLUSH, run),
        COMPACTION: _jobs(jobs, COMPACTION, run),
        MOVE: _jobs(jobs, MOVE, run),
        "stall": _stalls(run),
        "slow in BlueStore": _slow(run),
        "client operation": _operations(one),
    }
    for place, pool in enumerate(POOLS):
        used = 0
        for slot, slice_ in slotted(pools[pool]):
            track = place * SLOTS + slot + 1
            if slot >= used:
                used = slot + 1
                yield _named(process, track, "thread_name", f"{pool} {used}")
                yield {**_named(process, track, "thread_sort_index", ""), "args": {"sort_index": track}}
            yield {
                "ph": "X",
                "pid": process,
                "tid": track,
                "ts": slice_.start,
                "dur": slice_.end - slice_.start,
                "name": slice_.name,
                "cat": pool,
                "args": slice_.arguments,
            }
    yield from _counters(process, "bytes", bytes_by_level(run))
    yield from _counters(process, "files", files_by_level(run))
    for millis, family, memtables in run.memtable_switches.frame().iter_rows():
        yield _counter(process, run.utc_micros(millis), f"memtables {family}", memtables)


def slotted(slices: Iterable[Slice]) -> Iterator[tuple[int, Slice]]:
    """Each slice with the first slot that is free by then, in the order of their starts."""
    ends: list[int] = []
    for one in sorted(slices, key=lambda slice_: (slice_.start, slice_.end)):
        slot = next((slot for slot, end in enumerate(ends) if end <= one.start), len(ends))
        ends[slot : slot + 1] = [max(one.end, one.start + 1)]
        yield slot, one


def _jobs(jobs: pl.DataFrame, kind: str, run: Run) -> Iterator[Slice]:
    """The jobs of a kind; one that never finished lasts to the log's end, one whose start is not known a moment."""
    last = run.last_event_micros or 0
    moments = jobs.filter(kind=kind).with_columns(pl.col("started_at", "finished_at").to_physical())
    for job in moments.iter_rows(named=True):
        end = last if job["finished_at"] is None else job["finished_at"]
        start = end if job["started_at"] is None else min(job["started_at"], end)
        shown = (
            "job",
            "session",
            "reason",
            "input_levels",
            "output_level",
            "input_bytes",
            "output_bytes",
            "moved_bytes",
        )
        arguments = {name: job[name] for name in (*shown, "input_records", "output_records") if job[name] is not None}
        if job["finished_at"] is None:
            arguments["unfinished"] = True
        yield Slice(start, end, f"{kind} {job['column_family'] or '?'}", arguments)


def _stalls(run: Run) -> Iterator[Slice]:
    """Stretches in which a family's writes were slowed down or stopped, by the lines that say so."""
    open_: dict[tuple[str, str], Slice] = {}
    for millis, family, kind in sorted(run.stall_moments):
        micros, key = run.utc_micros(millis), (family, kind)
        before = open_.get(key)
        if before is not None and micros - before.end <= STALL_GAP_MICROS:
            open_[key] = before._replace(end=micros, arguments={"lines": before.arguments["lines"] + 1})
            continue
        if before is not None:
            yield before
        open_[key] = Slice(micros, micros, f"{kind} {family}", {"lines": 1})
    yield from open_.values()


def _slow(run: Run) -> Iterator[Slice]:
    for one in run.slow_operations:
        if one.millis is not None:
            end = run.utc_micros(one.millis)
            yield Slice(end - round(one.seconds * MICROS), end, one.what, {})


def _operations(one: RunAnalysis) -> Iterator[Slice]:
    """The slow operations that the OSD kept; of a release that logs no zone, by the log's own."""
    offset = (one.run.utc_offset_seconds or 0) * MICROS
    for operation in one.beside.operations:
        if operation.initiated_micros is not None and operation.duration_seconds is not None:
            start = operation.initiated_micros - (0 if operation.has_zone else offset)
            end = start + round(operation.duration_seconds * MICROS)
            yield Slice(start, end, str(operation.operation_class), {"operation": operation.description})


def _counters(process: int, what: str, holds: Iterable[LevelHolds]) -> Iterator[Event]:
    for one in holds:
        yield _counter(process, one.micros, f"{what} {one.column_family} L{one.level}", one.amount)


def _counter(process: int, micros: int, name: str, value: int) -> Event:
    return {"ph": "C", "pid": process, "ts": micros, "name": name, "args": {"value": value}}


def _named(process: int, track: int, what: str, name: str) -> Event:
    return {"ph": "M", "pid": process, "tid": track, "name": what, "args": {"name": name}}
