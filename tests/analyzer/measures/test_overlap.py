"""Overlap: constructed intervals whose answer is known."""

from random import Random

import pytest
from lsmlens.analyzer.measures.overlap import Overlap, count_moments, measure_overlap
from lsmlens.analyzer.units import MICROS

SECOND = MICROS
SPAN = (0, 1000 * SECOND)
# A second in every hundred is busy; with the slack of one second before and after it is three.
JOBS = [(at * SECOND, (at + 1) * SECOND) for at in range(10, 1000, 100)]


def operations_at(*seconds: float) -> list[tuple[int, int]]:
    return [(round(at * SECOND), round(at * SECOND)) for at in seconds]


def test_operations_in_jobs_are_far_above_chance() -> None:
    overlap = measure_overlap(operations_at(*(at + 0.3 * at / 100 for at in range(10, 310, 100)), 410.5), JOBS, SPAN)
    assert (overlap.operations, overlap.overlapping) == (4, 4)
    assert overlap.chance_share == pytest.approx(0.03, abs=0.01)
    assert overlap.ratio == pytest.approx(1 / 0.03, rel=0.4)


def test_operations_at_any_time_are_at_chance() -> None:
    random = Random(7)
    overlap = measure_overlap(operations_at(*(random.uniform(0, 1000) for _ in range(1000))), JOBS, SPAN)
    assert overlap.chance_share == pytest.approx(0.03, abs=0.005)
    assert overlap.ratio == pytest.approx(1, abs=0.35)
    assert overlap.interval is not None
    low, high = overlap.interval
    assert high is not None
    assert low <= 1 <= high


def test_operations_away_from_jobs_are_below_chance() -> None:
    overlap = measure_overlap(operations_at(*range(50, 1000, 100)), JOBS, SPAN)
    assert overlap.overlapping == 0
    assert overlap.ratio == 0


def test_one_burst_is_no_proof_however_many_operations_it_has() -> None:
    """Jobs fill a fifth of the time: a burst falls into one that often, and its interval reaches down to 1."""
    busy = [(at * SECOND, (at + 18) * SECOND) for at in range(10, 1000, 100)]
    burst = measure_overlap(operations_at(*(15 + at / 100 for at in range(40))), busy, SPAN)
    assert burst.overlapping == 40
    assert burst.ratio == pytest.approx(5, rel=0.15)
    assert burst.interval is not None
    low, high = burst.interval
    assert low == pytest.approx(1)
    assert high is None


@pytest.mark.parametrize(("since", "hit"), [(8.9, 0), (9.0, 1), (12.0, 1), (12.1, 0)])
def test_the_slack_is_a_second_on_either_side(since: float, hit: int) -> None:
    assert measure_overlap(operations_at(since), JOBS[:1], SPAN).overlapping == hit


def test_a_job_within_a_long_operation_counts() -> None:
    assert measure_overlap([(2 * SECOND, 50 * SECOND)], JOBS[:1], SPAN).overlapping == 1


def test_an_operation_beyond_the_end_comes_in_at_the_beginning() -> None:
    """Jobs in the first second only: an operation of half the span reaches it from half of all places."""
    overlap = measure_overlap([(0, 500 * SECOND)], [(0, SECOND)], SPAN, slack=0)
    assert overlap.chance_share == pytest.approx(0.5, abs=0.05)


def test_outside_the_span_and_without_jobs() -> None:
    assert measure_overlap(operations_at(-1, 1000, 2000), JOBS, SPAN) == Overlap(0, 0, 0.0, 0, 0)
    nothing = measure_overlap(operations_at(1), [], SPAN)
    assert (nothing.ratio, nothing.interval, nothing.chance_share) == (None, None, 0.0)
    assert Overlap(0, 0, 0.0, 0, 0).chance_share == 0


def test_the_same_again() -> None:
    operations = operations_at(10, 20, 110, 333)
    assert measure_overlap(operations, JOBS, SPAN) == measure_overlap(operations, JOBS, SPAN)


def test_moments() -> None:
    assert count_moments(operations_at(1, 1.5, 3, 5.1, 100)) == 3
    assert count_moments([]) == 0
