"""Drift: how a regime's populations grow or shrink over time, interval by interval.

Flushes of equal length that keep more and more show a working set that grows. But longer flushes keep relatively less
than shorter ones of the same population if its keys are not equally popular, and the population they show by
themselves is larger; that is no drift. Neighbouring flushes of different length tell the two apart: between neighbours
a population has no time to grow.
"""

from collections.abc import Sequence

import numpy as np
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import Floats, mean_lifetime

# A population that one flush shows by itself is at most so many times its puts: beyond, nothing was overwritten.
MOST_PER_PUT = 10.0
LEAST_PUTS = 20
# Populations that scatter less than this factor (one standard deviation) do not drift.
STEADY = 1.2
# The population by which the others are measured: most puts see no larger one.
REFERENCE_SHARE = 0.9
SMALLEST, LARGEST = 0.02, 1.5
# Popularity as unequal as this exponent at the most: populations shown grow with the flush's length to its power.
STEEPEST = 0.8
NEIGHBOURS_DIFFER = 0.1


def stretches(intervals: Sequence[Interval]) -> Floats:
    """The size of the regime's populations in each interval, relative to their largest; all 1 if they are steady."""
    shown = np.array([_shown(one) for one in intervals])
    puts = np.array([one.puts for one in intervals], np.float64)
    usable = ~np.isnan(shown)
    if usable.sum() < 3:
        return np.ones(len(intervals))
    logs, lengths = np.log(shown[usable]), np.log(puts[usable])
    slope = _slope(logs, lengths)
    typical = float(np.average(lengths, weights=puts[usable]))
    levelled = logs - slope * (lengths - typical)
    mean = float(np.average(levelled, weights=puts[usable]))
    spread = float(np.sqrt(np.average((levelled - mean) ** 2, weights=puts[usable])))
    if spread < np.log(STEADY):
        return np.ones(len(intervals))
    order = np.argsort(levelled)
    below = np.cumsum(puts[usable][order]) / puts[usable].sum()
    reference = float(levelled[order][int(np.searchsorted(below, REFERENCE_SHARE))])
    found = np.interp(np.arange(len(intervals)), np.flatnonzero(usable), levelled - reference)
    return np.asarray(np.clip(np.exp(found), SMALLEST, LARGEST), np.float64)


def _shown(interval: Interval) -> float:
    """The population that a flush shows by itself; nan where it tells none."""
    if interval.flush is None or interval.puts < LEAST_PUTS or not interval.kept_puts:
        return float("nan")
    return min(mean_lifetime(interval.puts, interval.kept_puts), MOST_PER_PUT * interval.puts)


def _slope(logs: Floats, lengths: Floats) -> float:
    """How the population shown grows with the flush's length, by neighbours in time."""
    changes, steps = np.diff(logs), np.diff(lengths)
    differ = np.abs(steps) > NEIGHBOURS_DIFFER
    if differ.sum() < 3:
        return 0.0
    slope = float((changes[differ] * steps[differ]).sum() / (steps[differ] ** 2).sum())
    return min(max(slope, 0.0), STEEPEST)
