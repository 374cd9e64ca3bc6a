import dataclasses
from types import SimpleNamespace
from typing import Any

from lsmlens.tuners.search.pacing import affordable_rounds
from lsmlens.tuners.search.recommendation import Finalist, ReplayedCase, pick
from lsmlens.tuners.search.request import Budget, TuningRequest
from lsmlens.tuners.search.scores import Scores

SCORES = Scores(1.0, 1.0, 1, 1, 1, 1, 1)


def finalist(name: str, cost: float, high: float, worst: float, *, reshard: bool = False, changes: int = 1) -> Finalist:
    evaluated: Any = SimpleNamespace()
    differences: Any = (None,) * changes
    cases = (ReplayedCase("best fit", cost), ReplayedCase("draw 1", worst))
    return Finalist(name, "test", evaluated, SCORES, cost, high, cases, differences, reshard)


def test_the_best_in_its_worst_case_is_picked() -> None:
    best, why = pick([finalist("a", 0.4, 0.5, 0.9), finalist("b", 0.6, 0.7, 0.65)])
    assert best is not None
    assert best.name == "b"
    assert "in its worst case: 0.65 times the current settings (draw 1)" in why


def test_of_like_ones_the_simpler_is_picked() -> None:
    best, why = pick(
        [finalist("columns", 0.499, 0.6, 0.501, reshard=True), finalist("plain", 0.5, 0.6, 0.503, changes=2)]
    )
    assert best is not None
    assert best.name == "plain"
    assert "needs more changes" in why


def test_what_is_within_the_noise_is_not_advised() -> None:
    for one in (
        finalist("interval", 0.9, 1.01, 0.95),
        finalist("worst", 0.9, 0.97, 1.02),
        finalist("tiny", 0.985, 0.995, 0.985),
    ):
        best, why = pick([one])
        assert best is None
        assert "nothing beats the current settings beyond noise" in why


def test_what_was_not_paced_does_not_win_for_that() -> None:
    paced = dataclasses.replace(finalist("paced", 0.6, 0.7, 0.8), scores=SCORES._replace(p99_micros=500.0))
    best, _ = pick([finalist("unknown", 0.5, 0.6, 0.7), paced])
    assert best is paced
    slow = dataclasses.replace(paced, cases=(ReplayedCase("latency at load x1, seed 1", 3.0),))
    best, why = pick([finalist("unknown", 0.5, 0.6, 0.7), slow])
    assert best is None
    assert "latency at load x1" in why


def test_nothing_to_choose_from() -> None:
    best, why = pick([])
    assert best is None
    assert "keep the current settings" in why


def test_rounds_are_as_many_as_fit_the_log_s_own_rate_first() -> None:
    assert affordable_rounds(100.0, 2, 219.0) == []
    assert affordable_rounds(100.0, 2, 221.0) == [(1, 1.0)]
    assert affordable_rounds(100.0, 2, 331.0) == [(1, 1.0), (1, 2.0)]


def test_a_budget_counts_earlier_sittings_and_trials_have_no_clock() -> None:
    budget = Budget(TuningRequest(budget_seconds=100.0), 40.0, 1000.0)
    assert budget.spent(1010.0) == 50.0
    assert budget.has(0.6, 1010.0)
    assert not budget.has(0.5, 1010.0)
    assert budget.left(1070.0) == 0.0
    endless = Budget(TuningRequest(budget_seconds=1.0, trials=3), 40.0, 1000.0)
    assert endless.has(0.1, 9999.0)
    assert endless.left(9999.0) is None
