"""The course of a replay: how the bytes of flushes and compactions grow over the workload's own time.

A settled replay goes as fast as it can, so the times in its LOG are its own. Steps, which are noted as they are
written, tell which moment of the workload a job of the LOG belongs to.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from lsmlens.analyzer.jobs import FLUSH, MOVE

MOMENTS = 48


class CoursePoint(NamedTuple):
    """Bytes that flushes and that compactions wrote from the start until a second of the workload."""

    seconds: float
    flush_bytes: float
    compaction_output_bytes: float


def course_of(
    jobs: pl.DataFrame, steps: Sequence[tuple[float, float]], since: float, seconds: float
) -> tuple[CoursePoint, ...]:
    """The course of jobs at MOMENTS equal parts of a workload `seconds` long; none where no step was noted.

    `steps` are (seconds since 1970, second of the workload) in order; jobs before `since` are left out.
    """
    if not steps:
        return ()
    clock, reached = np.array(steps).T
    written = jobs.filter(pl.col("kind") != MOVE, pl.col("finished_at").to_physical() >= since * 1e6)
    when = np.interp(written["finished_at"].to_physical().to_numpy() / 1e6, clock, reached)
    is_flush, sizes = (written["kind"] == FLUSH).to_numpy(), written["output_bytes"].to_numpy()
    flushed, merged = np.where(is_flush, sizes, 0), np.where(is_flush, 0, sizes)
    ends = np.linspace(0.0, seconds, MOMENTS + 1)
    order = np.argsort(when, kind="stable")
    until = np.searchsorted(when[order], ends, side="right")
    # what settles after the last operation belongs to the end
    until[-1] = len(when)
    sums = [np.concatenate(([0.0], np.cumsum(one[order]))) for one in (flushed, merged)]
    return tuple(
        CoursePoint(float(end), float(sums[0][place]), float(sums[1][place]))
        for end, place in zip(ends, until.tolist(), strict=True)
    )
