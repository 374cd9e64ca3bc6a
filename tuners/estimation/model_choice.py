"""How a family is learned: which model is taken of it, the one whose simulated moments are nearest to the log's.

First it is taken apart by how long puts live, as windows of all lengths show (`family_parts`). Then models of what
Ceph and its clients write are held against it: logs of placement groups (`placement_logs`) and populations that are
rewritten (`rewritten`), which follow from what each flush counts, fresh keys that are deleted at random
(`random_deletes`), and objects with many keys (`clustered_keys`), whose four parameters are found by `calibration`.
Each sends its operations through the log's own merges (`merge_tree`), and what flushes drop and level 0 writes is
compared (`simulated_moments`). One that is clearly nearer takes the place of what there was. Deeper levels are for
replays to judge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from lsmlens.tuners.estimation.calibration import Errors, calibrate, errors_of
from lsmlens.tuners.estimation.clustered_keys import clustered_keys
from lsmlens.tuners.estimation.evidence import FamilyEvidence
from lsmlens.tuners.estimation.family_fit import FamilyFit, fit_family, fit_parts
from lsmlens.tuners.estimation.family_parts import Variation
from lsmlens.tuners.estimation.phases import lasting, phases_of
from lsmlens.tuners.estimation.placement_logs import GROUPS, placement_logs
from lsmlens.tuners.estimation.queues import is_queue_like
from lsmlens.tuners.estimation.rewritten import rewritten
from lsmlens.tuners.estimation.simulated_moments import Simulation
from numpy.typing import NDArray

# A model is calibrated if its starting point is off no more than this, or than what there is.
NEAR = 10.0
FEW_SEEDS = 3
# Fewer flushes do not tell models apart.
LEAST_FLUSHES = 6
# Keys that are overwritten beside fresh ones: as many as are tried.
HOT_KEYS = tuple(2**n for n in range(11))
# Another model must be nearer to the log than this share of what there is, and far nearer than one of what is known to
# be written.
CLEARLY = 0.8
FAR = 0.5


def best_explained(fit: FamilyFit, families: Mapping[str, FamilyEvidence], since: float) -> FamilyFit:
    """The fit of one of the log's families, or another in its place that explains the log better."""
    simulation = Simulation.of(fit.evidence, since)
    errors: Errors | None = None
    for others in (by_counts(fit, families, since), _deleted_at_random(fit, since)):
        if others:
            fit, errors = _nearest(fit, errors or _few(simulation, fit), others, simulation)
    return _with_objects(fit, errors, simulation, since)


def by_counts(fit: FamilyFit, families: Mapping[str, FamilyEvidence], since: float) -> list[FamilyFit]:
    """Models that follow from what each flush counts; a log that begins after its database does not tell them.

    Another mix of families is not always another client: the same groups may be written in all of them.
    """
    intervals = fit.evidence.intervals
    if fit.evidence.preexisting or sum(one.flush is not None for one in intervals) < LEAST_FLUSHES:
        return []
    every = phases_of(families, fit.column_family.name)
    told = fit.evidence, since
    found: list[FamilyFit] = []
    for phases in _unlike(every, lasting(every), np.zeros_like(every)):
        if parts := placement_logs(intervals, phases):
            count = int(phases.max()) + 1
            said = f"logs of placement groups, in {count} {'phases' if count > 1 else 'phase'}"
            found.append(fit_parts(*told, parts, "grouped", GROUPS, seen=(said,), misfit=0.0, variation=fit.variation))
    if parts := rewritten(intervals):
        said = "populations that are rewritten"
        found.append(fit_parts(*told, parts, "sequential", 1, seen=(said,), misfit=0.0, variation=fit.variation))
    return [replace(one, is_settled=True) for one in found]


def _unlike(*phases: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Those that say something else than the ones before."""
    return [one for place, one in enumerate(phases) if not any(np.array_equal(one, p) for p in phases[:place])]


def _deleted_at_random(fit: FamilyFit, since: float) -> list[FamilyFit]:
    """Where keys that are deleted are not put again: fresh keys deleted at random, beside more or fewer others."""
    if not is_queue_like(fit.evidence.intervals):
        return []
    return [fit_family(fit.evidence, since, Variation(hot_keys=keys)) for keys in HOT_KEYS]


def _few(simulation: Simulation, fit: FamilyFit) -> Errors:
    return errors_of(simulation, fit.column_family, FEW_SEEDS)


def _nearest(
    fit: FamilyFit, errors: Errors, others: Sequence[FamilyFit], simulation: Simulation
) -> tuple[FamilyFit, Errors]:
    """The fit, or the nearest to the log of the others if it is clearly nearer; and how far it is off."""
    found, least = fit, (FAR if fit.is_settled else CLEARLY) * errors.size
    for one in others:
        own = _few(simulation, one)
        if own.size < least:
            found, errors, least = replace(one, misfit=own.of_kept), own, own.size
    return found, errors


def _with_objects(fit: FamilyFit, errors: Errors | None, simulation: Simulation, since: float) -> FamilyFit:
    """The fit, whose errors may be known, or objects with many keys."""
    model = clustered_keys(fit, simulation, since)
    if model is None:
        return fit
    present = errors or _few(simulation, fit)
    if errors_of(simulation, model.begun, FEW_SEEDS).size > max(NEAR, present.size):
        return fit
    found = calibrate(model, simulation)
    if found.errors.size >= CLEARLY * present.size:
        return fit
    seen = ("objects with many keys, cleared whole",)
    return replace(fit, column_family=found.family, calibration=found, seen=seen, misfit=found.errors.of_kept)
