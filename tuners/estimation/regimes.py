"""Regimes: times in which a family is written in one manner, known by how long its puts live.

A phase of load that overwrites seventy keys and one that overwrites ten thousand have flushes with lifetimes far
apart; the same phase later has the same again, and then its keys are taken to be the same.
"""

from collections.abc import Sequence

import numpy as np
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import mean_lifetime
from numpy.typing import NDArray

# Neighbouring lifetimes further apart than this factor part two regimes …
GAP = 3.0
# … if each has this share of the family's puts.
LEAST_SHARE = 0.005
# A lifetime of more than so many windows cannot be told from one without end.
LONGEST_WINDOWS = 200.0
# A regime that keeps this share of its puts writes fresh keys.
FRESH_SHARE = 0.98


def regimes_of(intervals: Sequence[Interval]) -> NDArray[np.int64]:
    """The regime of every interval, numbered by the time of their first."""
    if not intervals:
        return np.zeros(0, np.int64)
    lifetimes = np.array([_lifetime(one) for one in intervals])
    puts = np.array([one.puts for one in intervals], np.float64)
    order = np.argsort(lifetimes, kind="stable")
    logs = np.log(lifetimes[order])
    below = np.cumsum(puts[order]) / max(puts.sum(), 1.0)
    parts = (np.diff(logs) > np.log(GAP)) & (below[:-1] > LEAST_SHARE) & (below[:-1] < 1 - LEAST_SHARE)
    found = np.zeros(len(intervals), np.int64)
    found[order[1:]] = np.cumsum(parts)
    return _in_order_of_time(found)


def load_regime(intervals: Sequence[Interval], regimes: NDArray[np.int64]) -> int | None:
    """The first regime, if it writes nothing but fresh keys and others follow: a load phase. Else None."""
    if not len(regimes) or regimes.max() == 0:
        return None
    own = [one for one, regime in zip(intervals, regimes, strict=True) if regime == 0]
    puts = sum(one.puts for one in own)
    kept = sum(one.kept_puts for one in own)
    return 0 if puts and kept >= FRESH_SHARE * puts else None


def _lifetime(interval: Interval) -> float:
    longest = LONGEST_WINDOWS * max(interval.puts, 1)
    return min(mean_lifetime(interval.puts, interval.kept_puts), longest) if interval.puts else 1.0


def _in_order_of_time(found: NDArray[np.int64]) -> NDArray[np.int64]:
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return rank[inverse].astype(np.int64)
