"""Components found by simulation: parameters of a known truth come out, and another shape is left alone."""

import numpy as np
import pytest
from lsmlens.tuners.estimation.calibration import errors_of
from lsmlens.tuners.estimation.evidence import gather
from lsmlens.tuners.estimation.family_fit import FamilyFit, fit_family
from lsmlens.tuners.estimation.model_choice import best_explained
from lsmlens.tuners.estimation.simulated_moments import Simulation
from lsmlens.tuners.workloads.components import Clustered, Component, Overwrite, WorkingSet

from .conftest import SINCE, Logged

TRUTH = Clustered(
    objects=30, keys_per_object=6000, batch=40, rate=200.0, removals_per_put=0.2, clears_per_put=30 / 60_000
)


def explained(logged: Logged, *components: Component, seconds: float, flush: int) -> FamilyFit:
    evidence = gather(logged(*components, seconds=seconds, flush=flush), "default")
    return best_explained(fit_family(evidence, SINCE), {"default": evidence}, SINCE)


def test_objects_with_many_keys_come_out(logged: Logged) -> None:
    fit = explained(logged, TRUTH, seconds=2000.0, flush=14_000)
    assert fit.calibration is not None
    (found,) = fit.column_family.components
    assert isinstance(found, Clustered)
    assert found.objects / found.clears_per_put == pytest.approx(60_000, rel=0.15)
    assert found.objects * found.keys_per_object == pytest.approx(180_000, rel=0.25)
    # 200 clears of chance sizes leave it no surer than that
    assert found.removals_per_put == pytest.approx(0.2, abs=0.06)
    assert 8 <= found.objects <= 110
    assert fit.calibration.errors.size < 2
    assert fit.misfit < 0.02
    # the rows' deletes only spread clears over time: they are those beyond the removals
    deletes, puts = (sum(getattr(one, name) for one in fit.evidence.intervals) for name in ("deletes", "puts"))
    cleared = sum(row.deletes for row in found.schedule or ())
    assert cleared == pytest.approx(deletes - found.removals_per_put * puts, rel=0.15)
    assert sum(row.puts for row in found.schedule or ()) == sum(one.puts for one in fit.evidence.intervals)


def test_draws_lie_around_what_was_found(logged: Logged) -> None:
    fit = explained(logged, TRUTH, seconds=2000.0, flush=14_000)
    assert fit.calibration is not None
    drawn = [fit.calibration.drawn(np.random.default_rng(seed)).components[0] for seed in range(40)]
    objects = np.log([one.objects for one in drawn if isinstance(one, Clustered)])
    between = np.log([one.objects / one.clears_per_put for one in drawn if isinstance(one, Clustered)])
    # how many objects there are is far less certain than how long they live
    assert objects.std() > 3 * between.std() > 0
    simulation = Simulation.of(fit.evidence, SINCE)
    assert errors_of(simulation, fit.calibration.drawn(np.random.default_rng(3)), seeds=4).size < 4


def test_keys_that_are_overwritten_are_left_alone(logged: Logged) -> None:
    truth = Overwrite(working_sets=(WorkingSet(20_000),), rate=100.0, deletes_per_put=0.3)
    assert explained(logged, truth, seconds=1000.0, flush=8000).calibration is None
