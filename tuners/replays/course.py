"""The course of a replay: how the bytes of flushes and compactions grow over the workload's own time.

A settled replay goes as fast as it can, so the times in its LOG are its own. Steps, which are noted as they are
written, tell which moment of the workload a job of the LOG belongs to.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH
from numpy.typing import NDArray

MOMENTS = 48


BEFORE = -1.0


def seconds_reached(
    moments: NDArray[np.float64], steps: Sequence[tuple[float, float]], since: float, is_settled: bool
) -> NDArray[np.float64]:
    """The second of the workload at each moment (seconds since 1970; shape: n,); BEFORE for those before `since`.

    `steps` as in `course_of`. Of a settled replay it is the end of the step that a moment is in: the database came to
    rest before the workload's clock went on.
    """
    clock, reached = np.array(steps).T
    if is_settled:
        found = reached[np.minimum(np.searchsorted(clock, moments), len(reached) - 1)]
    else:
        found = np.interp(moments, clock, reached)
    return np.where(moments < since, BEFORE, found)


class CoursePoint(NamedTuple):
    """Bytes that flushes and that compactions wrote from the start until a second of the workload."""

    seconds: float
    flush_bytes: float
    compaction_output_bytes: float


class PressurePoint(NamedTuple):
    """At a second of the workload: files of level 0 and bytes that wait for compaction, in the family with most."""

    seconds: float
    level0_files: int
    pending_compaction_bytes: float


def pressure_of(points: Sequence[PressurePoint], seconds: float) -> tuple[PressurePoint, ...]:
    """The most in each of MOMENTS equal parts of so many seconds, at its end; parts without a point are left out."""
    found: dict[int, PressurePoint] = {}
    for one in points:
        part = min(int(one.seconds * MOMENTS / seconds), MOMENTS - 1) if seconds else 0
        end, before = seconds * (part + 1) / MOMENTS, found.get(part, one)
        found[part] = PressurePoint(
            end,
            max(before.level0_files, one.level0_files),
            max(before.pending_compaction_bytes, one.pending_compaction_bytes),
        )
    return tuple(found[part] for part in sorted(found))


def course_of(
    jobs: pl.DataFrame, steps: Sequence[tuple[float, float]], since: float, seconds: float
) -> tuple[CoursePoint, ...]:
    """The course at MOMENTS equal parts of a workload `seconds` long; none where no step was noted.

    `steps` are (seconds since 1970, second of the workload) in order; jobs before `since` are left out.
    """
    if not steps:
        return ()
    moments = pl.col("finished_at").dt.epoch("us") / 1e6
    written = jobs.filter(moments >= since, pl.col("kind").is_in((FLUSH, COMPACTION))).with_columns(moment=moments)
    when = seconds_reached(written["moment"].to_numpy(), steps, since, is_settled=False)
    order = np.argsort(when, kind="stable")
    ends = np.linspace(0.0, seconds, MOMENTS + 1)
    until = np.searchsorted(when[order], ends, side="right")
    # what settles after the last operation belongs to the end
    until[-1] = len(when)
    grown = []
    for kind in (FLUSH, COMPACTION):
        own = written.select(pl.when(pl.col("kind") == kind).then("output_bytes").otherwise(0)).to_series().to_numpy()
        grown.append(np.concatenate(([0], np.cumsum(own[order])))[until].astype(float))
    return tuple(CoursePoint(*point) for point in zip(ends.tolist(), *(one.tolist() for one in grown), strict=True))
