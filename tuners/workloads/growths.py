"""The operations of growing keys: fresh puts, and deletes of what lives."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from lsmlens.tuners.workloads.chunk import Chunk, Tag, merged
from lsmlens.tuners.workloads.components import Growth
from lsmlens.tuners.workloads.queues import schedule_chunks
from lsmlens.tuners.workloads.timetable import Timetable, moments
from numpy.typing import NDArray

REDRAWS = 8
# So many blocks of deletes for as many as live.
PARTS = 4


def growth_chunks(growth: Growth, table: Timetable, scale: float, rng: np.random.Generator) -> Iterator[Chunk]:
    """The component's operations."""
    preload = round(growth.preload / scale)
    jitter = rng if growth.spread == "random" else None
    if growth.repeated_deletes:
        again = np.diff(np.rint(np.cumsum(table.deletes) * growth.repeated_deletes).astype(np.int64), prepend=0)
        table = replace(table, deletes=table.deletes - again, extra=again)
        return _with_repeats(_deletes(growth, table, scale, jitter, rng), table, preload, jitter, rng)
    if table.extra.any():
        return _with_range_deletes(table, preload, range_width(growth, scale), jitter)
    return _deletes(growth, table, scale, jitter, rng)


def range_width(growth: Growth, scale: float) -> int:
    """Keys that a range delete takes at this scale."""
    return max(1, round(growth.range_width / scale))


def _deletes(
    growth: Growth, table: Timetable, scale: float, jitter: np.random.Generator | None, rng: np.random.Generator
) -> Iterator[Chunk]:
    """Puts, and deletes that each take a live key."""
    preload = round(growth.preload / scale)
    if growth.delete_order == "random":
        return _random_deletes(table, preload, jitter, rng)
    if growth.delete_order == "aged":
        return _aged_deletes(table, preload, growth.delete_age / scale, jitter, rng)
    return schedule_chunks(table, 1, preload, Tag.DELETE, jitter)


def _with_range_deletes(
    table: Timetable, preload: int, width: int, jitter: np.random.Generator | None
) -> Iterator[Chunk]:
    """Deletes and range deletes take the oldest, by turns; what finds too few live takes deleted ones again."""
    put, oldest = 0, -preload
    for rows in table.chunks():
        seconds = moments(rows.start, rows.end, rows.puts, jitter)
        deletes = moments(rows.start, rows.end, rows.deletes, jitter)
        ranges = moments(rows.start, rows.end, rows.extra, jitter)
        when = np.concatenate((deletes, ranges))
        order = np.argsort(when, kind="stable")
        takes = np.concatenate((np.ones(len(deletes), np.int64), np.full(len(ranges), width)))[order]
        live = put + np.searchsorted(seconds, when[order], side="right")
        # What is taken so far, but never past what is put by then.
        over = oldest + np.cumsum(takes) - live
        over = np.maximum(np.maximum.accumulate(over), 0) if len(over) else over
        first = np.empty(len(when), np.int64)
        first[order] = oldest + np.cumsum(takes) - takes - over
        keys = np.arange(put, put + len(seconds))
        cut = len(deletes)
        yield merged(
            ((Tag.PUT, seconds, keys), (Tag.DELETE, deletes, first[:cut]), (Tag.RANGE_DELETE, ranges, first[cut:]))
        )
        put += len(seconds)
        if len(over):
            oldest += int(takes.sum() - over[-1])


def _random_deletes(
    table: Timetable, preload: int, jitter: np.random.Generator | None, rng: np.random.Generator
) -> Iterator[Chunk]:
    live = _KeyList(preload)
    put, missing = 0, 0
    for rows in table.chunks():
        seconds = moments(rows.start, rows.end, rows.puts, jitter)
        when = moments(rows.start, rows.end, rows.deletes, jitter)
        fresh = np.arange(put, put + len(seconds))
        until = np.searchsorted(seconds, when, side="right")
        keys = np.empty(len(when), np.int64)
        added, done = 0, 0
        while done < len(when):
            # a few of the live keys at a time: of many at once the last would leave the first too few to choose from
            live.add(fresh[added : until[done]])
            before = int(until[done])
            block = slice(done, done + max(1, live.count // PARTS))
            added = int(until[block][-1])
            among = live.count + until[block] - before
            live.add(fresh[before:added])
            chosen = _distinct(among, rng)
            found = chosen >= 0
            own = np.empty(len(among), np.int64)
            own[found] = live.keys[chosen[found]]
            without = len(own) - int(found.sum())
            own[~found] = -preload - 1 - np.arange(missing, missing + without)
            live.remove(np.sort(chosen[found]))
            keys[block] = own
            missing += without
            done = block.stop
        live.add(fresh[added:])
        put += len(seconds)
        yield merged(((Tag.PUT, seconds, fresh), (Tag.DELETE, when, keys)))


def _aged_deletes(
    table: Timetable, preload: int, age: float, jitter: np.random.Generator | None, rng: np.random.Generator
) -> Iterator[Chunk]:
    """Deletes take marked keys as they come of age; where there are too few, the oldest of those that were to last."""
    mean_age = 1.5 * age
    of_age = max(1.0, int(table.puts.sum()) + min(preload, mean_age) - mean_age)
    chance = min(1.0, int(table.deletes.sum()) / of_age)
    marked, due, lasting = _marked(np.arange(-preload, 0), age, chance, rng)
    put = missing = 0
    for rows in table.chunks():
        seconds = moments(rows.start, rows.end, rows.puts, jitter)
        when = moments(rows.start, rows.end, rows.deletes, jitter)
        fresh = np.arange(put, put + len(seconds))
        more, more_due, others = _marked(fresh, age, chance, rng)
        marked, due = np.concatenate((marked, more)), np.concatenate((due, more_due))
        order = np.argsort(due, kind="stable")
        marked, due, lasting = marked[order], due[order], np.concatenate((lasting, others))
        old, kept = marked[: len(when)], lasting[: max(0, len(when) - len(marked))]
        without = len(when) - len(old) - len(kept)
        keys = np.concatenate((old, kept, -preload - 1 - np.arange(missing, missing + without)))
        # A delete that has to take one of the keys that are put meanwhile comes when it is put.
        own = np.flatnonzero(keys >= put)
        when[own] = np.maximum(when[own], seconds[keys[own] - put])
        when = np.maximum.accumulate(when)
        yield merged(((Tag.PUT, seconds, fresh), (Tag.DELETE, when, keys)))
        marked, due, lasting = marked[len(old) :], due[len(old) :], lasting[len(kept) :]
        put, missing = put + len(seconds), missing + without


def _marked(
    keys: NDArray[np.int64], age: float, chance: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """The keys that will be deleted, after how many puts they come of age, and the keys that will not.

    A key of before the first put that would have come of age by then lasts: it is still there.
    """
    due = keys + age * (1 + rng.random(len(keys)))
    goes = (rng.random(len(keys)) < chance) & (due > 0)
    return keys[goes], due[goes], keys[~goes]


def _with_repeats(
    chunks: Iterator[Chunk],
    table: Timetable,
    preload: int,
    jitter: np.random.Generator | None,
    rng: np.random.Generator,
) -> Iterator[Chunk]:
    """These operations, made from the same rows, and the deletes in `extra`, each of a key that was deleted before."""
    gone = _KeyList(0)
    for rows, chunk in zip(table.chunks(), chunks, strict=True):
        own = chunk.tag == Tag.DELETE
        before = gone.count
        gone.add(chunk.key[own])
        when = moments(rows.start, rows.end, rows.extra, jitter)
        until = before + np.searchsorted(chunk.seconds[own], when, side="right")
        keys = np.full(len(when), -preload - 1)
        some = until > 0
        keys[some] = gone.keys[(rng.random(int(some.sum())) * until[some]).astype(np.int64)]
        yield merged(
            (
                (Tag.PUT, chunk.seconds[~own], chunk.key[~own]),
                (Tag.DELETE, chunk.seconds[own], chunk.key[own]),
                (Tag.DELETE, when, keys),
            )
        )


class _KeyList:
    """Keys, such as those that live: the first `count` of `keys`, in any order."""

    def __init__(self, preload: int) -> None:
        self.keys: NDArray[np.int64] = np.arange(-preload, 0)
        self.count = preload

    def add(self, fresh: NDArray[np.int64]) -> None:
        if len(self.keys) < self.count + len(fresh):
            self.keys = np.concatenate((self.keys[: self.count], np.empty(self.count + 2 * len(fresh), np.int64)))
        self.keys[self.count : self.count + len(fresh)] = fresh
        self.count += len(fresh)

    def remove(self, places: NDArray[np.int64]) -> None:
        """Take those at sorted `places` out; the last ones fill the gaps."""
        kept = self.count - len(places)
        gaps = places[places < kept]
        stays = np.ones(len(places), np.bool_)
        stays[places[len(gaps) :] - kept] = False
        self.keys[gaps] = self.keys[kept : self.count][stays]
        self.count = kept


def _distinct(among: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """For each i a number below among[i] (never falling), all distinct, evenly drawn; -1 where there is none left."""
    chosen = np.full(len(among), -1, np.int64)
    for _ in range(REDRAWS):
        missing = np.flatnonzero((chosen < 0) & (among > 0))
        if not len(missing):
            return chosen
        chosen[missing] = (rng.random(len(missing)) * among[missing]).astype(np.int64)
        _, first = np.unique(chosen, return_index=True)
        again = np.ones(len(chosen), np.bool_)
        again[first] = False
        chosen[again] = -1
    missing = np.flatnonzero(chosen < 0)
    free = np.ones(int(among[-1]), np.bool_)
    free[chosen[chosen >= 0]] = False
    left = np.flatnonzero(free)[: len(missing)]
    missing = missing[len(missing) - len(left) :]
    chosen[missing] = np.where(left < among[missing], left, -1)
    return chosen
