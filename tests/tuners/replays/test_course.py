"""The course of a replay over the workload's time."""

import numpy as np
import pytest
from lsmlens.analyzer.runs.jobs import Job
from lsmlens.tuners.replays.course import BEFORE, MOMENTS, course_of, seconds_reached

from tests import jobs


def flush(second: float, size: int) -> Job:
    return jobs.flush(size, finished_at=int(second * 1e6))


def compaction(second: float, size: int) -> Job:
    return jobs.compaction(size, finished_at=int(second * 1e6))


# the workload's first half took 1 s of the replay, its second half 9 s
STEPS = [(1000.0, 0.0), (1001.0, 48.0), (1010.0, 96.0)]


def test_jobs_stand_at_the_workload_s_moments() -> None:
    rows = [flush(1000.5, 10), compaction(1001.0, 100), flush(1005.5, 20), compaction(1012.0, 200)]
    found = course_of(jobs.jobs(*rows), STEPS, 1000.0, 96.0)
    assert len(found) == MOMENTS + 1
    at = {round(one.seconds): one for one in found}
    assert (at[22].flush_bytes, at[24].flush_bytes, at[70].flush_bytes, at[72].flush_bytes) == (0, 10, 10, 30)
    assert (at[46].compaction_output_bytes, at[48].compaction_output_bytes) == (0, 100)
    # what settled after the last operation is there in the end
    assert found[-1].compaction_output_bytes == 300


def test_what_was_before_the_start_is_left_out() -> None:
    found = course_of(jobs.jobs(flush(999.0, 10), flush(1001.0, 5)), STEPS, 1000.0, 96.0)
    assert found[-1].flush_bytes == pytest.approx(5)


def test_without_jobs_or_steps_there_is_nothing() -> None:
    assert {one.flush_bytes for one in course_of(jobs.jobs(), STEPS, 1000.0, 96.0)} == {0.0}
    assert course_of(jobs.jobs(flush(1.0, 1)), [], 0.0, 96.0) == ()


def test_a_settled_replay_s_jobs_are_of_the_end_of_their_step() -> None:
    moments = np.array([999.0, 1000.5, 1001.0, 1005.5, 1012.0])
    assert seconds_reached(moments, STEPS, 1000.0, is_settled=True).tolist() == [BEFORE, 48.0, 48.0, 96.0, 96.0]
    assert seconds_reached(moments, STEPS, 1000.0, is_settled=False).tolist() == [BEFORE, 24.0, 48.0, 72.0, 96.0]
