"""A family taken apart: which primitives explain what its flushes and merges kept."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from lsmlens.tuners.estimation.clusters import live_records, live_victims
from lsmlens.tuners.estimation.drift import stretches
from lsmlens.tuners.estimation.fresh_keys import fresh_parts
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import fit_lifetimes, mean_lifetime, samples_of, single_lifetimes
from lsmlens.tuners.estimation.overwrites import overwrite_parts
from lsmlens.tuners.estimation.parts import Part, queued
from lsmlens.tuners.estimation.queues import fresh_puts, is_queue_like, queue_parts
from lsmlens.tuners.estimation.random_deletes import random_parts
from lsmlens.tuners.estimation.regimes import load_regime, regimes_of
from lsmlens.tuners.estimation.updated_keys import FEWER, fresh_by_balance, updated_parts
from lsmlens.tuners.estimation.windows import Window, before_fall, last_bottom, telling_bottoms
from lsmlens.tuners.workloads.components import Clustered, DeleteOrder, Growth, Order

# Fewer deletes than this share of the puts do not shape anything.
FEW_DELETES = 0.002
# Tombstones that live no longer than so many lifetimes of puts are of keys chosen as puts choose them.
AS_PUTS = 2.0
# An interval with fewer deletes does not tell; lifetimes of more windows than this are all alike.
LEAST_TOLD = 20
MOST_WINDOWS = 1000.0
# Single deletes take their put with them: as many as puts, and few of either left.
FEW_SINGLE = 0.5
BALANCED = 0.1
# Live victims, or updates of fresh keys, stand as the explanation if what windows kept comes out as well as this.
EXPLAINED = 0.15
# Few objects cleared as a whole scatter: how much of them lives at a flush's end, by about the root of their number.
OBJECTS_SCATTER = 1.5
# Victims are no explanation where a bottom holds so many times the records that would live.
OUTGROWN = 2.0
# Tombstones of keys that are not put again are replaced only by other deletes of the same key.
NEVER_PUT_AGAIN = 0.75
MANY_DELETES = 0.25
# What one regime loads is what others overwrite if that brings the misfit down this far.
SHARED = 0.8


First: TypeAlias = Literal["fresh", "hot"]


@dataclass(frozen=True, slots=True)
class Variation:
    """Where, of all fits the log allows, this one lies: at the best guess by default, elsewhere for the ridge.

    What flushes and merges do not show is its structure: `order` and `groups` say where new keys sort (by default what
    compactions make likely), `first` whether fresh keys sort before those that are overwritten, or after them,
    `deletes` which fresh keys are deleted (by default the oldest); with `hot_keys` any of them, and all other puts are
    of so many keys. `clear_factor` multiplies the size of a clear. The
    rest is a matter of degree: `place` is the short queue's length in its range, `offset` moves the grid of lifetimes,
    `noise` is the standard deviation of relative errors put on what windows kept, `before` multiplies how many records
    are older than the log.
    """

    order: Order | None = None
    groups: int | None = None
    deletes: DeleteOrder | None = None
    first: First | None = None
    hot_keys: int | None = None
    clear_factor: float = 1.0
    place: float = 0.5
    offset: float = 0.0
    noise: float = 0.0
    smoothing: float = 0.0
    before: float = 1.0
    seed: int = 0


BEST = Variation()


@dataclass(slots=True)
class Dissection:
    """A family's parts, and in words what was seen; `misfit` is the relative error of the windows' survivors."""

    parts: list[Part] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    misfit: float = 0.0


def dissect(
    intervals: Sequence[Interval],
    windows: Sequence[Window],
    *,
    preexisting: float = 0.0,
    objects: float | None = None,
    variation: Variation = BEST,
) -> Dissection:
    """The parts of a family; `intervals` must hold some operations.

    `preexisting` are the records of before the log; `objects` is how many there are, if keys are of objects that are
    cleared whole.
    """
    puts = np.array([one.puts for one in intervals], np.int64)
    deletes = np.array([one.deletes for one in intervals], np.int64)
    if _are_single_deletes(intervals):
        parts = [
            queued(puts, deletes, (puts - [one.kept_puts for one in intervals]).astype(np.float64), is_single=True)
        ]
        return Dissection(parts, ["single deletes: a put and its delete both vanish"])
    if variation.hot_keys is not None:
        return Dissection(
            random_parts(intervals, variation.hot_keys, preexisting), ["deletes take fresh keys at random"]
        )
    share = fresh_by_balance(intervals, windows)
    if share is not None and share < FEWER and variation.deletes != "oldest" and is_queue_like(intervals):
        parts, lifetimes = updated_parts(intervals, windows, share, preexisting)
        found = Dissection(parts, ["fresh keys that are updated, and deleted at random"], lifetimes.misfit)
        other = _by_lifetimes(intervals, windows, variation)
        return found if found.misfit <= max(EXPLAINED, other.misfit) else other
    if is_queue_like(intervals, share):
        balance = fresh_puts(intervals, windows)
        seen = ["deletes first in, first out: tombstones are never replaced"]
        return Dissection(queue_parts(intervals, balance, variation.place), seen)
    if deletes.sum() >= FEW_DELETES * max(int(puts.sum()), 1) and not _are_as_puts(intervals):
        part = _live_victims(intervals, windows, not preexisting, objects, variation)
        if _error(part, intervals) <= _explained(part) and not _is_outgrown(part, windows):
            return Dissection([part], ["deletes take live records"], _error(part, intervals))
        if _keeps_deletes(intervals):
            return Dissection(fresh_parts(intervals, windows), ["hot keys beside fresh ones that are deleted"])
    return _by_lifetimes(intervals, windows, variation)


def _by_lifetimes(intervals: Sequence[Interval], windows: Sequence[Window], variation: Variation) -> Dissection:
    """Overwrites and growth, by how long puts live in each regime."""
    regimes = regimes_of(intervals)
    drift = np.ones(len(intervals))
    for regime in np.unique(regimes):
        own = np.flatnonzero(regimes == regime)
        drift[own] = stretches([intervals[int(place)] for place in own])
    samples = samples_of(before_fall(windows), intervals, regimes, drift)
    noise = None
    if variation.noise:
        noise = np.random.default_rng(variation.seed).normal(0.0, variation.noise, len(samples.kept))
    single = single_lifetimes(intervals, regimes, drift)
    said: dict[str, Any] = {"smoothing": variation.smoothing, "offset": variation.offset, "noise": noise}
    lifetimes = fit_lifetimes(samples, single, **said)
    loaded = load_regime(intervals, regimes)
    if loaded is not None:
        shared = fit_lifetimes(samples, single, loaded=loaded, **said)
        if shared.misfit < SHARED * lifetimes.misfit:
            lifetimes = shared
        else:
            loaded = None
    parts = overwrite_parts(intervals, telling_bottoms(windows), lifetimes, regimes, drift, loaded)
    seen = [] if loaded is None else ["what is overwritten was loaded first"]
    of_grown = sum(int(part.deletes.sum()) for part in parts if isinstance(part.component, Growth))
    deletes = sum(one.deletes for one in intervals)
    if deletes:
        seen.append("what grew is deleted later" if 2 * of_grown > deletes else "deletes choose keys as puts do")
    return Dissection(parts, seen, lifetimes.misfit)


def _live_victims(
    intervals: Sequence[Interval],
    windows: Sequence[Window],
    was_empty: bool,
    objects: float | None,
    variation: Variation,
) -> Part:
    puts = np.array([one.puts for one in intervals], np.int64)
    deletes = np.array([one.deletes for one in intervals], np.int64)
    live = live_records(intervals, windows, puts)
    part = live_victims(intervals, puts, deletes, live, was_empty=was_empty, objects=objects)
    if variation.clear_factor != 1.0 and isinstance(part.component, Clustered):
        number = part.component.objects / variation.clear_factor
        part = live_victims(intervals, puts, deletes, live, was_empty=was_empty, objects=number)
    return part


def _explained(part: Part) -> float:
    """The error up to which live victims stand as the explanation."""
    if not part.is_clustered or not isinstance(part.component, Clustered):
        return EXPLAINED
    return max(EXPLAINED, OBJECTS_SCATTER / math.sqrt(part.component.objects))


def _is_outgrown(part: Part, windows: Sequence[Window]) -> bool:
    """Whether far more records lived at the last bottom than the part leaves."""
    bottom = last_bottom(windows)
    return bottom is not None and bottom.kept_puts > OUTGROWN * part.live


def _keeps_deletes(intervals: Sequence[Interval]) -> bool:
    """Whether there are many deletes and few tombstones are replaced: keys that are deleted are not put again."""
    puts, deletes, _, kept_deletes = _sums([one for one in intervals if one.flush is not None])
    return deletes >= MANY_DELETES * puts and kept_deletes >= NEVER_PUT_AGAIN * deletes


def _error(part: Part, intervals: Sequence[Interval]) -> float:
    """The relative error of the puts kept, root mean square over the flushes, weighed by puts."""
    flushed = np.array([one.flush is not None and one.kept_puts > 0 for one in intervals])
    kept = np.array([one.kept_puts for one in intervals], np.float64)[flushed]
    if not len(kept) or not part.puts[flushed].sum():
        return 0.0
    errors = (part.kept_puts[flushed] / kept - 1) ** 2
    return float(np.sqrt(np.average(errors, weights=part.puts[flushed])))


def _are_single_deletes(intervals: Sequence[Interval]) -> bool:
    puts, deletes, kept_puts, kept_deletes = _sums(intervals)
    return (
        deletes > 0
        and abs(puts - deletes) <= BALANCED * puts
        and kept_deletes < FEW_SINGLE * deletes
        and abs(kept_puts - kept_deletes) <= BALANCED * puts
    )


def _are_as_puts(intervals: Sequence[Interval]) -> bool:
    """Whether tombstones are replaced about as soon as records: so they are of keys that puts choose alike.

    It is for most puts to say: now and then what grew is deleted, and that is told apart later.
    """
    told = [one for one in intervals if one.flush is not None and one.deletes >= LEAST_TOLD and one.puts]
    if not told:
        return True
    ratios = np.array([_mean_lifetime(one.puts, one.kept_deletes / one.deletes) for one in told])
    ratios /= np.array([_mean_lifetime(one.puts, one.kept_puts / one.puts) for one in told])
    order = np.argsort(ratios)
    below = np.cumsum([told[place].puts for place in order])
    return float(ratios[order][int(np.searchsorted(below, below[-1] / 2))]) <= AS_PUTS


def _mean_lifetime(puts: int, share: float) -> float:
    """The mean lifetime at which so large a share of what so many puts touch is kept; at most MOST_WINDOWS of them."""
    return min(mean_lifetime(puts, puts * share), MOST_WINDOWS * puts)


def _sums(intervals: Sequence[Interval]) -> tuple[int, int, int, int]:
    return (
        sum(one.puts for one in intervals),
        sum(one.deletes for one in intervals),
        sum(one.kept_puts for one in intervals),
        sum(one.kept_deletes for one in intervals),
    )
