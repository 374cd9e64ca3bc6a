"""What is estimated to be worth a replay, on a small real log."""

import dataclasses
from typing import Any

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.tunables import UNIVERSAL
from lsmlens.tuners.predictions.figures import by_family
from lsmlens.tuners.search.bounds import bounds_of
from lsmlens.tuners.search.estimate import Estimator, survival_of
from lsmlens.tuners.search.promising import Promising, estimate_error, far_worse
from lsmlens.tuners.search.scores import Objective
from lsmlens.tuners.search.space import space_of
from lsmlens.tuners.search.study import PRESENT, Tried


def tried(cost: float | None, estimate: float | None, origin: str = "TPE") -> Tried:
    return Tried(0, "a", origin, {}, cost=cost, estimate=estimate)


@pytest.fixture(scope="module")
def promising(fitted: FittedWorkload, present: OptionSet, small_run: RunAnalysis) -> Promising:
    written = {one.name: float(one.flush_bytes + one.compaction_output_bytes) for one in small_run.families}
    bounds = bounds_of(small_run, present, fitted.stream.families, memory_bytes=4 << 20)
    estimator = Estimator(survival_of(fitted.workload), present, by_family(small_run.families))
    return Promising(space_of(present, written), bounds, estimator, Objective.WEAR)


def test_styles_without_an_estimate_have_none_and_are_not_unshown(promising: Promising) -> None:
    universal = promising.space.base.changed("compaction_style", UNIVERSAL)
    assert promising.cost_of(universal) is None
    assert promising.unshown(universal) is None
    probed = {one.option for one in promising.space.dimensions if promising.is_probed(one)}
    assert {"compaction_pri", "compaction_style"} <= probed
    assert probed.isdisjoint(("max_background_jobs", "write_buffer_size"))


def test_it_draws_near_what_it_is_given_to_start_from(promising: Promising) -> None:
    (best,) = promising.best(1)
    started = dataclasses.replace(promising, starts=[{**promising.space.present, **best.choices}], seed=7)
    assert started.best(1)[0].cost <= best.cost


def test_what_promises_is_within_the_bounds_and_changes_little(promising: Promising) -> None:
    best = promising.best(6)
    present = promising.space.present
    assert promising.cost(present) == pytest.approx(1)
    assert 1 <= len(best) <= 6
    assert best[0].cost < 0.8
    assert [one.cost for one in best] == sorted(one.cost for one in best)
    for one in best:
        options = promising.space.candidate(one.choices, "x")
        assert promising.bounds.problem(options) is None
        assert promising.unshown(options) is None
        for name, value in one.choices.items():
            if value != present[name]:
                without = promising.cost({**one.choices, name: present[name]})
                without_it = promising.space.candidate({**one.choices, name: present[name]}, "x")
                # what is changed has an effect, or what is changed else cannot stand without it
                assert without is not None
                assert without > one.cost or promising.bounds.problem(without_it) or promising.unshown(without_it)


def test_the_same_seed_promises_the_same(promising: Promising) -> None:
    assert promising.best(3) == promising.best(3)


def test_what_would_not_be_compacted_in_the_log_s_time_is_told(promising: Promising, present: OptionSet) -> None:
    assert promising.unshown(present) is None
    never = present.changed("level0_file_num_compaction_trigger", "100000").changed(
        "max_bytes_for_level_base", str(1 << 34)
    )
    assert "default would not be compacted" in (promising.unshown(never) or "")


def test_other_styles_than_levelled_promise_nothing(promising: Promising, present: OptionSet) -> None:
    universal = present.changed("compaction_style", "kCompactionStyleUniversal")
    estimator = Estimator(promising.estimator.survival, universal, {})
    other = Promising(dataclasses.replace(promising.space, base=universal), promising.bounds, estimator, Objective.WEAR)
    assert other.best(3) == []
    assert other.cost(other.space.present) is None
    assert other.unshown(universal) is None


def test_what_is_far_worse_than_the_best_is_not_replayed() -> None:
    known = [tried(0.5, 0.55), tried(1.0, 1.0), tried(0.8, 0.85), tried(0.7, 0.72)]
    assert far_worse(0.6, known) is None
    assert "it costs 0.9" in (far_worse(1.0, known) or "")
    assert far_worse(9.0, []) is None


def test_estimates_that_are_all_too_high_are_corrected_from_the_first_replays_on() -> None:
    known = [tried(1.0, 1.0, PRESENT), tried(0.08, 0.12), tried(0.09, 0.13)]
    assert far_worse(0.14, known) is None
    assert far_worse(0.3, known) is not None


def test_the_worse_estimates_do_the_more_is_replayed() -> None:
    wrong = [tried(0.5, 0.9), tried(1.0, 1.0), tried(0.8, 0.5), tried(0.7, 1.2)]
    assert far_worse(1.2, wrong) is None


def test_the_error_of_estimates_is_that_of_candidates() -> None:
    every: list[Any] = [tried(1.0, 1.0, PRESENT), tried(0.5, 0.4), tried(0.9, 1.0), tried(0.6, 0.6), tried(None, 0.3)]
    assert estimate_error(every) == pytest.approx(0.1)
    assert estimate_error(every[:3]) is None
