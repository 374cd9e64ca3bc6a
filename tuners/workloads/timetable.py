"""When a component writes how much: rows of time with counts, from a rate or a schedule, divided by the scale."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.workloads.components import Clustered, Component, Growth, GrowthRow, OverwriteRow, Queue, RateStep
from numpy.typing import NDArray

CHUNK_OPERATIONS = 1 << 16


@dataclass(frozen=True, slots=True)
class Timetable:
    """Rows in order of time (all shapes: rows,): so many puts and deletes between `start` and `end`.

    `extra` counts the range deletes of growth, or the clears of clustered keys at a rate; `working_set` is the place of
    the one that an overwrite's row names.
    """

    start: NDArray[np.float64]
    end: NDArray[np.float64]
    puts: NDArray[np.int64]
    deletes: NDArray[np.int64]
    extra: NDArray[np.int64]
    working_set: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, rows: "slice | NDArray[np.bool_]") -> "Timetable":
        return Timetable(*(getattr(self, column)[rows] for column in self.__slots__))

    @property
    def operations(self) -> NDArray[np.int64]:
        """Puts and deletes of each row."""
        return self.puts + self.deletes

    def chunks(self) -> Iterator["Timetable"]:
        """Successive rows with at most CHUNK_OPERATIONS puts and deletes together; rows with none are left out."""
        some = self[self.operations + self.extra > 0]
        ends = np.cumsum(some.operations)
        first = 0
        while first < len(some):
            before = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + CHUNK_OPERATIONS, side="right")))
            yield some[first:last]
            first = last


def timetable(component: Component, seconds: float, scale: float) -> Timetable:
    """The rows of a component in a workload `seconds` long, its counts divided by `scale`.

    Fractions are carried from row to row, so sums stay within one of the exact. Rows of more than CHUNK_OPERATIONS are
    split into equal parts.
    """
    table = _of_schedule(component, scale) if component.schedule is not None else _of_rate(component, seconds, scale)
    return _split(table)


def moments(
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    counts: NDArray[np.int64],
    rng: np.random.Generator | None = None,
) -> NDArray[np.float64]:
    """The seconds of `counts[i]` operations in each row i, never falling; shape: sum of `counts`.

    Each has an equal share of its row, and lies in its middle, or anywhere in it if there is an `rng`.
    """
    total = int(counts.sum())
    share = (end - start) / np.maximum(counts, 1)
    place = np.arange(total, dtype=np.float64)
    place += 0.5 if rng is None else rng.random(total)
    if len(counts) > 1:
        place -= np.repeat(np.cumsum(counts) - counts, counts)
        place *= np.repeat(share, counts)
        place += np.repeat(start, counts)
    elif len(counts):
        place *= share[0]
        place += start[0]
    return place


def spreads_clears(clustered: Clustered) -> bool:
    """Whether the schedule says how clears at a rate are spread over time, so that they do not come by chance."""
    return bool(clustered.clears_per_put) and any(row.deletes for row in clustered.schedule or ())


def _of_schedule(component: Component, scale: float) -> Timetable:
    rows = component.schedule or ()
    puts = np.array([row.puts for row in rows], np.float64)
    deletes = _divided([row.deletes for row in rows], scale)
    extra = _divided([row.range_deletes if isinstance(row, GrowthRow) else 0 for row in rows], scale)
    if isinstance(component, Clustered) and component.clears_per_put:
        shares = np.array([row.deletes for row in rows], np.float64) if spreads_clears(component) else puts
        clears = shares * (component.clears_per_put * puts.sum() / max(1.0, shares.sum()))
        deletes = _divided(puts * component.removals_per_put, scale)
        extra = _divided(clears, _clears_scale(component, scale))
    return Timetable(
        np.array([row.start for row in rows], np.float64),
        np.array([row.end for row in rows], np.float64),
        _divided(puts, scale),
        deletes,
        extra,
        np.array([row.working_set if isinstance(row, OverwriteRow) else 0 for row in rows], np.int64),
    )


def _of_rate(component: Component, seconds: float, scale: float) -> Timetable:
    rate = component.rate
    steps = rate if isinstance(rate, tuple) else (RateStep(0.0, rate or 0.0),)
    steps = tuple(step for step in steps if step.start < seconds)
    start = np.array([step.start for step in steps], np.float64)
    end = np.array([*start[1:], seconds], np.float64)
    puts = np.array([step.puts_per_second for step in steps]) * (end - start)
    deletes = 0.0
    extra = 0.0
    if isinstance(component, Clustered):
        deletes, extra = component.removals_per_put, component.clears_per_put
    elif isinstance(component, Growth):
        deletes, extra = component.deletes_per_put, component.range_deletes_per_put
    elif not isinstance(component, Queue):
        deletes = component.deletes_per_put
    return Timetable(
        start,
        end,
        _divided(puts, scale),
        _divided(puts * deletes, scale),
        _divided(puts * extra, _clears_scale(component, scale) if isinstance(component, Clustered) else scale),
        np.zeros(len(start), np.int64),
    )


def _clears_scale(clustered: Clustered, scale: float) -> float:
    """At a scale objects have fewer keys and are cleared as often, until they have but one each."""
    return max(1.0, scale / clustered.keys_per_object)


def _divided(counts: "NDArray[np.float64] | list[int]", scale: float) -> NDArray[np.int64]:
    sums = np.rint(np.cumsum(np.asarray(counts, np.float64)) / scale).astype(np.int64)
    return np.diff(sums, prepend=0)


def _split(table: Timetable) -> Timetable:
    parts = np.maximum(1, -(-table.operations // CHUNK_OPERATIONS))
    if not len(table) or parts.max() == 1:
        return table
    row = np.repeat(np.arange(len(table)), parts)
    number = np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts)
    low, high = number / parts[row], (number + 1) / parts[row]
    length = (table.end - table.start)[row]

    def share(counts: NDArray[np.int64]) -> NDArray[np.int64]:
        part: NDArray[np.int64] = (np.rint(counts[row] * high) - np.rint(counts[row] * low)).astype(np.int64)
        return part

    start, end = table.start[row] + length * low, table.start[row] + length * high
    return Timetable(start, end, share(table.puts), share(table.deletes), share(table.extra), table.working_set[row])
