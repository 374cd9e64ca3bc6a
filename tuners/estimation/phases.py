"""Phases of a load: which of them each flush belongs to, by the mix of families that were written meanwhile.

Another client, pool or kind of work writes to the families in other proportions. A flush belongs to the phase whose mix
is nearest; a mix unlike all before begins a phase, and one that comes again is the phase that it was.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from lsmlens.tuners.estimation.evidence import FamilyEvidence
from lsmlens.tuners.estimation.intervals import Interval
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Mixes at this Hellinger distance are of two phases.
APART = 0.25
# A phase with a lesser share of the family's puts is part of the one that is nearest to it.
LEAST_SHARE = 0.04
_SHARD = re.compile(r"-\d+$")


def phases_of(families: Mapping[str, FamilyEvidence], name: str) -> NDArray[np.int64]:
    """The phase of each interval of a family, numbered from 0 as they first come; shape: intervals."""
    own = families[name].intervals
    every: dict[str, list[Interval]] = defaultdict(list)
    for one, evidence in families.items():
        every[_SHARD.sub("", one)] += evidence.intervals
    columns = [_within(own, intervals, [one.puts for one in intervals]) for intervals in every.values()]
    columns += [
        _within(own, intervals, [one.deletes for one in intervals])
        for base, intervals in every.items()
        if base != _SHARD.sub("", name)  # what a family deletes of its own depends on what it holds, too
    ]
    counts = np.array(columns).T
    roots = np.sqrt(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0))
    weights = np.array([one.puts for one in own], np.float64)
    return _numbered(_nearest(roots, _centres(roots, weights)))


def lasting(phases: NDArray[np.int64]) -> NDArray[np.int64]:
    """Phases of two flushes or more: one flush alone may have begun in one phase and ended in the next, which it joins.

    Where the last is alone, it joins the one before.
    """
    found = phases.copy()
    for place in range(len(phases) - 1, -1, -1):
        before, after = (phases[one] if 0 <= one < len(phases) else -1 for one in (place - 1, place + 1))
        if len(phases) > 1 and phases[place] not in (before, after):
            found[place] = found[place + 1] if place + 1 < len(phases) else before
    return _numbered(found)


def _within(own: Sequence[Interval], intervals: Sequence[Interval], counts: Sequence[int]) -> Floats:
    """How many of the intervals' operations fall into each of our own, if they come evenly."""
    start, end = (np.array([getattr(one, side) for one in intervals]) for side in ("start", "end"))
    edges = np.unique(np.concatenate((start, end)))
    rates = np.array(counts) / np.maximum(end - start, 1e-6)
    steps = np.zeros(len(edges))
    np.add.at(steps, np.searchsorted(edges, start), rates)
    np.add.at(steps, np.searchsorted(edges, end), -rates)
    sums = np.concatenate(([0.0], np.cumsum(np.cumsum(steps)[:-1] * np.diff(edges))))
    ours = [np.interp([getattr(one, side) for one in own], edges, sums) for side in ("start", "end")]
    counted: Floats = np.maximum(ours[1] - ours[0], 0.0)
    return counted


def _centres(roots: Floats, weights: Floats) -> Floats:
    centres: list[Floats] = []
    for one in roots:
        if not centres or _distances(one[None], np.array(centres)).min() > APART:
            centres.append(one)
    found = np.array(centres)
    sums = np.bincount(_nearest(roots, found), weights, len(found))
    return found[sums >= LEAST_SHARE * max(1.0, float(sums.sum()))]


def _nearest(roots: Floats, centres: Floats) -> NDArray[np.int64]:
    nearest: NDArray[np.int64] = _distances(roots, centres).argmin(axis=1)
    return nearest


def _numbered(phases: NDArray[np.int64]) -> NDArray[np.int64]:
    """Phases numbered as they first come."""
    numbers = {one: number for number, one in enumerate(dict.fromkeys(phases.tolist()))}
    return np.array([numbers[one] for one in phases.tolist()], np.int64)


def _distances(roots: Floats, centres: Floats) -> Floats:
    squares: Floats = ((roots[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    return np.sqrt(squares / 2)
