"""The course of a replay over the workload's time."""

from typing import Any

import pytest
from lsmlens.tuners.replays.course import MOMENTS, course_of


def flush(second: float, size: int) -> dict[str, Any]:
    return {
        "event": "flush_finished",
        "time_micros": int(second * 1e6),
        "created_bytes": size,
        "created_blob_bytes": 0,
        "created_records": 1,
    }


def compaction(second: float, size: int) -> dict[str, Any]:
    return {
        "event": "compaction_finished",
        "time_micros": int(second * 1e6),
        "total_output_size": size,
        "num_input_records": 2,
        "num_output_records": 1,
        "compaction_time_micros": 5,
    }


# the workload's first half took 1 s of the replay, its second half 9 s
STEPS = [(1000.0, 0.0), (1001.0, 48.0), (1010.0, 96.0)]


def test_jobs_stand_at_the_workload_s_moments() -> None:
    events = [flush(1000.5, 10), compaction(1001.0, 100), flush(1005.5, 20), compaction(1012.0, 200)]
    found = course_of(events, STEPS, 1000.0, 96.0)
    assert len(found) == MOMENTS + 1
    at = {round(one.seconds): one for one in found}
    assert (at[22].flush_bytes, at[24].flush_bytes, at[70].flush_bytes, at[72].flush_bytes) == (0, 10, 10, 30)
    assert (at[46].compaction_output_bytes, at[48].compaction_output_bytes) == (0, 100)
    # what settled after the last operation is there in the end
    assert found[-1].compaction_output_bytes == 300


def test_what_was_before_the_start_is_left_out() -> None:
    found = course_of([flush(999.0, 10), flush(1001.0, 5)], STEPS, 1000.0, 96.0)
    assert found[-1].flush_bytes == pytest.approx(5)


def test_without_jobs_or_steps_there_is_nothing() -> None:
    assert {one.flush_bytes for one in course_of([], STEPS, 1000.0, 96.0)} == {0.0}
    assert course_of([flush(1.0, 1)], [], 0.0, 96.0) == ()
