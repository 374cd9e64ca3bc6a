"""Structures: what a log leaves open is offered, and each can be fitted."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from lsmlens.tuners.estimation.evidence import gather
from lsmlens.tuners.estimation.family_fit import FamilyFit, fit_family
from lsmlens.tuners.estimation.family_parts import Variation
from lsmlens.tuners.estimation.fresh_keys import delete_age
from lsmlens.tuners.estimation.history import History
from lsmlens.tuners.estimation.parts import Part, grown
from lsmlens.tuners.estimation.structures import CLEAR_FACTORS, structures
from lsmlens.tuners.workloads.components import Clustered, Growth, GrowthRow, Overwrite, WorkingSet

Logged = Callable[..., History]
HOT = Overwrite(working_sets=(WorkingSet(30),), rate=50.0)
# nothing is deleted for 300 s, then most of what comes of age, and a quarter of that again
RETENTION = Growth(
    schedule=(GrowthRow(0.0, 300.0, 18_000, 0), GrowthRow(300.0, 1000.0, 42_000, 32_000)),
    delete_order="aged",
    delete_age=18_000,
    repeated_deletes=0.2,
)


def fitted(history: History, variation: Variation | None = None) -> FamilyFit:
    evidence = gather(history, "default")
    return fit_family(evidence, evidence.intervals[0].start, variation or Variation())


def test_aged_deletes_are_offered_for_fresh_keys_beside_hot_ones(logged: Logged) -> None:
    history = logged(RETENTION, HOT, flush=3000)
    for one in structures(fitted(history)):
        components = fitted(history, one).column_family.components
        is_fresh = [isinstance(component, Growth) for component in components]
        if one.first is not None:
            assert is_fresh == sorted(is_fresh, reverse=one.first == "fresh")
    (aged,) = [one for one in structures(fitted(history)) if one.deletes == "aged"]
    assert (aged.order, aged.first) == ("sequential", "fresh")
    growth = fitted(history, aged).column_family.components[0]
    assert isinstance(growth, Growth)
    assert growth.delete_order == "aged"
    assert growth.delete_age == pytest.approx(18_000, rel=0.15)
    assert growth.repeated_deletes == pytest.approx(0.2, abs=0.05)


def test_the_age_of_deletes_in_a_log_that_begins_late() -> None:
    part = fitted_part(deletes=[40, 40, 40])
    assert delete_age(part, preexisting=3000.0) == 1000
    assert delete_age(fitted_part(deletes=[0, 0, 40]), preexisting=0.0) == 200
    assert delete_age(part, preexisting=0.0) == 0  # they come at once
    assert delete_age(fitted_part(deletes=[0, 0, 0]), preexisting=3000.0) == 0


def fitted_part(deletes: list[int]) -> Part:
    return grown(np.full(len(deletes), 100), np.array(deletes))


def test_deletes_without_an_age_stay_as_they_are(logged: Logged) -> None:
    history = logged(Growth(rate=60.0, deletes_per_put=0.4, repeated_deletes=0.3), HOT, flush=3000)
    found = fitted(history, Variation(deletes="aged")).column_family.components
    (growth,) = [one for one in found if isinstance(one, Growth)]
    assert growth.delete_order == "oldest"


def test_deletes_that_flushes_show_to_be_random_stay_so(logged: Logged) -> None:
    history = logged(Growth(rate=100.0, deletes_per_put=0.9, delete_order="random"), flush=3000)
    fit = fitted(history, Variation(hot_keys=1))
    assert {one.deletes for one in structures(fit)} == {None}
    for one in structures(fit):
        (growth,) = [part.component for part in fitted(history, one).parts if part.deletes.any()]
        assert isinstance(growth, Growth)
        assert growth.delete_order == "random"


def test_keys_that_are_only_overwritten_may_lie_in_groups(logged: Logged) -> None:
    (only,) = structures(fitted(logged(Overwrite(working_sets=(WorkingSet(7000),), rate=100.0))))
    assert only.order == "grouped"


def test_clears_may_be_of_other_sizes(logged: Logged) -> None:
    truth = Clustered(
        objects=50, keys_per_object=2000, batch=20, rate=100.0, removals_per_put=0.15, clears_per_put=0.0018
    )
    fit = fitted(logged(truth, seconds=4000.0, flush=9000))
    assert structures(fit) == [replace(fit.variation, clear_factor=factor) for factor in CLEAR_FACTORS]
