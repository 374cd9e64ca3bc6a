"""Which model of a family is taken: the one whose simulated moments are nearest to the log's."""

import math
from collections.abc import Mapping
from dataclasses import replace

from lsmlens.tuners.estimation.calibration import calibrate, errors_of
from lsmlens.tuners.estimation.clustered_keys import clustered_keys
from lsmlens.tuners.estimation.family_fit import FamilyEvidence, FamilyFit, fit_family, fit_parts
from lsmlens.tuners.estimation.family_parts import Variation
from lsmlens.tuners.estimation.phases import phases_of
from lsmlens.tuners.estimation.placement_logs import GROUPS, placement_logs
from lsmlens.tuners.estimation.queues import is_queue_like
from lsmlens.tuners.estimation.simulated_moments import Simulation

# A model is calibrated if its starting point is off no more than this, or than what there is.
NEAR = 10.0
FEW_SEEDS = 3
# Numbers of keys that are overwritten beside fresh ones, to be tried.
HOT_KEYS = tuple(2**n for n in range(11))
# With errors of no more tolerances than this a model of one parameter is as good as any.
AS_GOOD = 1.0
# Another model must be nearer to the log than this share of what there is.
CLEARLY = 0.8


def best_explained(fit: FamilyFit, families: Mapping[str, FamilyEvidence], since: float) -> FamilyFit:
    """The fit of one of the log's families, or another in its place that explains the log better."""
    return _with_objects(_with_random_deletes(_with_logs(fit, families, since), Simulation.of(fit.evidence, since), since), since)


def _with_logs(fit: FamilyFit, families: Mapping[str, FamilyEvidence], since: float) -> FamilyFit:
    """The fit, or logs of placement groups; how long these are, a log that begins after its database does not tell."""
    if fit.evidence.preexisting:
        return fit
    phases = phases_of(families, fit.column_family.name)
    parts = placement_logs(fit.evidence.intervals, phases)
    if not parts:
        return fit
    count = int(phases.max()) + 1
    seen = (f"logs of placement groups, in {count} {'phases' if count > 1 else 'phase'}",)
    logs = fit_parts(fit.evidence, since, parts, "grouped", GROUPS, seen=seen, misfit=0.0, variation=fit.variation)
    simulation = Simulation.of(fit.evidence, since)
    found = errors_of(simulation, logs.column_family, FEW_SEEDS)
    present = errors_of(simulation, fit.column_family, FEW_SEEDS)
    return replace(logs, misfit=found.of_kept, is_settled=True) if found.size < CLEARLY * present.size else fit


def _with_objects(fit: FamilyFit, since: float) -> FamilyFit:
    """The fit, or objects with many keys."""
    simulation = Simulation.of(fit.evidence, since)
    model = clustered_keys(fit, simulation, since)
    if model is None:
        return fit
    present = errors_of(simulation, fit.column_family, FEW_SEEDS)
    if errors_of(simulation, model.begun, FEW_SEEDS).size > max(NEAR, present.size):
        return fit
    found = calibrate(model, simulation)
    if found.errors.size >= CLEARLY * present.size:
        return fit
    seen = ("objects with many keys, cleared whole",)
    return replace(fit, column_family=found.family, calibration=found, seen=seen, misfit=found.errors.of_kept)


def _with_random_deletes(fit: FamilyFit, simulation: Simulation, since: float) -> FamilyFit:
    """The fit, or fresh keys that are deleted at random beside as many others as explain the log best."""
    if not is_queue_like(fit.evidence.intervals):
        return fit
    found: FamilyFit | None = None
    errors = math.inf
    for hot_keys in HOT_KEYS:
        model = fit_family(fit.evidence, since, Variation(hot_keys=hot_keys))
        own = errors_of(simulation, model.column_family, FEW_SEEDS)
        if own.size < errors:
            found, errors = replace(model, misfit=own.of_kept), own.size
    present = errors_of(simulation, fit.column_family, FEW_SEEDS).size
    return found if found is not None and errors < max(AS_GOOD, CLEARLY * present) else fit
