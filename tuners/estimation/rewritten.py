"""Populations that are rewritten, such as the metadata of objects: what a log tells of them.

A flush of n puts and deletes of keys of one population, each as likely, keeps

    s = N (1 - exp(-n / N))

and so tells N, the population's size, which changes as an image fills and its objects get more parts. Where the next
flush tells a size of quite another order, another population is written; one that comes again is the one it was. A
flush that keeps most of its puts brought new keys, and deletes of which nearly all are kept are of these, the oldest
first, as where objects are removed. How unevenly keys are chosen a log tells only as far as its flushes are of
different lengths.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import Floats, kept_share, mean_lifetime
from lsmlens.tuners.estimation.parts import Counts, Part, grown, overwritten
from lsmlens.tuners.workloads.components import WorkingSet
from numpy.typing import NDArray

# Of flushes of so many puts or more those that keep this share brought new keys.
NEW = 0.5
LEAST_NEW = 200
# Deletes are of what is new where there are so many for each put, and so many are kept.
REMOVED = 0.3
REMOVED_KEPT = 0.8
# A size that differs from the last of every population by more than this factor is of another one.
ANOTHER = 8.0
# Sizes that differ by less are one: steps of this factor.
STEP = 1.08
# Every write to an object puts its head, and about as many of its parts.
OF_HEADS = 0.5
# In a flush of so many puts for each key that there seems to be, all heads are written.
FULL = 5.0


def rewritten(intervals: Sequence[Interval]) -> list[Part]:
    """New keys, and the populations; none of fewer than two: windows of many lengths tell more of one."""
    puts, deletes = (np.array([getattr(one, name) for one in intervals], np.int64) for name in ("puts", "deletes"))
    kept, tombstones = (np.array([getattr(one, f"kept_{name}") for one in intervals]) for name in ("puts", "deletes"))
    removed = np.where((deletes > REMOVED * puts) & (tombstones > REMOVED_KEPT * deletes), deletes, 0)
    new = _new(puts, kept, removed > 0)
    removed = np.minimum(removed, np.maximum(0, np.cumsum(new) - (np.cumsum(removed) - removed)))
    found = [grown(new, removed)]
    puts, deletes, kept = puts - new, deletes - removed, kept - new
    of = _populations(puts, _sizes(puts, deletes, kept))
    if of.max() < 1:
        return []
    for number in range(int(of.max()) + 1):
        found += _parts(np.where(of == number, puts, 0), np.where(of == number, deletes, 0), kept)
    return [part for part in found if part.operations]


def _new(puts: Counts, kept: Floats, is_removal: NDArray[np.bool_]) -> Counts:
    """The new keys of each interval: what a flush keeps beyond what the next one that surely brings none does.

    That it keeps most of its puts is not enough: it must be of another order than the populations before and after.
    """
    brings = (kept > NEW * puts) & (puts >= LEAST_NEW) & ~is_removal
    others = np.flatnonzero(~brings & (puts >= LEAST_NEW))
    if not len(others):
        return np.zeros_like(puts)
    next_other = np.searchsorted(others, np.arange(len(puts)))
    following, preceding = others[np.minimum(next_other, len(others) - 1)], others[np.maximum(next_other - 1, 0)]
    sizes = _sizes(puts, np.zeros_like(puts), kept)
    brings &= sizes > ANOTHER * np.maximum(sizes[following], sizes[preceding])
    return np.where(brings, kept - np.minimum(kept[following], puts - kept), 0).astype(np.int64)


def _populations(puts: Counts, sizes: Floats) -> NDArray[np.int64]:
    """The number of the population that each interval writes to (shape: intervals,)."""
    last: list[float] = []
    found = np.zeros(len(sizes), np.int64)
    for place, size in enumerate(np.log(np.minimum(sizes, 1e12)).tolist()):
        if puts[place] < LEAST_NEW:
            found[place] = found[max(0, place - 1)]
            continue
        apart = [abs(size - one) for one in last]
        if not apart or min(apart) > np.log(ANOTHER):
            found[place] = len(last)
            last.append(size)
        else:
            found[place] = apart.index(min(apart))
            last[found[place]] = size
    return found


def _parts(puts: Counts, deletes: Counts, kept: Floats) -> list[Part]:
    """The heads of objects, which every write puts, and their parts, which are as many as flushes kept besides."""
    sizes = _sizes(puts, deletes, kept)
    is_full = (puts > FULL * sizes) & (puts >= LEAST_NEW)
    if not is_full.any():
        return [_population(puts, deletes, sizes)]
    heads = float(sizes[is_full].min())
    to_heads = np.floor(puts * OF_HEADS).astype(np.int64)
    rest = puts - to_heads
    of_parts = kept - heads * -np.expm1(-to_heads / heads)
    return [overwritten(heads, to_heads), _population(rest, deletes, _sizes(rest, deletes, of_parts))]


def _sizes(puts: Counts, deletes: Counts, kept: Floats) -> Floats:
    """How many keys there are where so many puts are kept, and deletes choose keys as puts do (shape: intervals,)."""
    operations = np.maximum(1, puts + deletes)
    survived = np.clip(kept * operations / np.maximum(1, puts), 1.0, operations)
    return np.array([mean_lifetime(n, s) for n, s in zip(operations, survived, strict=True)])


def _population(puts: Counts, deletes: Counts, sizes: Floats) -> Part:
    operations = puts + deletes
    steps = np.rint(np.log(np.clip(sizes, 1.0, operations.sum() + 1.0)) / np.log(STEP)).astype(np.int64)
    used, sets = np.unique(np.where(operations > 0, steps, steps[operations.argmax()]), return_inverse=True)
    keys = [max(1, round(STEP**one)) for one in used.tolist()]
    part = overwritten(float(max(keys)), puts, deletes)
    part = part.with_(working_sets=tuple(WorkingSet(one) for one in keys), nested=len(keys) > 1)
    kept = kept_share(operations / np.array(keys)[sets])
    return replace(part, sets=sets, kept_puts=puts * kept, kept_deletes=deletes * kept)
