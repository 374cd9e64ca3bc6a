"""The load of compactions on an OSD's device: no queue schedules it; clients and recovery share what it leaves."""

from dataclasses import dataclass

import polars as pl
from lsmlens.analyzer.runs.jobs import COMPACTION
from lsmlens.analyzer.runs.run import Run
from lsmlens.analyzer.units import MICROS


@dataclass(frozen=True, slots=True)
class CompactionLoad:
    """How much of the log's time compactions ran, and the bytes they read and wrote a second while they did.

    What they read is told by the files' sizes before (`input_data_size`); the operating system's cache may have had it.
    """

    active_share: float
    bytes_per_second: float
    seconds: float


def compaction_load(run: Run) -> CompactionLoad | None:
    """The load in a run's log; None where it has no compaction whose start and end are both known."""
    jobs = run.jobs.filter(pl.col("kind") == COMPACTION, pl.col("started_at") <= pl.col("finished_at"))
    times = jobs.select(pl.col("started_at", "finished_at").to_physical())
    moved_bytes = sum(jobs.select(pl.col("output_bytes", "input_bytes").sum()).row(0))
    length = (run.last_event_micros or 0) - (run.first_event_micros or 0)
    active = _union(list(times.iter_rows()))
    if not active or not length:
        return None
    return CompactionLoad(active / length, moved_bytes * MICROS / active, length / MICROS)


def _union(intervals: list[tuple[int, int]]) -> int:
    """How long at least one interval lasts."""
    total, reached = 0, 0
    for begin, end in sorted(intervals):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total
