"""How long a log's compactions took for what they read."""

from collections.abc import Callable
from typing import Any

import pytest
from lsmlens.analyzer.analysis import RunAnalysis, measure
from lsmlens.analyzer.runs.run import Run
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.tuners.estimation.compaction_times import LEAST_JOBS, compaction_seconds, job_times

from tests import run_tables


def log(*jobs: tuple[str, int, int, float]) -> Run:
    """A run of compactions: family, highest level read, MiB read, seconds."""
    rows = []
    for number, (family, level, read, seconds) in enumerate(jobs):
        start = 1_700_000_000_000_000 + number * 10_000_000
        took = {"started_at": start, "micros": round(0.9 * seconds * 1e6), "input_bytes": read << 20}
        levels: dict[str, Any] = {"column_family": family, "input_levels": [level, level + 1], "job": number}
        rows.append(run_tables.compaction(start + round(seconds * 1e6), 1, level + 1, **took, **levels))
    return run_tables.run_of_jobs(*rows)


def test_level_0_and_deeper_ones_have_speeds_of_their_own() -> None:
    run = log(*[("p", 0, 10, 1.0)] * LEAST_JOBS, *[("p", 1, 40, 1.0)] * LEAST_JOBS)
    found = compaction_seconds(run, ["p"])["p"]
    assert found.level0 * 2**20 == pytest.approx(0.1)
    assert found.deeper * 2**20 == pytest.approx(0.025)
    assert found.times(8).level0 == pytest.approx(8 * found.level0)


def test_a_family_with_few_compactions_is_as_fast_as_all() -> None:
    run = log(*[("p", 0, 10, 1.0)] * LEAST_JOBS, ("O", 0, 1, 1.0))
    found = compaction_seconds(run, ["O", "p"])
    assert found["p"].level0 * 2**20 == pytest.approx(0.1)
    assert found["O"].level0 * 2**20 == pytest.approx((LEAST_JOBS + 1) / (10 * LEAST_JOBS + 1))
    assert found["O"].deeper == found["O"].level0


def test_a_log_that_does_not_tell_has_none() -> None:
    assert compaction_seconds(log(*[("p", 0, 10, 1.0)] * (LEAST_JOBS - 1)), ["p"]) == {}
    jobs = [run_tables.compaction(9, 1, input_bytes=None, input_levels=[0, 1])] * LEAST_JOBS
    run = run_tables.run_of_jobs(*jobs)
    assert compaction_seconds(run, ["p"]) == {}


def test_a_real_log(analysed: Callable[[str], RunAnalysis]) -> None:
    found = compaction_seconds(analysed("osd-slow").run, ["p-0"])["p-0"]
    assert 1e6 < 1 / found.level0 < 1e9
    assert 1e6 < 1 / found.deeper < 1e9


def test_a_backlog_says_what_its_limiter_lets_through(analysed: Callable[[str], RunAnalysis]) -> None:
    """`--rate_limiter_bytes_per_sec=1048576`, one compaction thread, and writers that waited 17 s in two minutes."""
    run = analysed("rocksdb-backlog")
    found = job_times(run, ["default"], 0.0)
    assert found is not None
    assert found.is_limited
    assert found.joint_bytes_per_second == pytest.approx(1 << 20, rel=0.1)
    assert found.most_at_once == 1
    assert found.waited[-1][1] == pytest.approx(16.976)


def test_jobs_of_a_real_log_that_has_no_limiter(analysed: Callable[[str], RunAnalysis]) -> None:
    found = job_times(analysed("osd-slow"), ["p-0"], 0.0)
    assert found is not None
    assert not found.is_limited
    assert 0 < found.scatter < 1.5
    assert 1 <= found.mean_at_once <= found.most_at_once
    assert found.seconds["p-0"].flush > 0
    assert 0.5 < found.seconds["p-0"].written <= 1


def test_jobs_at_once_and_what_they_write_together() -> None:
    """Two compactions at once for a second each, then one for a second; each writes 10 MiB."""
    start = 1_700_000_000_000_000
    rows = []
    for number in range(LEAST_JOBS):
        for job, begin in enumerate((0, 0, 1_000_000)):
            began = start + number * 10_000_000 + begin
            took: dict[str, Any] = {"started_at": began, "micros": 1_000_000, "input_bytes": 12 << 20}
            places: dict[str, Any] = {"column_family": "p", "input_levels": [0, 1], "job": 3 * number + job}
            rows.append(run_tables.compaction(began + 1_000_000, 10 << 20, 1, **took, **places))
    run = run_tables.run_of_jobs(*rows)
    found = job_times(measure(run, Selection()), ["p"], start / 1e6)
    assert found is not None
    assert (found.most_at_once, found.is_limited, found.waited) == (2, False, ())
    assert found.mean_at_once == pytest.approx(1.5)
    assert found.joint_bytes_per_second == pytest.approx(20 << 20)
    assert found.scatter == pytest.approx(0)
