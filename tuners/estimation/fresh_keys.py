"""Fresh keys beside hot ones: what is put once, and later deleted, next to few keys that are overwritten all the time.

Short windows tell the two apart: flushes, and merges of a few of them, are too short for anything put once to be
overwritten. How many of the deletes found a record shows at the bottom: fresh puts less records that live are records
that were deleted; the other deletes are of keys that were not there, and leave tombstones only. But where the
tombstones that flushes keep and the records that live are together no more than the puts that flushes keep, every one
of these deletes can have found a record: then that balance says how many puts were fresh, and the tombstones that were
replaced are of hot keys.
"""

from collections.abc import Sequence

import numpy as np
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import Floats, fit_lifetimes, mean_lifetime, samples_of, single_lifetimes
from lsmlens.tuners.estimation.parts import Part, grown, overwritten, whole
from lsmlens.tuners.estimation.windows import Window, WindowKind, last_bottom
from lsmlens.tuners.estimation.working_sets import RegimeSets, kept_of

# Puts that live for less than this share of a flush are of hot keys.
HOT_LIFETIME = 0.5
# Merges of up to so many times as many flushes as the shortest are short.
SHORT = 2
# Deletes that found no record are told apart from this share of all on.
LEAST_VOID = 0.1
HALVINGS = 40
# Deletes have begun when this share of them is done.
BEGUN = 0.01
# Keys of age between one and two times the age of the first deletes are half gone: of what lived, so much is younger.
YOUNG = 1 / 3


def fresh_parts(intervals: Sequence[Interval], windows: Sequence[Window]) -> list[Part]:
    """Hot keys by their lifetimes, fresh ones deleted in their order, and deletes that found nothing."""
    balance = _fresh_by_balance(intervals, windows)
    if balance is not None:
        return _balanced_parts(intervals, balance)
    hot = _hot_sets(intervals, _short(windows))
    puts = np.array([one.puts for one in intervals], np.float64)
    fresh = np.array([_fresh(hot, one) for one in intervals])
    rows = [hot.divide(float(every - own), 1.0) for every, own in zip(puts, fresh, strict=True)]
    counts = whole(np.column_stack([np.array(rows), fresh]))
    deletes = np.array([one.deletes for one in intervals], np.int64)
    parts = [overwritten(float(keys), counts[:, place]) for place, keys in enumerate(hot.keys)]
    parts.append(grown(counts[:, -1], deletes, repeated_deletes=_void_share(intervals, windows, fresh)))
    return [part for part in parts if part.operations]


def delete_age(part: Part, preexisting: float) -> int:
    """Further puts after which the first of the keys put are deleted; 0 if none is, or if deletes come at once.

    In a log that begins with an empty family, puts until deletes begin say so. Elsewhere what lived before is taken to
    be the keys too young to be deleted, and half as many again.
    """
    deletes = part.deletes.sum()
    if not deletes:
        return 0
    if preexisting:
        return round(preexisting * YOUNG)
    begun = int(np.searchsorted(np.cumsum(part.deletes), BEGUN * deletes, side="right"))
    return int(part.puts[:begun].sum())


def _fresh_by_balance(intervals: Sequence[Interval], windows: Sequence[Window]) -> float | None:
    """Fresh puts as a share of the puts that flushes kept, if every tombstone kept took a record; None if it cannot."""
    bottom = last_bottom(windows)
    if bottom is None:
        return None
    mass = np.minimum(bottom.mass(len(intervals)), 1.0)
    kept = float(mass @ np.array([one.kept_puts for one in intervals], np.float64))
    deleted = float(mass @ np.array([one.kept_deletes for one in intervals], np.float64))
    share = (bottom.kept_puts + deleted - bottom.lost) / max(kept, 1.0)
    return share if 0 < share <= 1 else None


def _balanced_parts(intervals: Sequence[Interval], share: float) -> list[Part]:
    """Hot keys with the deletes whose tombstones were replaced, and fresh ones with all others."""
    puts = np.array([one.puts for one in intervals], np.int64)
    deletes = np.array([one.deletes for one in intervals], np.int64)
    fresh = np.minimum(whole(np.array([[share * one.kept_puts] for one in intervals]))[:, 0], puts)
    gone = np.minimum([one.kept_deletes for one in intervals], deletes)
    own = [place for place, one in enumerate(intervals) if one.flush is not None and puts[place] > fresh[place]]
    if not own:
        return [grown(puts, deletes)]
    kept = np.mean([(1 - share) * intervals[place].kept_puts for place in own])
    keys = max(1.0, mean_lifetime(float((puts - fresh)[own].mean()), float(kept)))
    parts = [overwritten(keys, puts - fresh, deletes - gone), grown(fresh, gone)]
    return [part for part in parts if part.operations]


def _short(windows: Sequence[Window]) -> list[Window]:
    """Flushes and the shortest merges, of the same flushes everywhere if there are such.

    Which part of a level fresh keys lie in is not known, so nor is it what else a merge with some of a level took in.
    """
    flushes = [one for one in windows if one.kind == WindowKind.FLUSH]
    merges = [one for one in windows if one.kind == WindowKind.MERGE and one.kept_deletes is not None]
    merges = [one for one in merges if len(one.layers) == 1] or merges
    shortest = min((one.length for one in merges), default=0)
    return flushes + [one for one in merges if one.length <= SHORT * shortest]


def _hot_sets(intervals: Sequence[Interval], windows: Sequence[Window]) -> RegimeSets:
    """The sets that are overwritten within a flush, as one regime's; its fresh keys are all others."""
    regimes = np.zeros(len(intervals), np.int64)
    steady = np.ones(len(intervals))
    samples = samples_of(windows, intervals, regimes, steady)
    lifetimes = fit_lifetimes(samples, single_lifetimes(intervals, regimes, steady))
    flushes = [one.puts for one in intervals if one.flush is not None and one.puts]
    limit = HOT_LIFETIME * float(np.median(flushes)) if flushes else 0.0
    shares, means = lifetimes.shares[0], lifetimes.means
    short = np.flatnonzero((means < limit) & (shares > 0))
    share = float(shares[short].sum())
    keys = np.maximum(shares[short] * means[short], 1.0)
    return RegimeSets(keys, shares[short] / max(share, 1e-12), 1.0 - share, np.ones(1))


def _fresh(hot: RegimeSets, interval: Interval) -> float:
    """Fresh puts of an interval: with them the flush keeps what it did."""
    if interval.flush is None or not len(hot.keys):
        return float(interval.puts) * (hot.endless if len(hot.keys) else 1.0)
    low, high = 0.0, float(interval.puts)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        kept = middle + float(kept_of(hot.divide(interval.puts - middle, 1.0), hot.keys).sum())
        if kept < interval.kept_puts:
            low = middle
        else:
            high = middle
    return high


def _void_share(intervals: Sequence[Interval], windows: Sequence[Window], fresh: Floats) -> float:
    """The share of the deletes that found no record, by the last bottom; 0 where none tells."""
    bottom = last_bottom(windows)
    if bottom is None:
        return 0.0
    mass = np.minimum(bottom.mass(len(intervals)), 1.0)
    deletes = float(mass @ np.array([one.deletes for one in intervals], np.float64))
    gone = float(mass @ fresh) - bottom.kept_puts + bottom.lost
    share = 1 - min(max(gone / max(deletes, 1.0), 0.0), 1.0)
    return share if share >= LEAST_VOID else 0.0
