"""How long a log's compactions took for what they read."""

from collections.abc import Callable
from typing import Any

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.runs.run import Run
from lsmlens.tuners.estimation.compaction_times import LEAST_JOBS, compaction_seconds

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
