"""Paced rounds: how many a budget allows, and what disturbed them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.trial import Trial
from lsmlens.tuners.search.pacing import affordable_rounds, paced

if TYPE_CHECKING:
    from lsmlens.tuners.search.evaluation import Evaluator


@dataclass
class Ran:
    """An evaluator whose replays have ended, each for the same."""

    fitted: FittedWorkload
    engine: EngineChoice
    results: list[Measurement]
    work_dir: Path | None = None

    def run(self, trials: list[Trial], jobs: int) -> list[Measurement]:
        assert (len(trials), jobs) == (len(self.results), 1)
        return self.results


def test_rounds_take_as_long_as_the_log_for_each_set() -> None:
    assert affordable_rounds(100.0, 2, 219.0) == []
    assert affordable_rounds(100.0, 2, 331.0) == [(1, 1.0), (1, 2.0)]


def test_what_disturbed_replays_is_kept(
    fitted: FittedWorkload, engine: EngineChoice, present: OptionSet, measured: Callable[..., Measurement]
) -> None:
    crowded = "other processes took 40 % of the processors meanwhile; latencies and stalls hold that"
    results = [measured(disturbances=(crowded,)), measured(disturbances=())]
    evaluator = cast("Evaluator", Ran(fitted, engine, results))
    found = paced(evaluator, [present, replace(present, name="other")], [(1, 1.0)])
    assert found.disturbed == (crowded,)
    assert found.problem is None
    assert {name: len(every) for name, every in found.replays.items()} == {present.name: 1, "other": 1}


def test_without_rounds_nothing_is_replayed(fitted: FittedWorkload, engine: EngineChoice, present: OptionSet) -> None:
    found = paced(cast("Evaluator", Ran(fitted, engine, [])), [present], [])
    assert found.problem is not None
    assert found.least_seconds == pytest.approx(2.2 * fitted.stream.seconds)
