"""The operations of queue keys: put once, deleted first in, first out."""

from collections.abc import Iterator

import numpy as np
from lsmlens.tuners.workloads.chunk import Chunk, Tag, merged
from lsmlens.tuners.workloads.components import Queue
from lsmlens.tuners.workloads.timetable import Timetable, moments
from numpy.typing import NDArray

Keys = NDArray[np.int64]


def queue_chunks(
    queue: Queue, table: Timetable, groups: int, scale: float, rng: np.random.Generator
) -> Iterator[Chunk]:
    """The queue's operations; `groups` is into how many its keys are divided, by turns."""
    jitter = rng if queue.spread == "random" else None
    trim = max(1, round(queue.trim / scale))
    preload = round(queue.preload / scale)
    tag = Tag.SINGLE_DELETE if queue.single_delete else Tag.DELETE
    if queue.schedule is None:
        lifetime = round((queue.lifetime_puts or 0) / scale)
        yield from _by_lifetime(table, lifetime, trim, groups, preload, tag, jitter)
    else:
        yield from schedule_chunks(table, trim, preload, tag, jitter)


def _by_lifetime(
    table: Timetable, lifetime: int, trim: int, groups: int, preload: int, tag: Tag, jitter: np.random.Generator | None
) -> Iterator[Chunk]:
    """Deletes come right after the put that makes `trim` keys more than the lifetime live, group by group."""
    length = round(lifetime / groups)
    put_before = 0  # preloaded keys count as put; whatever of them is due already goes with the first put
    key = preload
    for rows in table.chunks():
        seconds = moments(rows.start, rows.end, rows.puts, jitter)
        until = key + len(seconds)
        puts = np.arange(put_before, until)
        group, nth = puts % groups, puts // groups
        # Groups are out of step with each other, else all would trim at once.
        offset = group * trim // groups
        batch, rest = np.divmod(nth - length + offset + 1, trim)
        hit = np.flatnonzero((rest == 0) & (batch >= 1))
        first = (batch[hit] - 1) * trim - offset[hit]
        counts = trim + np.minimum(first, 0)
        oldest = np.repeat(np.maximum(first, 0), counts) + _within(counts)
        deleted = oldest * groups + np.repeat(group[hit], counts)
        due = np.repeat(np.maximum(puts[hit] - key, 0), counts)
        yield merged(((Tag.PUT, seconds, np.arange(key, until) - preload), (tag, seconds[due], deleted - preload)))
        put_before = key = until


def schedule_chunks(
    table: Timetable, trim: int, preload: int, tag: Tag, jitter: np.random.Generator | None
) -> Iterator[Chunk]:
    """Rows say how many are deleted: the oldest that are live, and where there are none, keys of before the start."""
    put = deleted = missing = 0
    for rows in table.chunks():
        seconds = moments(rows.start, rows.end, rows.puts, jitter)
        gone = deletes_without_key(put + preload, deleted, missing, rows.puts, rows.deletes)
        counts = rows.deletes - np.diff(gone, prepend=missing)
        # A batch of deletes comes when its middle one would, but never before the keys it deletes.
        place = _within(rows.deletes) // trim * trim + trim / 2
        wide = np.repeat(np.maximum(rows.deletes, 1), rows.deletes)
        when = np.repeat(rows.start, rows.deletes) + np.repeat(rows.end - rows.start, rows.deletes) * np.minimum(
            place / wide, 1
        )
        live = _within(rows.deletes) < np.repeat(counts, rows.deletes)
        keys = np.empty(len(when), np.int64)
        head = deleted - missing - preload
        keys[live] = np.arange(head, head + int(live.sum()))
        keys[~live] = -preload - 1 - np.arange(missing, missing + int((~live).sum()))
        own = np.flatnonzero(live & (keys >= put))
        when[own] = np.maximum(when[own], seconds[keys[own] - put])
        when = np.maximum.accumulate(when)
        yield merged(((Tag.PUT, seconds, np.arange(put, put + len(seconds))), (tag, when, keys)))
        put, deleted, missing = put + len(seconds), deleted + len(when), int(gone[-1])


def deletes_without_key(
    put: int, deleted: int, missing: int, puts: NDArray[np.int64], deletes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many deletes up to the end of each row found no live key, first in, first out; shape: rows.

    `put`, `deleted` and `missing` are the sums of puts, deletes and deletes without a key before the first row.
    """
    over = (deleted + np.cumsum(deletes)) - (put + np.cumsum(puts))
    return np.maximum(np.maximum.accumulate(over), missing)


def _within(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, … for each of `counts`, one after the other."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
