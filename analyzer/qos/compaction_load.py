"""The load of compactions on an OSD's device: no queue schedules it; clients and recovery share what it leaves."""

from dataclasses import dataclass

from lsmlens.analyzer.events import EventKind
from lsmlens.analyzer.run import Run
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
    intervals: list[tuple[int, int]] = []
    moved_bytes = 0
    moments: list[int] = []
    for event in run.events:
        moments.append(event["time_micros"])
        if event["event"] != EventKind.COMPACTION_FINISHED:
            continue
        started = event.get("started_micros")
        if started is None or started > event["time_micros"]:
            continue
        intervals.append((started, event["time_micros"]))
        moved_bytes += event["total_output_size"] + (event.get("input_data_size") or 0)
    length = (max(moments) - min(moments)) if moments else 0
    active = _union(intervals)
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
