"""Clears of whole objects: when they come, and which keys they delete."""

from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.workloads.timetable import Timetable
from lsmlens.tuners.workloads.zipf import Zipf
from numpy.typing import NDArray

# Empty objects met until the one is taken that is put to next; and once that has happened, until it does again.
EMPTY_OBJECTS_IN_A_ROW = 64
FEW_EMPTY_OBJECTS = 4


@dataclass(frozen=True, slots=True)
class ObjectBatches:
    """Batches of puts or removals in order of time (shapes: batches,); batch i has the next sizes[i] of `keys`."""

    seconds: NDArray[np.float64]
    object: NDArray[np.int64]
    is_put: NDArray[np.bool_]
    sizes: NDArray[np.int64]
    keys: NDArray[np.int64]


class Clears:
    """The clears of one component, rows after rows.

    `live` says of every key if it lives (shape: objects, keys of each) before the rows that come next; who writes the
    rows' operations keeps it so.
    """

    def __init__(
        self, live: NDArray[np.bool_], objects: Zipf, rng: np.random.Generator, is_by_chance: bool = True
    ) -> None:
        self._live = live
        self._is_by_chance = is_by_chance
        self._objects = objects
        self._rng = rng
        self._credit = 0.0  # deletes left over from the rows before
        self._next: int | None = None

    def of(
        self, rows: Timetable, excess: NDArray[np.int64], batches: ObjectBatches
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Seconds and keys of the deletes of these rows' clears, in order of time.

        `excess` (shape: rows,) counts the deletes that clears are to use up; where there are none, there are as many
        clears as `rows.extra` says, or lets expect if they come by chance.
        """
        if not excess.any():
            return self._at_random(rows, batches)
        found = self._on_credit(rows, excess, _ObjectsNow(self._live, batches))
        if not found:
            return np.empty(0), np.empty(0, np.int64)
        seconds = np.repeat([when for when, _ in found], [len(keys) for _, keys in found])
        return seconds, np.concatenate([keys for _, keys in found])

    def _at_random(self, rows: Timetable, batches: ObjectBatches) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        row = np.repeat(np.arange(len(rows)), self._rng.poisson(rows.extra) if self._is_by_chance else rows.extra)
        moments = np.sort(rows.start[row] + (rows.end - rows.start)[row] * self._rng.random(len(row)))
        count, width = len(row), self._live.shape[1]
        if not count:
            return np.empty(0), np.empty(0, np.int64)
        # clears in order of objects, then of time; an operation is undone by its object's next clear
        clears = np.sort(self._objects.ranks(count, self._rng) * count + np.arange(count))
        objects, when = clears // count, moments[clears % count]
        own = batches.object * count + np.searchsorted(moments, batches.seconds)
        next_clear = np.searchsorted(clears, own)
        undone = objects[np.minimum(next_clear, count - 1)] == batches.object
        undone &= next_clear < count
        of = np.repeat(np.where(undone, next_clear, -1), batches.sizes)
        places, is_put = batches.keys % width, np.repeat(batches.is_put, batches.sizes)
        # what lived before, in objects that are cleared
        cleared, first = np.unique(objects, return_index=True)
        which, before = np.nonzero(self._live[cleared])
        own_key = np.concatenate((first[which] * width + before, (of * width + places)[of >= 0]))
        puts = np.concatenate((np.ones(len(before), np.bool_), is_put[of >= 0]))
        order = np.argsort(own_key, kind="stable")
        own_key, puts = own_key[order], puts[order]
        is_last = np.append(own_key[1:] != own_key[:-1], True) if len(own_key) else np.empty(0, np.bool_)
        nth, place = np.divmod(own_key[is_last & puts], width)
        in_time = np.argsort(when[nth], kind="stable")
        nth, place = nth[in_time], place[in_time]
        return when[nth], objects[nth] * width + place

    def _on_credit(
        self, rows: Timetable, excess: NDArray[np.int64], objects: "_ObjectsNow"
    ) -> list[tuple[float, NDArray[np.int64]]]:
        """The next object is chosen, and cleared once as many deletes have come up as it has keys.

        Where objects are empty, it is the one that is put to next.
        """
        found = []
        sums = np.cumsum(excess)
        now = float(rows.start[0])
        empty, most_empty = 0, EMPTY_OBJECTS_IN_A_ROW
        while True:
            if empty == most_empty:
                filled = objects.next_put(now)
                if filled is None:
                    break
                now, self._next = filled
                empty, most_empty = 0, FEW_EMPTY_OBJECTS
            elif self._next is None:
                self._next = int(self._objects.ranks(1, self._rng)[0])
            size = objects.size(self._next, now)
            if not size:
                self._next, empty = None, empty + 1
                continue
            due = max(0.0, size - self._credit)  # of the sum of these rows' excess
            if due > sums[-1]:
                break
            row = int(np.searchsorted(sums, due))
            share = max(0.0, due - (sums[row] - excess[row])) / max(1, excess[row])
            now = max(now, float(rows.start[row] + (rows.end[row] - rows.start[row]) * share))
            keys = objects.clear(self._next, now)
            found.append((now, keys))
            self._credit -= len(keys)
            self._next, empty = None, 0
        self._credit += float(sums[-1])
        return found


class _ObjectsNow:
    """The objects' live keys at moments among some batches; asked in order of time."""

    def __init__(self, live: NDArray[np.bool_], batches: ObjectBatches) -> None:
        self._live = live
        self._batches = batches
        self._ends = np.cumsum(batches.sizes)
        self._order = np.argsort(batches.object, kind="stable")
        self._sorted = batches.object[self._order]
        self._put_seconds = batches.seconds[batches.is_put]
        self._put_objects = batches.object[batches.is_put]
        self._applied: dict[int, int] = {}

    def size(self, wanted: int, when: float) -> int:
        """How many keys of the object live at `when`."""
        return int(np.count_nonzero(self._now(wanted, when)))

    def next_put(self, when: float) -> tuple[float, int] | None:
        """When, after `when`, an object is put to, and which; None where none is any more."""
        place = int(np.searchsorted(self._put_seconds, when, side="right"))
        if place == len(self._put_seconds):
            return None
        return float(self._put_seconds[place]), int(self._put_objects[place])

    def clear(self, wanted: int, when: float) -> NDArray[np.int64]:
        """The keys of the object that live at `when`, rising; none of them does afterwards."""
        keys = self._now(wanted, when)
        places = np.flatnonzero(keys)
        keys[:] = False
        cleared: NDArray[np.int64] = wanted * self._live.shape[1] + places
        return cleared

    def _now(self, wanted: int, when: float) -> NDArray[np.bool_]:
        batches = self._batches
        first, last = np.searchsorted(self._sorted, (wanted, wanted + 1))
        mine = self._order[first:last]
        done = self._applied.get(wanted, 0)
        due = max(done, int(np.searchsorted(batches.seconds[mine], when, side="right")))
        flat = self._live.reshape(-1)
        for batch in mine[done:due]:
            end = self._ends[batch]
            flat[batches.keys[end - batches.sizes[batch] : end]] = batches.is_put[batch]
        self._applied[wanted] = due
        keys: NDArray[np.bool_] = self._live[wanted]
        return keys
