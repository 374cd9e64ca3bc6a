"""Overwrites and growth: working sets for each regime, fresh keys, and the deletes that go with them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import Floats, Lifetimes
from lsmlens.tuners.estimation.parts import Counts, Part, grown, overwritten, whole
from lsmlens.tuners.estimation.windows import Window
from lsmlens.tuners.estimation.working_sets import RegimeSets, divide_regime, kept_of, sets_of
from numpy.typing import NDArray

# Tombstones kept beyond what overwrites leave are of grown keys, if they are this share of an interval's deletes,
# more than chance makes of so few, and of some weight beside its puts.
LEAST_OF_GROWN = 0.2
BEYOND_CHANCE = 3.0
OF_WEIGHT = 0.01
# Regimes with a smaller share of fresh keys than this of what their flushes keep have none.
LEAST_FRESH = 0.005
# An interval may hold growth that is called for if it could hold this share of all there could be.
LARGE_ROOM = 0.02


def overwrite_parts(
    intervals: Sequence[Interval],
    bottoms: Sequence[Window],
    lifetimes: Lifetimes,
    regimes: NDArray[np.int64],
    stretches: Floats,
    loaded: int | None = None,
) -> list[Part]:
    """Working sets for each regime and lifetime, and growth; deletes choose keys as puts do, or are of grown keys.

    `stretches` are how large the regime's populations are in each interval; `loaded` is the regime that writes each
    key of the others' sets once, before they overwrite them.
    """
    fresh = _fresh(intervals, lifetimes, regimes)
    places = [np.flatnonzero(regimes == regime) for regime in range(len(lifetimes.shares))]
    sets = [sets_of(lifetimes, regime, stretches[own]) for regime, own in enumerate(places)]
    divided = _divide(intervals, sets, places, fresh)
    of_grown = _deletes_of_grown(intervals, sets, divided)
    own_keys = sets if loaded is None else []  # else they are among the load's
    wanted = _balanced(intervals, bottoms, own_keys, divided, fresh, of_grown, _growing(lifetimes, regimes))
    if not np.allclose(wanted, fresh):
        fresh = wanted
        divided = _divide(intervals, sets, places, fresh)
    if loaded is not None:
        sets, divided, fresh = _fill(sets, divided, fresh, loaded, places[loaded])
    columns = np.column_stack([*list(divided), fresh])
    puts = whole(columns)
    deletes = np.array([one.deletes for one in intervals], np.int64)
    purged = np.minimum(np.rint(of_grown).astype(np.int64), deletes)
    rest = _spread_deletes(deletes - purged, puts[:, :-1])
    keys = np.concatenate([one.layer_keys for one in sets])
    parts = [
        overwritten(float(size), puts[:, place], rest[:, place], loaded is not None) for place, size in enumerate(keys)
    ]
    lost = deletes - purged - rest.sum(axis=1)
    parts.append(grown(puts[:, -1], purged + lost))
    return [part for part in parts if part.operations]


def _fresh(intervals: Sequence[Interval], lifetimes: Lifetimes, regimes: NDArray[np.int64]) -> Floats:
    endless = lifetimes.shares[:, ~np.isfinite(lifetimes.means)].sum(axis=1)
    for regime in range(len(endless)):
        own = [one for one, of in zip(intervals, regimes, strict=True) if of == regime]
        kept = sum(one.kept_puts for one in own)
        if endless[regime] * sum(one.puts for one in own) < LEAST_FRESH * kept:
            endless[regime] = 0.0
    return np.asarray(np.array([one.puts for one in intervals], np.float64) * endless[regimes], np.float64)


def _fill(
    sets: list[RegimeSets], divided: list[Floats], fresh: Floats, loaded: int, places: NDArray[np.int64]
) -> tuple[list[RegimeSets], list[Floats], Floats]:
    """The load's puts, given to the sets that are overwritten later, as many as they have keys; the rest are growth."""
    load = np.zeros(len(fresh))
    load[places] = (divided[loaded].sum(axis=1) + fresh)[places]
    others = [place for place in range(len(sets)) if place != loaded]
    sizes = _within(np.concatenate([sets[place].keys for place in others]), float(load.sum()))
    found, blocks, left = [], [], load.copy()
    for place in others:
        one = replace(sets[place], keys=sizes[: len(sets[place].keys)])
        sizes = sizes[len(one.keys) :]
        filling = np.outer(load, one.layer_keys / max(float(load.sum()), 1.0))
        found.append(one)
        blocks.append(divided[place] + filling)
        left -= filling.sum(axis=1)
    rest = fresh.copy()
    rest[places] = np.maximum(left[places], 0.0)
    return found, blocks, rest


def _within(keys: Floats, most: float) -> Floats:
    """The sizes of sets with `most` keys in all: the largest give way."""
    order = np.argsort(keys)
    sums = np.cumsum(keys[order])
    room = np.maximum(most - (sums - keys[order]), 1.0)
    found = np.empty_like(keys)
    found[order] = np.minimum(keys[order], room)
    return found


def _growing(lifetimes: Lifetimes, regimes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Intervals of regimes with fresh keys; where there are none, of the regime whose puts live longest."""
    endless = lifetimes.shares[:, ~np.isfinite(lifetimes.means)].sum(axis=1)
    if not (endless > LEAST_FRESH).any():
        finite = np.isfinite(lifetimes.means)
        longest = lifetimes.shares[:, finite] @ np.log(lifetimes.means[finite])
        result: NDArray[np.bool_] = regimes == int(longest.argmax())
        return result
    result = (endless > LEAST_FRESH)[regimes]
    return result


def _divide(
    intervals: Sequence[Interval], sets: Sequence[RegimeSets], places: Sequence[NDArray[np.int64]], fresh: Floats
) -> list[Floats]:
    """Puts by layer of all intervals, for each regime (shapes: intervals, layers); none outside the regime."""
    divided = []
    for one, own in zip(sets, places, strict=True):
        block = np.zeros((len(intervals), len(one.layer_keys)))
        block[own] = divide_regime(one, [intervals[place] for place in own], fresh[own])
        divided.append(block)
    return divided


def _deletes_of_grown(intervals: Sequence[Interval], sets: list[RegimeSets], divided: list[Floats]) -> Floats:
    """Deletes of grown keys in each interval: those whose tombstones survive where overwrites would replace them."""
    gone = np.zeros(len(intervals))
    for place, one in enumerate(intervals):
        if not one.deletes or one.flush is None:
            continue
        puts = np.concatenate([block[place] for block in divided])
        keys = np.concatenate([each.layer_keys for each in sets])
        operations = puts * (1 + one.deletes / max(one.puts, 1))
        kept = float(kept_of(operations, keys).sum()) / max(float(operations.sum()), 1.0) if puts.sum() else 1.0
        if kept < 1:
            gone[place] = min(max((one.kept_deletes - kept * one.deletes) / (1 - kept), 0.0), one.deletes)
        chance = BEYOND_CHANCE * (kept * (1 - kept) * one.deletes) ** 0.5
        if gone[place] < max(LEAST_OF_GROWN * one.deletes, chance, OF_WEIGHT * one.puts):
            gone[place] = 0.0
    return gone


def _balanced(
    intervals: Sequence[Interval],
    bottoms: Sequence[Window],
    sets: list[RegimeSets],
    divided: list[Floats],
    fresh: Floats,
    of_grown: Floats,
    growing: NDArray[np.bool_],
) -> Floats:
    """Fresh puts so that the live bottoms come out, and that there was what was deleted.

    Less is scaled down evenly from one bottom to the next; more comes in the intervals that are `growing`, where most
    puts were kept.
    """
    wanted = float(of_grown.sum())
    less = _as_bottoms_show(bottoms, sets, divided, fresh, of_grown)
    if less.sum() >= wanted:
        return less
    if fresh.sum() > wanted:
        return less + (fresh - less) * ((wanted - float(less.sum())) / float((fresh - less).sum()))
    room = np.array([max(0.0, one.kept_puts) for one in intervals]) - fresh
    last_gone = int(np.flatnonzero(of_grown)[-1]) + 1 if of_grown.any() else len(intervals)
    room[last_gone:] = 0.0
    room = np.maximum(room, 0.0)
    large = room > LARGE_ROOM * room.sum()
    for among in (growing, large & ~growing):
        own = np.where(among, room, 0.0)
        fresh = fresh + own * min(1.0, max(0.0, wanted - float(fresh.sum())) / max(float(own.sum()), 1.0))
    return fresh


def _as_bottoms_show(
    bottoms: Sequence[Window], sets: list[RegimeSets], divided: list[Floats], fresh: Floats, of_grown: Floats
) -> Floats:
    """No more fresh puts up to each bottom since the one before than records came to live, beside those of the sets."""
    found, before = fresh.copy(), np.zeros(len(fresh))
    records = live = 0.0
    for bottom in bottoms:
        share = np.minimum(bottom.mass(len(fresh)), 1.0)
        now = sum(
            float(kept_of((share[:, None] * block).sum(axis=0), one.layer_keys).sum())
            for one, block in zip(sets, divided, strict=False)
        )
        own = np.maximum(share - before, 0.0)
        seen = float(own @ fresh)
        missing = max(0.0, bottom.kept_puts - records + float(own @ of_grown) - (now - live))
        if seen > missing:
            within = own if bottom is not bottoms[-1] else 1 - before
            found -= within * fresh * (1 - missing / seen)
        before, records, live = np.maximum(before, share), bottom.kept_puts, now
    return found


def _spread_deletes(deletes: Counts, puts: Counts) -> Counts:
    """Deletes of each interval among sets as its puts are; none where it has no puts."""
    totals = puts.sum(axis=1, keepdims=True)
    if not puts.shape[1]:
        return puts
    shares = puts / np.maximum(totals, 1)
    return whole(shares * deletes[:, None])
