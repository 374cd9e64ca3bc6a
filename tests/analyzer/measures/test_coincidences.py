"""Coincidences: a real OSD's flushes and compactions against what was slow at times put there."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.companions import Beside
from lsmlens.analyzer.clients.client_series import ClientSeries
from lsmlens.analyzer.clients.fio_logs import Measure
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.measures.coincidences import (
    SLOW_OPERATIONS,
    Coincidence,
    Overlap,
    count_moments,
    measure_coincidences,
    measure_overlap,
)
from lsmlens.analyzer.units import MICROS

from tests.run_tables import events_of

SECOND = MICROS
SPAN = (0, 1000 * SECOND)
# A second in every hundred is busy; with the slack of one second before and after it is three.
JOBS = [(at * SECOND, (at + 1) * SECOND) for at in range(10, 1000, 100)]


@pytest.fixture(scope="module")
def stock(fixtures: Path) -> RunAnalysis:
    return next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)


@pytest.fixture(scope="module")
def flushes(stock: RunAnalysis) -> list[tuple[int, int]]:
    events = [one for one in events_of(stock.run) if one["event"] == "flush_finished"]
    return [(one["started_micros"], one["time_micros"]) for one in events]


def during(found: tuple[Coincidence, ...], kind: str) -> Coincidence:
    (one,) = (one for one in found if one.during == kind)
    return one


def seconds(rows: list[tuple[int, float]]) -> ClientSeries:
    """Seconds by their ends, with the mean latency in each."""
    return ClientSeries(
        "bench.out",
        Measure.LATENCY,
        "write",
        MICROS,
        tuple(end - rows[0][0] + MICROS for end, _ in rows),
        tuple(latency for _, latency in rows),
        rows[0][0] - MICROS,
        "its own stamps",
    )


@pytest.fixture
def idle_seconds(flushes: list[tuple[int, int]]) -> Callable[[int], bool]:
    """Whether no flush is near the second that ends then."""

    def is_idle(end: int) -> bool:
        return all(end < since - MICROS or end - MICROS > until + MICROS for since, until in flushes)

    return is_idle


@pytest.mark.parametrize("slow_when_idle", [False, True])
def test_slow_seconds_of_a_load_program(
    slow_when_idle: bool, stock: RunAnalysis, flushes: list[tuple[int, int]], idle_seconds: Callable[[int], bool]
) -> None:
    start, end = min(flushes)[0], max(flushes)[1]
    ends = range(start, end, MICROS)
    wanted = [at for at in ends if idle_seconds(at) == slow_when_idle][::4]
    rows = [(at, 0.05 if at in wanted else 0.01) for at in ends]
    found = measure_coincidences(stock.run, Beside(client_series=(seconds(rows),)))
    assert {one.what for one in found} == {"slow seconds of bench.out"}
    overlap = during(found, "flushes").overlap
    assert overlap.operations == len(wanted)
    assert overlap.overlapping == (0 if slow_when_idle else len(wanted))
    assert overlap.ratio is not None
    assert overlap.ratio < 0.5 if slow_when_idle else overlap.ratio > 1


def test_too_short_a_run_or_an_even_one_says_nothing(stock: RunAnalysis, flushes: list[tuple[int, int]]) -> None:
    start = flushes[0][0]
    short = [(start + at * MICROS, 0.5 if at == 3 else 0.01) for at in range(9)]
    even = [(start + at * MICROS, 0.015 if at % 2 else 0.01) for at in range(30)]
    assert measure_coincidences(stock.run, Beside(client_series=(seconds(short), seconds(even)))) == ()


def test_stalls_are_held_against_slow_operations(stock: RunAnalysis) -> None:
    real = stock.beside.operations
    begun = [one.initiated_micros for one in real if one.initiated_micros is not None]
    assert {one.what for one in stock.coincidences} >= {SLOW_OPERATIONS}
    slow = [one for one in stock.coincidences if one.what == SLOW_OPERATIONS]
    assert not during(tuple(slow), "stalls").had_any
    offset = stock.run.utc_offset_seconds or 0
    moments = [(begun[0] // 1000 + offset * 1000, "O-0", "stop")]
    stalled = replace(stock.run, stall_moments=moments)
    found = [one for one in measure_coincidences(stalled, stock.beside) if one.what == SLOW_OPERATIONS]
    stalls = during(tuple(found), "stalls")
    assert stalls.had_any
    assert stalls.overlap.overlapping == stalls.overlap.operations == len(real)
    assert stalls.moments == 1


def test_without_anything_slow(fixtures: Path) -> None:
    (reef,) = analyze([str(fixtures / "osd-reef")]).runs
    assert reef.coincidences == ()


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
