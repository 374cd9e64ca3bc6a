"""Coincidences: a real OSD's flushes and compactions against what was slow at times put there."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.companions import Beside
from lsmlens.analyzer.clients.client_series import ClientSeries
from lsmlens.analyzer.clients.fio_logs import Measure
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.measures.coincidences import SLOW_OPERATIONS, Coincidence, measure_coincidences
from lsmlens.analyzer.units import MICROS

from tests.run_tables import events_of


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
