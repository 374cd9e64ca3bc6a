"""Paced rounds: how many a budget allows, and what disturbed them."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.replays.trial import Trial
from lsmlens.tuners.search.evaluation import Evaluator
from lsmlens.tuners.search.pacing import affordable_rounds, paced


def test_rounds_take_as_long_as_the_log_for_each_set() -> None:
    assert affordable_rounds(100.0, 2, 219.0) == []
    assert affordable_rounds(100.0, 2, 331.0) == [(1, 1.0), (1, 2.0)]


def test_what_disturbed_replays_is_kept(
    fitted: FittedWorkload,
    engine: EngineChoice,
    present: OptionSet,
    measured: Callable[..., Measurement],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crowded = "other processes took 40 % of the processors meanwhile; latencies and stalls hold that"
    results = [measured(disturbances=(crowded,)), measured(disturbances=())]

    def ran(replayer: Replayer, trials: list[Trial]) -> list[Measurement]:
        assert (len(trials), replayer.jobs) == (len(results), 1)
        return results

    monkeypatch.setattr(Replayer, "results", ran)
    found = paced(
        Evaluator(fitted, present, Replayer(engine, jobs=4)), [present, replace(present, name="other")], [(1, 1.0)]
    )
    assert found.disturbed == (crowded,)
    assert found.problem is None
    assert {name: len(every) for name, every in found.replays.items()} == {present.name: 1, "other": 1}


def test_without_rounds_nothing_is_replayed(fitted: FittedWorkload, engine: EngineChoice, present: OptionSet) -> None:
    found = paced(Evaluator(fitted, present, Replayer(engine)), [present], [])
    assert found.problem is not None
    assert found.least_seconds == pytest.approx(2.2 * fitted.stream.seconds)
