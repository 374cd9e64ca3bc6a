"""How long a log's compactions took for what they read."""

from collections.abc import Callable

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.run import Run
from lsmlens.tuners.estimation.compaction_times import LEAST_JOBS, compaction_seconds


def log(*jobs: tuple[str, int, int, float]) -> Run:
    """A run of compactions: family, highest level read, MiB read, seconds."""
    run = Run("made", False, [])
    for number, (family, level, read, seconds) in enumerate(jobs):
        start = 1_700_000_000_000_000 + number * 10_000_000
        run.events.append(
            {
                **{"event": "compaction_finished", "column_family": family, "session": 0, "job": number},
                **{"time_micros": start + round(seconds * 1e6), "started_micros": start},
                **{"compaction_time_micros": round(0.9 * seconds * 1e6), "output_level": level + 1},
                **{"input_data_size": read << 20, "input_levels": [level, level + 1]},
            }
        )
    return run


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
    run = log(*[("p", 0, 10, 1.0)] * LEAST_JOBS)
    for event in run.events:
        del event["input_data_size"]
    assert compaction_seconds(run, ["p"]) == {}


def test_a_real_log(analysed: Callable[[str], RunAnalysis]) -> None:
    found = compaction_seconds(analysed("osd-slow").run, ["p-0"])["p-0"]
    assert 1e6 < 1 / found.level0 < 1e9
    assert 1e6 < 1 / found.deeper < 1e9
