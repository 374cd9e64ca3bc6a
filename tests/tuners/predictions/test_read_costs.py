"""What reads would have cost, anchored on the log."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from lsmlens.analyzer.measures.sorted_runs import SortedRuns, mean_sorted_runs, measure_sorted_runs
from lsmlens.tuners.engines.read_counts import ReadCounts
from lsmlens.tuners.estimation.client_reads import client_reads
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.predictions.prediction import Prediction
from lsmlens.tuners.predictions.read_costs import ReadCosts, read_costs

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
    assert found.named("low") == {"sorted_runs": found.sorted_runs.low, "blocks_per_get": None}
    assert ReadCosts().named() == {"sorted_runs": None, "blocks_per_get": None}


def test_families_weigh_by_their_operations() -> None:
    runs = {"a": SortedRuns(1, 2, 1), "b": SortedRuns(1, 0, 1), "unknown": SortedRuns(9, 9, 9)}
    assert mean_sorted_runs(runs, {"a": 30.0, "b": 10.0}) == pytest.approx((4 * 3 + 2) / 4)
    assert mean_sorted_runs(runs, {}) is None


@pytest.mark.parametrize(("seen", "expected"), [(6.0, 3.0), (None, 2.0)])
def test_blocks_for_a_get_are_the_log_s_where_it_tells(
    seen: float | None, expected: float, predicting: Predicting
) -> None:
    prediction = predicting(same=1.0)
    anchor = prediction.anchor
    reading = client_reads(anchor.fitted.evidence.run, anchor.fitted.evidence.history)._replace(blocks_per_get=seen)
    evidence = replace(anchor.fitted.evidence)
    evidence.__dict__["reads"] = reading
    own = tuple(replace(one, reads=ReadCounts(gets=100, get_blocks=400)) for one in anchor.own)
    told = replace(anchor, fitted=replace(anchor.fitted, evidence=evidence), own=own)
    halved = [replace(one, reads=ReadCounts(gets=50, get_blocks=100)) for one in anchor.own]
    found = read_costs(told, halved, range(len(own))).blocks_per_get
    assert found is not None
    assert found.log == seen
    assert found.value == pytest.approx(expected)
    assert found.low < expected < found.high
    assert read_costs(told, anchor.own, range(len(own))).blocks_per_get is None
