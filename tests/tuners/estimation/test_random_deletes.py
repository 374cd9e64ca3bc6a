"""Fresh keys that are deleted at random, beside hot ones: how many there are, and which model is taken."""

import numpy as np
import pytest
from lsmlens.tuners.estimation.evidence import gather
from lsmlens.tuners.estimation.family_fit import FamilyFit, fit_family
from lsmlens.tuners.estimation.model_choice import best_explained
from lsmlens.tuners.estimation.random_deletes import random_parts
from lsmlens.tuners.workloads.components import Component, Growth, GrowthRow, Overwrite, Queue, WorkingSet

from .conftest import SINCE, Logged

HOT = Overwrite(working_sets=(WorkingSet(32),), rate=150.0)


def growing(deletes_per_put: float) -> Growth:
    return Growth(rate=100.0, deletes_per_put=deletes_per_put, delete_order="random")


def taken(logged: Logged, *components: Component) -> FamilyFit:
    """What is learned from a log of these components."""
    evidence = gather(logged(*components, flush=3000), "default")
    return best_explained(fit_family(evidence, SINCE), {"default": evidence}, SINCE)


def of_growth(fit: FamilyFit) -> Growth:
    (growth,) = [one for one in fit.column_family.components if isinstance(one, Growth)]
    return growth


def counts_of(growth: Growth) -> tuple[int, int]:
    """Puts and deletes of its schedule."""
    rows = growth.schedule or ()
    return sum(row.puts for row in rows), sum(row.deletes for row in rows)


@pytest.mark.parametrize("deletes_per_put", [0.3, 0.9])
def test_each_flush_tells_its_fresh_puts(logged: Logged, deletes_per_put: float) -> None:
    intervals = gather(logged(growing(deletes_per_put), HOT, flush=3000), "default").intervals
    growth, hot = random_parts(intervals, 32)
    assert [sum(pair) for pair in zip(growth.puts, hot.puts, strict=True)] == [one.puts for one in intervals]
    assert growth.deletes.tolist() == [one.deletes for one in intervals]
    # of 250 + 100 * deletes_per_put operations a second 100 put fresh keys
    expected = np.array([one.operations for one in intervals]) * 100 / (250 + 100 * deletes_per_put)
    assert growth.puts == pytest.approx(expected, rel=0.08)
    assert growth.puts.sum() == pytest.approx(expected.sum(), rel=0.01)


def test_records_of_before_die_too(logged: Logged) -> None:
    intervals = gather(logged(growing(0.9), flush=3000), "default").intervals
    alone = random_parts(intervals, 1)[0].puts.sum()
    among = random_parts(intervals, 1, before=50_000)[0].puts.sum()
    # fewer of its own deletes find a put of the same flush
    assert among < alone


def test_deletes_at_random_are_told_from_those_of_the_oldest(logged: Logged) -> None:
    growth = of_growth(taken(logged, growing(0.6), HOT))
    assert growth.delete_order == "random"
    assert counts_of(growth)[0] == pytest.approx(100_000, rel=0.03)
    queue = taken(logged, Queue(rate=100.0, lifetime_puts=12_000), HOT)
    assert "random" not in " ".join(queue.seen)


def test_as_many_hot_keys_as_there_are(logged: Logged) -> None:
    fit = taken(logged, growing(0.6), HOT)
    (hot,) = [one for one in fit.column_family.components if isinstance(one, Overwrite)]
    assert hot.working_sets[0].keys == 32


def test_keys_that_are_put_again_are_none_of_these(logged: Logged) -> None:
    fit = taken(logged, Overwrite(working_sets=(WorkingSet(4000),), rate=100.0, deletes_per_put=0.2))
    assert fit.variation.hot_keys is None


def test_a_load_that_ends_is_followed(logged: Logged) -> None:
    rows = (GrowthRow(0.0, 400.0, 40_000), GrowthRow(400.0, 800.0, 0, 30_000))
    fit = taken(logged, Growth(delete_order="random", schedule=rows), HOT)
    assert counts_of(of_growth(fit)) == pytest.approx((40_000, 30_000), rel=0.05)
