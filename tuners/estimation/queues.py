"""Queues: keys that are put once and deleted in the order of their puts, such as the log of a placement group.

Every put of a fresh key either is still live or was deleted, so up to each moment at which the bottom tells how many
records live, fresh puts = deletes + live records; what else was put overwrote a few hot keys. Fresh puts that are not
in the flushes' tables vanished: they were deleted in the memtable that held them. Records of one age would all vanish
or none, so there are two queues: a short one of T records, all of whose turnover beyond T vanishes, and a long one.
One equation, deletes that vanish = deletes of the short queue - T, leaves a range for T: its middle is taken, the rest
is the ridge.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.lifetimes import Floats
from lsmlens.tuners.estimation.parts import Counts, Part, overwritten, queued
from lsmlens.tuners.estimation.windows import Window, WindowKind

# Tombstones of keys that are never put again all survive their flush.
LEAST_KEPT_DELETES = 0.998
NEARLY_KEPT_DELETES = 0.99
MANY_VANISHED = 1.2
LEAST_DELETES = 0.01
# Below this share of the fresh puts none vanished, but the balance is off.
LEAST_VANISHED = 0.05
# Flushes whose fresh puts scatter less than this share of their mean count as alike.
VARIED = 0.2
# What overwrites beside a queue, such as the info of each placement group; few flushes tell how many keys that is.
HOT_KEYS = 64
# With so many puts for each hot key, a flush holds nearly all of them.
SATURATED = 2.0


@dataclass(frozen=True, slots=True)
class FreshPuts:
    """Fresh puts of each interval, how many of them vanished in memory, and live records (shapes: intervals).

    All other puts are of `hot_keys` keys.
    """

    fresh: Floats
    vanished: Floats
    live: Floats
    hot_keys: float = HOT_KEYS


def is_queue_like(intervals: Sequence[Interval], balance: float | None = None) -> bool:
    """Whether there are deletes, and of keys that are not put again.

    `balance` is how many times what flushes kept fresh puts must have been; where that is far more, many vanished, and
    a few tombstones less say nothing against a queue.
    """
    puts = sum(one.puts for one in intervals)
    deletes = sum(one.deletes for one in intervals)
    kept = sum(one.kept_deletes for one in intervals)
    least = NEARLY_KEPT_DELETES if balance is not None and balance >= MANY_VANISHED else LEAST_KEPT_DELETES
    return deletes >= LEAST_DELETES * max(puts, 1) and kept >= least * deletes


def fresh_puts(intervals: Sequence[Interval], windows: Sequence[Window]) -> FreshPuts:
    """Fresh puts by balance of the live bottom; without one, only those that survived."""
    found = _fresh_puts(intervals, windows, HOT_KEYS)
    told = _hot_keys(intervals, windows, found)
    return found if told is None else _fresh_puts(intervals, windows, told)


def _hot_keys(intervals: Sequence[Interval], windows: Sequence[Window], balance: FreshPuts) -> float | None:
    """The hot keys by merges of a few flushes: each flush kept them all, and the merge once; None where none tells.

    First in, first out, no put of a merge is deleted in it if no more were deleted meanwhile than lived before it.
    """
    if balance.vanished.sum() > LEAST_VANISHED * balance.fresh.sum():
        return None
    deletes = np.array([one.deletes for one in intervals], np.float64)
    before = np.maximum(balance.live - (balance.fresh - deletes) / 2, 0.0)
    told, puts = [], []
    for one in windows:
        own = slice(one.first, one.last + 1)
        if one.kind != WindowKind.MERGE or len(one.layers) > 1 or one.length == 1:
            continue
        if deletes[own].sum() <= before[one.first]:
            repeated = (sum(each.kept_puts for each in intervals[own]) - one.kept_puts) / (one.length - 1)
            lost = sum(each.puts - each.kept_puts for each in intervals[own]) / one.length
            told.append(repeated)
            puts.append(repeated + lost)
    if not told or np.median(puts) < SATURATED * np.median(told):
        return None
    return max(1.0, float(np.median(told)))


def _fresh_puts(intervals: Sequence[Interval], windows: Sequence[Window], hot_keys: float) -> FreshPuts:
    puts = np.array([one.puts for one in intervals], np.float64)
    deletes = np.array([one.deletes for one in intervals], np.float64)
    kept = np.array([one.kept_puts for one in intervals], np.float64)
    fresh = np.clip(kept - np.minimum(hot_keys, puts - kept), 0, puts)
    vanished = np.zeros(len(intervals))
    done, settled = 0, 0.0
    live: list[tuple[int, float]] = []
    for window in (one for one in windows if one.kind == WindowKind.BOTTOM):
        mass = window.mass(len(intervals))
        last = int(np.flatnonzero(mass > 0.5 * mass.max())[-1]) + 1
        balance = window.kept_puts + float(mass @ deletes) - window.lost
        live.append((last, window.kept_puts + window.before))
        if last <= done:
            continue
        missing = balance - settled - float(fresh[done:last].sum())
        vanished[done:last] = _spread(max(0.0, missing), deletes[done:last], puts[done:last] - fresh[done:last])
        settled += float((fresh + vanished)[done:last].sum())
        done = last
    if 0 < done < len(intervals):
        rate = float(vanished[:done].sum()) / max(1.0, float((deletes[:done] ** 2).sum()))
        room = puts[done:] - fresh[done:]
        vanished[done:] = np.minimum.reduce([rate * deletes[done:] ** 2, deletes[done:], room])
    fresh += vanished
    # of hot keys no more are kept than were put
    vanished = np.maximum(fresh - kept + np.minimum(hot_keys, puts - fresh), 0.0)
    return FreshPuts(fresh, vanished, _live(fresh - deletes, live), hot_keys)


def queue_parts(intervals: Sequence[Interval], balance: FreshPuts, place: float = 0.5) -> list[Part]:
    """Hot keys, a short and a long queue; `place` is where in its range the short queue's length is taken."""
    puts = np.array([one.puts for one in intervals], np.int64)
    deletes = np.array([one.deletes for one in intervals], np.int64)
    fresh = np.minimum(np.rint(balance.fresh).astype(np.int64), puts)
    short, share = _short_queue(balance, deletes, place)
    from_short = _short_deletes(balance, deletes, short, share)
    to_short = np.zeros_like(fresh)
    length = 0
    for row, (room, gone) in enumerate(zip(fresh, from_short, strict=True)):
        to_short[row] = min(room, max(0, gone + short - length))
        length = max(0, length + int(to_short[row]) - int(gone))
    parts = [queued(fresh - to_short, deletes - from_short, np.zeros(len(fresh)))]
    if short:
        parts.append(queued(to_short, from_short, np.minimum(balance.vanished, to_short)))
    if (puts > fresh).any():
        parts.append(overwritten(balance.hot_keys, puts - fresh))
    return parts


def _live(gained: Floats, bottoms: Sequence[tuple[int, float]]) -> Floats:
    """Live records half way through each interval, by what intervals gain.

    `bottoms` are the records that lived after so many intervals; what they show beyond the gains was there before.
    """
    sums = np.cumsum(gained)
    before = [records - float(sums[last - 1]) for last, records in bottoms]
    return np.asarray(np.maximum(sums - gained / 2 + (float(np.median(before)) if before else 0.0), 0.0), np.float64)


def _short_queue(balance: FreshPuts, deletes: Counts, place: float) -> tuple[int, float]:
    """T, and the share s of the deletes that are the short queue's: s f - T vanish of f fresh puts.

    Windows of different length give both. Where all are alike T lies below the deletes that are left beside the
    vanished, and above the turnover of windows in which none vanished.
    """
    some = balance.vanished > LEAST_VANISHED * np.maximum(balance.fresh, 1.0)
    if not some.any():
        return 0, 0.0
    fresh, vanished, weights = balance.fresh[some], balance.vanished[some], balance.fresh[some]
    mean_fresh, mean_vanished = np.average(fresh, weights=weights), np.average(vanished, weights=weights)
    left = float(np.average(np.maximum(deletes[some] - vanished, 0.0), weights=weights))
    none = deletes[~some]
    least = min(left, float(np.quantile(none, 0.9))) if len(none) else 0.0
    spread = float(np.average((fresh - mean_fresh) ** 2, weights=weights))
    if spread > (VARIED * mean_fresh) ** 2:
        slope = float(np.average((fresh - mean_fresh) * (vanished - mean_vanished), weights=weights)) / spread
        at = min(max(slope * float(mean_fresh) - float(mean_vanished), least), left)
        place = 0.5 if left <= least else (at - least) / (left - least)
    short = max(0.0, least + place * (left - least))
    mean_deletes = float(np.average(deletes[some], weights=weights))
    return round(short), min(1.0, (float(mean_vanished) + short) / max(mean_deletes, 1.0))


def _short_deletes(balance: FreshPuts, deletes: Counts, short: int, share: float) -> Counts:
    """Deletes of the short queue: what vanished and its whole length before, or its share where none vanished."""
    if not short:
        return np.zeros_like(deletes)
    some = balance.vanished > LEAST_VANISHED * np.maximum(balance.fresh, 1.0)
    wanted = np.minimum(np.rint(balance.vanished).astype(np.int64) + short, deletes)
    return np.where(some, wanted, np.rint(share * deletes).astype(np.int64))


def _spread(amount: float, deletes: Floats, room: Floats) -> Floats:
    """So much among intervals, more to those with more deletes, none above its deletes or `room`."""
    most = np.minimum(deletes, room)
    found = np.zeros(len(deletes))
    for _ in range(8):
        weights = np.where(found < most, deletes**2, 0.0)
        left = amount - float(found.sum())
        if left < 1 or not weights.sum():
            break
        found = np.minimum(found + left * weights / weights.sum(), most)
    return found
