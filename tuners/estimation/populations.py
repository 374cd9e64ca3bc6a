"""Populations: how many records of a family live, if all its puts live alike."""

from collections.abc import Sequence

import numpy as np
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import kept_share
from lsmlens.tuners.estimation.parts import Counts
from lsmlens.tuners.estimation.windows import Window, WindowKind

LENGTHS = 400
LONGEST_WINDOWS = 100.0
# Windows that keep fewer records say too little.
LEAST_KEPT = 100
# Flushes are exact and their records are the largest part of what is written; a bottom lags behind what was put.
FLUSHES_COUNT = 100.0


def live_records(intervals: Sequence[Interval], windows: Sequence[Window], puts: Counts) -> float:
    """The one mean lifetime, in puts, that explains what windows kept; so many records live once load is steady.

    Each kind of window counts alike, and by the root of its records.
    """
    rows = [one for one in windows if one.kept_puts >= LEAST_KEPT]
    if not rows:
        return float(max(1, sum(one.kept_puts - one.kept_deletes for one in intervals)))
    sums = np.append(0, np.cumsum(puts)).astype(np.float64)
    layers = [
        (place, layer.share, sums[layer.last + 1] - sums[layer.first])
        for place, one in enumerate(rows)
        for layer in one.layers
    ]
    window = np.array([layer[0] for layer in layers])
    shares, sizes = np.array([layer[1:] for layer in layers]).T
    kept = np.array([one.kept_puts for one in rows], np.float64)
    weights = np.zeros(len(rows))
    for kind in WindowKind:
        own = np.array([one.kind == kind for one in rows])
        if own.any():
            weights[own] = np.sqrt(kept[own]) / np.sqrt(kept[own]).sum() * np.sqrt(own.sum())
    weights *= [FLUSHES_COUNT if one.kind == WindowKind.FLUSH else 1.0 for one in rows]
    longest = LONGEST_WINDOWS * float(sizes.max())
    lengths = np.geomspace(1.0, longest, LENGTHS)
    errors = []
    for length in lengths:
        expected = np.bincount(window, shares * sizes * kept_share(sizes / length), len(rows))
        errors.append(float((weights * np.log(np.maximum(expected, 1e-9) / kept) ** 2).sum()))
    return float(lengths[int(np.argmin(errors))])
