"""Calibration: the parameters of a component at which its simulated moments are the log's.

Around the best point so far a few dozen others are simulated, one history each; how moments depend on parameters is
read off them by least squares, which evens out the scatter of histories; the next point is where the moments would come
out, drawn a little to where the search began. The spread of points shrinks from round to round. What is left open by
moments and their scatter is a normal distribution around the last point: draws from it explain the log about as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from lsmlens.tuners.estimation.simulated_moments import TOLERANCES, Simulation
from lsmlens.tuners.workloads.document import ColumnFamily
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDS = (1.0, 0.5, 0.35)
POINTS = 16
SEEDS = 8
# How far from the start the answer may lie, in units of a parameter's spread.
PRIOR = 3.0
# One moment that will not come out does not pull the others with it.
LARGEST_PULL = 6.0


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a component on the scale on which it is searched: where, how far around, within what bounds."""

    name: str
    start: float
    spread: float
    least: float
    most: float


class Model(Protocol):
    """A family's component with parameters to be found."""

    @property
    def parameters(self) -> Sequence[Parameter]:
        """Its parameters, five at the most."""

    def family(self, point: Floats) -> ColumnFamily:
        """The family with its component at a point (shape: parameters,)."""


@dataclass(frozen=True, slots=True)
class Errors:
    """Simulated moments less the log's, in order of TOLERANCES, as logarithms; and beside what histories scatter."""

    differences: Floats
    in_tolerances: Floats

    @property
    def size(self) -> float:
        """The root of their mean square, in tolerances; 1 is as well as can be told."""
        return float(np.sqrt((self.in_tolerances**2).mean()))

    @property
    def worst(self) -> str:
        """The name of the moment that comes out worst."""
        return list(TOLERANCES)[int(np.argmax(np.abs(self.in_tolerances)))]

    @property
    def of_kept(self) -> float:
        """The relative error of the puts that flushes keep."""
        return abs(float(np.expm1(self.differences[list(TOLERANCES).index("puts kept in flushes")])))


@dataclass(frozen=True, slots=True)
class Calibration:
    """The point found (shape: parameters,), its covariance, and how far moments are off there."""

    model: Model
    point: Floats
    covariance: Floats
    errors: Errors

    @property
    def family(self) -> ColumnFamily:
        """The family at the point found."""
        return self.model.family(self.point)

    def drawn(self, rng: np.random.Generator) -> ColumnFamily:
        """The family at another point that explains the log about as well."""
        return self.model.family(_within(self.model, rng.multivariate_normal(self.point, self.covariance)))


def errors_of(simulation: Simulation, family: ColumnFamily, seeds: int = SEEDS) -> Errors:
    """How far a family's moments are from the log's, as means over so many histories."""
    found = np.array([simulation.moments(simulation.jobs(family, 1000 + n)) for n in range(seeds)])
    differences = found.mean(axis=0) - simulation.moments(simulation.logged)
    return Errors(differences, differences / _tolerances(found.std(axis=0)))


def calibrate(model: Model, simulation: Simulation) -> Calibration:
    """Find the model's parameters."""
    rng = np.random.default_rng(17)
    start = np.array([one.start for one in model.parameters])
    spread = np.array([one.spread for one in model.parameters])
    wanted = simulation.moments(simulation.logged)
    points, found = np.empty((0, len(start))), np.empty((0, len(wanted)))
    best, covariance = start, np.diag(spread**2)
    for width in ROUNDS:
        new = np.array([_within(model, best + width * spread * step) for step in _steps(rng, len(start))])
        seeds = range(len(points), len(points) + len(new))
        every = [simulation.moments(simulation.jobs(model.family(one), s)) for one, s in zip(new, seeds, strict=True)]
        points, found = np.concatenate((points, new)), np.concatenate((found, np.array(every)))
        near = (np.abs(points - best) <= 1.8 * width * spread).all(axis=1)
        best, covariance = _solved(points[near], found[near], wanted, (best, start, spread), width)
        best = _within(model, best)
    return Calibration(model, best, covariance, errors_of(simulation, model.family(best)))


def _steps(rng: np.random.Generator, count: int) -> Floats:
    """Points of a cube around 0, each coordinate evenly spread over its sides."""
    columns = [(rng.permutation(POINTS) + rng.random(POINTS)) / POINTS * 2 - 1 for _ in range(count)]
    return np.array(columns).T


def _solved(
    points: Floats, found: Floats, wanted: Floats, where: tuple[Floats, Floats, Floats], width: float
) -> tuple[Floats, Floats]:
    """Where the moments would be those wanted, if they depended on parameters as around here; with its covariance."""
    best, start, spread = where
    steps = (points - best) / spread
    design = np.column_stack((np.ones(len(steps)), steps))
    fit, *_ = np.linalg.lstsq(design, found, rcond=None)
    left = found - design @ fit
    scatter = np.sqrt((left**2).sum(axis=0) / max(1, len(steps) - design.shape[1]))
    tolerances = _tolerances(scatter)
    slopes = fit[1:].T / tolerances[:, None]
    errors = (wanted - fit[0]) / tolerances
    weights = 1 / np.maximum(1.0, np.abs(errors) / LARGEST_PULL)
    towards = (start - best) / spread / PRIOR
    system = np.vstack((slopes * weights[:, None], np.eye(len(start)) / PRIOR))
    step, *_ = np.linalg.lstsq(system, np.concatenate((errors * weights, towards)), rcond=None)
    step = np.clip(step, -1.5 * width, 1.5 * width)
    covariance = np.linalg.inv(system.T @ system) * np.outer(spread, spread)
    return best + step * spread, covariance


def _tolerances(scatter: Floats) -> Floats:
    tolerances: Floats = np.hypot(np.array(list(TOLERANCES.values())), scatter)
    return tolerances


def _within(model: Model, point: Floats) -> Floats:
    least = np.array([one.least for one in model.parameters])
    most = np.array([one.most for one in model.parameters])
    inside: Floats = np.clip(point, least, most)
    return inside
