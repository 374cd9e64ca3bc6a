"""The operations of overwritten keys: a fixed population, put or merged over and over."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.workloads.chunk import WORKING_SET_BITS, Chunk, Tag, merged
from lsmlens.tuners.workloads.components import Merges, Overwrite, WorkingSet
from lsmlens.tuners.workloads.timetable import Timetable, moments
from lsmlens.tuners.workloads.zipf import Zipf
from numpy.typing import NDArray


def overwrite_chunks(
    component: Overwrite | Merges, table: Timetable, scale: float, rng: np.random.Generator
) -> Iterator[Chunk]:
    """The component's operations. A key is its rank in its working set: 0 is the most popular."""
    jitter = rng if component.spread == "random" else None
    tag = Tag.MERGE if isinstance(component, Merges) else Tag.PUT
    sets = [_Population.of(one, scale) for one in component.working_sets]
    for rows in table.chunks():
        bits = 0 if component.nested else WORKING_SET_BITS
        puts = _keys([one.put for one in sets], rows.working_set, rows.puts, bits, rng)
        deletes = _keys([one.sampler.ranks for one in sets], rows.working_set, rows.deletes, bits, rng)
        seconds = moments(rows.start, rows.end, rows.puts, jitter)
        when = moments(rows.start, rows.end, rows.deletes, jitter)
        yield merged(((tag, seconds, puts), (Tag.DELETE, when, deletes)))


def sampler(working_set: WorkingSet, scale: float) -> Zipf:
    """How keys of a working set are drawn at this scale."""
    return Zipf(max(1, round(working_set.keys / scale)), working_set.zipf)


@dataclass(slots=True)
class _Population:
    """A working set, and how many of its keys are still to be filled."""

    sampler: Zipf
    empty: int

    @classmethod
    def of(cls, working_set: WorkingSet, scale: float) -> "_Population":
        drawn = sampler(working_set, scale)
        return cls(drawn, drawn.keys if working_set.filled_first else 0)

    def put(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """The ranks of the next `count` puts."""
        if not self.empty:
            return self.sampler.ranks(count, rng)
        first = self.sampler.keys - self.empty
        filled = np.arange(first, first + min(count, self.empty))
        self.empty -= len(filled)
        return np.concatenate((filled, self.sampler.ranks(count - len(filled), rng)))


def _keys(
    draws: list[Callable[[int, np.random.Generator], NDArray[np.int64]]],
    working_set: NDArray[np.int64],
    counts: NDArray[np.int64],
    bits: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Keys of so many operations of each row: its working set, shifted by `bits`, and a rank in it."""
    if len(draws) == 1:
        return draws[0](int(counts.sum()), rng)
    sets = np.repeat(working_set, counts)
    keys = sets << bits if bits else np.zeros(len(sets), np.int64)
    for place in np.unique(working_set):
        chosen = np.flatnonzero(sets == place)
        keys[chosen] += draws[place](len(chosen), rng)
    return keys
