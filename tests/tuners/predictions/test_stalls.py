"""Stalls under other options and loads: when they are replayed, at which loads, and what comes of it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.prediction import Prediction
from lsmlens.tuners.predictions.stalls import FAR, MOST_LOAD, SPEED_ERROR, StallForecast, closed_form, forecasts
from lsmlens.tuners.replays.measurement import FailureKind, Measurement, TrialFailure
from lsmlens.tuners.replays.trial import Trial
from lsmlens.tuners.replays.write_stalls import WriteStalls

Measured = Callable[..., Measurement]
SECONDS = 600.0


@dataclass
class Replays:
    """Replays of a device that stalls from so many times the log's load on, for as much of the time as is too much."""

    measured: Measured
    stalls_from: float
    engine: EngineChoice
    trials: list[Trial] = field(default_factory=list)

    def settled_folder(self, _bytes: float) -> Path | None:
        return None

    def results(self, trials: Sequence[Trial]) -> list[Measurement | TrialFailure]:
        self.trials += trials
        return [self._result(one) for one in trials]

    def _result(self, trial: Trial) -> Measurement | TrialFailure:
        assert trial.conditions is not None
        if not self.stalls_from:
            return TrialFailure(1, FailureKind.CRASHED, "killed by SIGABRT")
        over = max(0.0, trial.conditions.load - self.stalls_from) * SECONDS / 10
        found = WriteStalls(0, round(over), 0.0, over, over, SECONDS, {"default": 7}, {"default": 0.0})
        return self.measured(write_stalls=found)


Forecasting = Callable[..., tuple[StallForecast | None, Replays]]


@pytest.fixture
def forecast(predicting: Callable[..., Prediction], learned: FittedWorkload, measured: Measured) -> Forecasting:
    anchor = predicting().anchor

    def make(stalls_from: float, **given: Any) -> tuple[StallForecast | None, Replays]:
        options: OptionSet = given.pop("options", anchor.options)
        replays = Replays(measured, stalls_from, given.pop("engine", EngineChoice("capi", "7.8.3")))
        (found,) = forecasts(anchor, [(options, anchor.observed)], replays, **given)  # type: ignore[arg-type]
        return found, replays

    return make


NEAR = {"level0_slowdown_writes_trigger": "5", "level0_stop_writes_trigger": "6"}


@pytest.fixture
def near(learned: FittedWorkload, predicting: Callable[..., Prediction]) -> OptionSet:
    """Options under which the closed form leaves little."""
    options = predicting().anchor.options
    for name, value in NEAR.items():
        options = options.changed(name, value)
    return options


def test_what_is_far_from_any_trigger_is_not_replayed(
    forecast: Forecasting, learned: FittedWorkload, near: OptionSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = near
    for name in ("level0_slowdown_writes_trigger", "level0_stop_writes_trigger", "max_background_jobs"):
        options = options.changed(name, "400")
    found, _ = forecast(1.5, options=options, rate_limit=1e9)
    assert found is not None
    assert found.headroom is not None  # for this log's writers were stalled
    monkeypatch.setattr(learned.evidence.run.run, "stall_lines", Counter())
    monkeypatch.setattr(type(learned.evidence.run.series), "stall_seconds", 0.0)
    found, replays = forecast(1.5, options=options, rate_limit=1e9)
    assert found is not None
    assert (replays.trials, found.headroom) == ([], None)
    assert found.closed_form.headroom >= FAR
    assert found.now[1:] == (0, 0, 0, 0, 0)
    # what is asked about is nearer
    assert forecast(1.5, options=options, rate_limit=1e9, loads=(found.closed_form.headroom,))[1].trials


def test_headroom_is_found_by_bisection(forecast: Forecasting, near: OptionSet) -> None:
    found, replays = forecast(1.9, options=near)
    assert found is not None
    assert found.headroom is not None
    assert found.headroom.load == pytest.approx(1.9, rel=0.15)
    assert found.headroom.high is not None
    assert found.headroom.low < 1.9 < found.headroom.high
    assert found.now.seconds == found.now.high == 0
    assert len(replays.trials) < 12
    assert found.level0_files == {"default": 7}


def test_stalls_at_other_loads(forecast: Forecasting, near: OptionSet) -> None:
    found, _ = forecast(1.9, options=near, loads=(1.5, 2.5))
    assert found is not None
    assert [one.load for one in found.at_loads] == [1.0, 1.5, 2.5]
    last = found.at_loads[-1]
    assert last.seconds == pytest.approx(0.6 * SECONDS / 10)
    assert last.low == pytest.approx(0.1 * SECONDS / 10, rel=0.3)
    assert last.high == pytest.approx((2.5 * SPEED_ERROR - 1.9) * SECONDS / 10)


def test_a_device_that_never_stalls_has_no_bound(forecast: Forecasting, near: OptionSet) -> None:
    found, replays = forecast(100.0, options=near)
    assert found is not None
    assert found.headroom is not None
    assert found.headroom.load is None
    assert found.headroom.low == pytest.approx(MOST_LOAD / SPEED_ERROR)
    assert found.headroom.high is None
    assert max(one.conditions.load for one in replays.trials if one.conditions) == MOST_LOAD


def test_one_that_stalls_already_has_less_than_one(forecast: Forecasting, near: OptionSet) -> None:
    found, _ = forecast(0.5, options=near)
    assert found is not None
    assert found.headroom is not None
    assert found.headroom.load == pytest.approx(0.5, rel=0.15)
    assert found.now.slowdowns > 0


def test_a_replay_that_fails_leaves_it_open(forecast: Forecasting, near: OptionSet) -> None:
    found, replays = forecast(0.0, options=near)
    assert found is None
    assert len(replays.trials) == 3


def test_a_rate_limit_is_shared_by_all_jobs(forecast: Forecasting, near: OptionSet) -> None:
    _, replays = forecast(1.9, options=near, rate_limit=1e6)
    assert {one.conditions.bytes_per_second for one in replays.trials if one.conditions} == {1e6}


def test_the_closed_form_grows_with_bytes_and_falls_with_threads(
    learned: FittedWorkload, predicting: Callable[..., Prediction]
) -> None:
    anchor = predicting().anchor

    def form(jobs: str, factor: float) -> Any:
        resolved = anchor.options.changed("max_background_jobs", jobs).resolve(learned.stream.families, "7.8.3")
        figures = {name: one.times(factor) for name, one in anchor.observed.items()}
        return closed_form(learned, figures, anchor.observed, resolved, None)

    one, twice, threads = form("2", 1.0), form("2", 2.0), form("8", 1.0)
    assert 0 < one.utilisation <= one.busiest <= 1
    assert twice.utilisation == pytest.approx(2 * one.utilisation)
    assert threads.utilisation == pytest.approx(one.utilisation / 6)
    assert twice.headroom < one.headroom <= threads.headroom
    assert one.level0_files["default"] >= 4 + 1


def test_an_engine_that_cannot_hold_compactions_leaves_it_open(forecast: Forecasting, near: OptionSet) -> None:
    found, replays = forecast(1.9, options=near, engine=EngineChoice("rocksdict", "9.8.4"))
    assert (found, replays.trials) == (None, [])
