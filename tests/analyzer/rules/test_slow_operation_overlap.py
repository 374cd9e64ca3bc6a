"""R12: real jobs of an OSD, with operations put where they overlap and where they do not."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.companions import Beside
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed
from lsmlens.analyzer.measures.coincidences import measure_coincidences
from lsmlens.analyzer.rules.slow_operation_overlap import SlowOperationOverlap
from lsmlens.analyzer.units import MICROS

from tests.run_tables import events_of

RULE = SlowOperationOverlap()


@pytest.fixture(scope="module")
def stock(fixtures: Path) -> RunAnalysis:
    return next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)


def with_beside(one: RunAnalysis, beside: Beside) -> RunAnalysis:
    """The OSD with something else beside its log."""
    return replace(one, beside=beside, coincidences=measure_coincidences(one.run, beside))


@pytest.fixture
def with_operations(stock: RunAnalysis) -> Callable[..., RunAnalysis]:
    """The OSD as it was, its operations moved to these times."""
    real = stock.beside.operations
    end = max(event["time_micros"] for event in events_of(stock.run))

    def move(*micros: int) -> RunAnalysis:
        assert len(micros) <= len(real)
        moved = [
            replace(one, initiated_micros=at, age_seconds=(end - at) / MICROS)
            for one, at in zip(real, micros, strict=False)
        ]
        return with_beside(stock, replace(stock.beside, operations=tuple(moved)))

    return move


@pytest.fixture(scope="module")
def jobs(stock: RunAnalysis) -> list[tuple[int, int]]:
    kinds = ("flush_finished", "compaction_finished")
    return [(one["started_micros"], one["time_micros"]) for one in events_of(stock.run) if one["event"] in kinds]


def test_operations_during_jobs(with_operations: Callable[..., RunAnalysis], jobs: list[tuple[int, int]]) -> None:
    (finding,) = RULE.check(with_operations(*sorted(start for start, _ in jobs)[::5]), ())
    assert isinstance(finding, Finding)
    assert finding.code == "R12"
    assert float(finding.value.split()[0]) > 3
    assert "15 of 15 slow operations overlap" in finding.evidence[0].text


def test_operations_between_jobs(with_operations: Callable[..., RunAnalysis], jobs: list[tuple[int, int]]) -> None:
    start, end = min(start for start, _ in jobs), max(end for _, end in jobs)
    idle = [
        at
        for at in range(start, end, 3 * MICROS)
        if all(at < since - 2 * MICROS or at > until + 2 * MICROS for since, until in jobs)
    ]
    assert len(idle) >= 20
    assert list(RULE.check(with_operations(*idle[:20]), ())) == []


def test_one_moment_is_too_few(stock: RunAnalysis) -> None:
    """As it was: the twenty slowest operations of the real OSD all waited for the same thing."""
    (lacking,) = RULE.check(stock, ())
    assert isinstance(lacking, NotAssessed)
    assert "here 20 at 1" in lacking.needs


def test_no_operations(fixtures: Path) -> None:
    (lacking,) = RULE.check(analyze([str(fixtures / "osd-reef")]).runs[0], ())
    assert isinstance(lacking, NotAssessed)
    assert "here 0 at 0" in lacking.needs


def test_jobs_that_leave_no_time(fixtures: Path, stock: RunAnalysis) -> None:
    """Jobs of osd-rotated's small buffers leave less than two thirds of the time free: three times chance cannot be."""
    (rotated,) = analyze([str(fixtures / "osd-rotated")]).runs
    ends = [one["time_micros"] for one in events_of(rotated.run) if one["event"] == "flush_finished"]
    spread = range(min(ends), max(ends), (max(ends) - min(ends)) // 19)
    moved = [
        replace(one, initiated_micros=at, age_seconds=(max(ends) - at) / MICROS)
        for one, at in zip(stock.beside.operations, spread, strict=False)
    ]
    (lacking,) = RULE.check(with_beside(rotated, replace(rotated.beside, operations=tuple(moved))), ())
    assert isinstance(lacking, NotAssessed)
    assert "time without flushes and compactions" in lacking.needs


@pytest.mark.parametrize("bundle", ["rocksdb-7.8", "rocksdb-current"])
def test_nothing_for_others(bundle: str, fixtures: Path) -> None:
    assert list(RULE.check(analyze([str(fixtures / bundle)]).runs[0], ())) == []


def test_nothing_for_monitors(fixtures: Path) -> None:
    monitor = next(one for one in analyze([str(fixtures / "osd-stock")]).runs if one.run.is_monitor)
    assert list(RULE.check(monitor, ())) == []
