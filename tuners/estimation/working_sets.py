"""Working sets: the keys that a regime's puts overwrite, and how each interval's puts divide among them.

A share w of a regime's puts that lives for T puts on average is spread over N = w T keys. Where populations drift, an
interval uses only the first part of each set's keys, as large as makes it keep as many puts as its flush did: sets of N
keys that take n puts keep N (1 - exp(-n / N)). So that components of fixed populations can do that, sets are cut into
layers, and an interval spreads its puts over the layers it reaches.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.estimation.drift import LARGEST, SMALLEST
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import Floats, Lifetimes, kept_share

HALVINGS = 40
# Each layer ends at so many times where the one below it does.
LAYER = 1.6
# Smaller sets are not cut into layers.
LEAST_KEYS = 32.0
# Lifetimes nearer than this factor make one set.
ALIKE = 2.2


@dataclass(frozen=True, slots=True)
class RegimeSets:
    """A regime's working sets: `keys` and `shares` of its puts (shapes: sets), and the share of fresh keys.

    `layers` are where layers end, as parts of the sets; the last is 1 where populations are steady.
    """

    keys: Floats
    shares: Floats
    endless: float
    layers: Floats

    @property
    def layer_keys(self) -> Floats:
        """Keys of each layer of each set (shape: sets * layers); a small set is all in its first."""
        return self._cut(self.keys, np.diff(self.layers, prepend=0.0))

    def divide(self, puts: float, reach: float) -> Floats:
        """`puts` of one interval by layer (shape: sets * layers), if it reaches so far into each set."""
        ends = np.minimum(self.layers, reach)
        parts = np.diff(ends, prepend=0.0)
        return self._cut(self.shares * puts, parts / max(float(parts.sum()), 1e-12))

    def _cut(self, amounts: Floats, parts: Floats) -> Floats:
        cut = np.outer(amounts, parts)
        small = self.keys < LEAST_KEYS
        cut[small] = 0.0
        cut[small, 0] = amounts[small]
        return cut.ravel()

    def reach(self, puts: float, kept: float) -> float:
        """How far into each set `puts` must reach for so many to be kept; 1 if populations are steady."""
        if len(self.layers) == 1:
            return 1.0
        low, high = SMALLEST, float(self.layers[-1])
        for _ in range(HALVINGS):
            middle = (low * high) ** 0.5
            if float(kept_of(self.divide(puts, middle), self.layer_keys).sum()) < kept:
                low = middle
            else:
                high = middle
        return high


def kept_of(puts: Floats, keys: Floats | float) -> Floats:
    """Distinct keys among `puts` spread evenly over `keys`."""
    return puts * kept_share(puts / np.maximum(keys, 1e-9))


def sets_of(lifetimes: Lifetimes, regime: int, stretches: Floats) -> RegimeSets:
    """The working sets of a regime's lifetimes, in layers if the regime's populations drift."""
    shares, means = lifetimes.shares[regime], lifetimes.means
    used = np.flatnonzero((shares > 0) & np.isfinite(means))
    endless = float(shares[~np.isfinite(means)].sum())
    groups = np.cumsum(np.append(0, np.diff(np.log(means[used])) > np.log(ALIKE))) if len(used) else used
    keys = np.maximum(np.bincount(groups, shares[used] * means[used]), 1.0)
    parts = np.bincount(groups, shares[used])
    layers = np.ones(1)
    if np.ptp(stretches) > 0 and len(keys):
        top = min(LARGEST, max(1.0, float(stretches.max())))
        least = max(float(stretches.min()), LEAST_KEYS / float(keys.max()))
        count = max(1, int(np.log(top / min(least, top)) / np.log(LAYER)))
        layers = top * LAYER ** -np.arange(count, -1, -1.0)
    return RegimeSets(keys, parts / max(float(parts.sum()), 1e-12), endless, layers)


def divide_regime(sets: RegimeSets, intervals: Sequence[Interval], fresh: Floats) -> Floats:
    """The puts of a regime's intervals, but for the `fresh` ones, by layer of each set (shape: intervals, layers)."""
    rows = np.zeros((len(intervals), len(sets.keys) * len(sets.layers)))
    reach = 1.0
    for row, (one, own_fresh) in enumerate(zip(intervals, fresh, strict=True)):
        puts = max(0.0, one.puts - float(own_fresh))
        if not puts or not len(sets.keys):
            continue
        if one.flush is not None and one.kept_puts > own_fresh:
            reach = sets.reach(puts, one.kept_puts - float(own_fresh))
        rows[row] = sets.divide(puts, reach)
    return rows
