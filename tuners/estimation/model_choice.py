"""Which model of a family is taken: the one whose simulated moments are nearest to the log's."""

from dataclasses import replace

from lsmlens.tuners.estimation.calibration import calibrate, errors_of
from lsmlens.tuners.estimation.clustered_keys import clustered_keys
from lsmlens.tuners.estimation.family_fit import FamilyFit
from lsmlens.tuners.estimation.simulated_moments import Simulation

MODELS = (clustered_keys,)
# A model is calibrated if its starting point is off no more than this, or than so many times what there is.
NEAR = 10.0
WORTH_TRYING = 1.0
FEW_SEEDS = 3
# A calibrated model must be nearer to the log than this share of what there is.
CLEARLY = 0.8


def best_explained(fit: FamilyFit, since: float) -> FamilyFit:
    """The fit of a family, with a calibrated model in the place of its parts where that explains the log better."""
    simulation = None
    for model_of in MODELS:
        simulation = simulation or Simulation.of(fit.evidence, since)
        model = model_of(fit, simulation, since)
        if model is None:
            continue
        present = errors_of(simulation, fit.column_family, FEW_SEEDS)
        begun = errors_of(simulation, model.begun, FEW_SEEDS)
        if begun.size > max(NEAR, WORTH_TRYING * present.size):
            continue
        found = calibrate(model, simulation)
        if found.errors.size < CLEARLY * present.size:
            seen = (model.seen,)
            fit = replace(fit, column_family=found.family, calibration=found, seen=seen, misfit=found.errors.of_kept)
    return fit
