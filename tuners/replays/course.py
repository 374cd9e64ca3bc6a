"""The course of a replay: how the bytes of flushes and compactions grow over the workload's own time.

A settled replay goes as fast as it can, so the times in its LOG are its own. Steps, which are noted as they are
written, tell which moment of the workload a job of the LOG belongs to.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from lsmlens.analyzer.amplification import FamilyWrites
from lsmlens.analyzer.events import Event, EventKind

MOMENTS = 48


class CoursePoint(NamedTuple):
    """Bytes that flushes and that compactions wrote from the start until a second of the workload."""

    seconds: float
    flush_bytes: float
    compaction_output_bytes: float


def course_of(
    events: Iterable[Event], steps: Sequence[tuple[float, float]], since: float, seconds: float
) -> tuple[CoursePoint, ...]:
    """The course at MOMENTS equal parts of a workload `seconds` long; none where no step was noted.

    `steps` are (seconds since 1970, second of the workload) in order; jobs before `since` are left out.
    """
    if not steps:
        return ()
    clock, reached = np.array(steps).T
    when: list[float] = []
    flushed: list[float] = []
    merged: list[float] = []
    for event in events:
        moment = event.get("time_micros", 0) / 1e6
        if moment < since or event["event"] not in (EventKind.FLUSH_FINISHED, EventKind.COMPACTION_FINISHED):
            continue
        one = FamilyWrites("")
        if event["event"] == EventKind.FLUSH_FINISHED:
            one.add_flush(event)
        else:
            one.add_compaction(event)
        when.append(float(np.interp(moment, clock, reached)))
        flushed.append(one.flush_bytes)
        merged.append(one.compaction_output_bytes)
    ends = np.linspace(0.0, seconds, MOMENTS + 1)
    order = np.argsort(when, kind="stable")
    until = np.searchsorted(np.array(when)[order], ends, side="right") if when else np.zeros(MOMENTS + 1, np.int64)
    # what settles after the last operation belongs to the end
    until[-1] = len(when)
    sums = [np.concatenate(([0.0], np.cumsum(np.array(one)[order]))) for one in (flushed, merged)] if when else None
    return tuple(
        CoursePoint(float(end), *((0.0, 0.0) if sums is None else (float(sums[0][place]), float(sums[1][place]))))
        for end, place in zip(ends, until.tolist(), strict=True)
    )
