"""What reads would have cost, anchored on the log."""

from collections.abc import Callable

import pytest
from lsmlens.analyzer.measures.sorted_runs import SortedRuns, measure_sorted_runs
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.predictions.prediction import Prediction
from lsmlens.tuners.predictions.read_costs import ReadCosts, mean_sorted_runs

Predicting = Callable[..., Prediction]


def reads(prediction: Prediction) -> ReadCosts:
    (one,) = prediction.predictions
    return one.reads


def test_the_log_s_sorted_runs_change_as_the_replays_do(predicting: Predicting, learned: FittedWorkload) -> None:
    # the replays of the log's own options show 1.5 memtables, 2.2 tables of level 0 and one level
    found = reads(predicting(bias=1.1, spread=0.0, double=2.0)).sorted_runs
    assert found is not None
    seen = measure_sorted_runs(learned.evidence.run.jobs)
    assert found.log == pytest.approx(mean_sorted_runs(seen, learned.evidence.operations))
    assert found.log is not None
    assert found.value == pytest.approx(found.log * (1.5 + 4.4 + 1) / (1.5 + 2.2 + 1))
    assert found.low < found.value < found.high


def test_what_changes_nothing_is_surer(predicting: Predicting) -> None:
    same, double = (reads(predicting(bias=1.1, spread=0.0, it=factor)).sorted_runs for factor in (1.0, 2.0))
    assert same is not None
    assert double is not None
    assert same.value == pytest.approx(same.log)
    assert same.high / same.value < double.high / double.value


def test_names_are_those_of_a_prediction(predicting: Predicting) -> None:
    found = reads(predicting(double=2.0))
    assert found.sorted_runs is not None
    assert found.named("low") == {"sorted_runs": found.sorted_runs.low}
    assert ReadCosts().named() == {"sorted_runs": None}


def test_families_weigh_by_their_operations() -> None:
    runs = {"a": SortedRuns(1, 2, 1), "b": SortedRuns(1, 0, 1), "unknown": SortedRuns(9, 9, 9)}
    assert mean_sorted_runs(runs, {"a": 30.0, "b": 10.0}) == pytest.approx((4 * 3 + 2) / 4)
    assert mean_sorted_runs(runs, {}) is None
