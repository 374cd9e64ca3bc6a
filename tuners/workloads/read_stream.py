"""The reads of a declared workload, beside its writes: which keys they ask for, and when.

Reads follow writes: a reader keeps the keys of its family that are live, in the order of their latest puts.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.component_streams import ComponentStream
from lsmlens.tuners.workloads.document import ColumnFamily
from lsmlens.tuners.workloads.operations import Operations
from lsmlens.tuners.workloads.reads import GET, FamilyReads, Gets, Iterators, Reads, ReadStep
from lsmlens.tuners.workloads.stream import Batches
from lsmlens.tuners.workloads.timetable import timetable
from lsmlens.tuners.workloads.wire import Lane, key_rows
from numpy.typing import NDArray

# Operations are gone through so many at a time: nothing is read that was deleted in those, even where that comes later.
STRIDE = 1 << 14
LEAST_PENDING = 1 << 14
DRAWS = 3

Int = NDArray[np.int64]
Floats = NDArray[np.float64]


class ReadStream:
    """The reads of a run, or a `share` of them, asked for along with its operations; with random numbers of its own."""

    def __init__(
        self,
        families: Sequence[ColumnFamily],
        components: Sequence[ComponentStream],
        lanes: Sequence[Lane],
        seed: int,
        scale: float,
        share: float = 1.0,
    ) -> None:
        self._lanes = lanes
        self._readers: list[_Reader] = []
        for one in families:
            if one.reads is None:
                continue
            own = [
                lane
                for each in components
                if each.family == one.name
                for lane in range(each.first_lane, each.first_lane + len(each.route.families))
            ]
            rng = np.random.default_rng([seed, zlib.crc32(one.name.encode()), 3])
            self._readers.append(_Reader(one.reads, np.array(own, np.int64), rng, scale, share))

    def take_in(self, operations: Operations) -> None:
        """Operations of before the start, which nothing is read between."""
        for reader in self._readers:
            reader.take_in(operations)

    def beside(self, operations: Operations) -> Reads:
        """The reads that are due from the last operations before until the last of these, in order of time."""
        parts = [
            part
            for reader in self._readers
            for first in range(0, len(operations), STRIDE)
            for part in reader.beside(operations[first : first + STRIDE])
        ]
        seconds, lane, key, nexts, absent = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(seconds, kind="stable")
        return self._reads(seconds[order], lane[order], key[order], nexts[order], absent[order])

    def _reads(self, seconds: Floats, lane: Int, key: Int, nexts: Int, absent: NDArray[np.bool_]) -> Reads:
        """The same with their keys as bytes."""
        lengths = np.zeros(len(lane), np.int64)
        every = np.unique(lane).tolist()
        for number in every:
            own = lane == number
            lengths[own] = self._lanes[number].form.lengths(key[own])
        offsets = np.concatenate(([0], np.cumsum(lengths + absent)))
        # a key that is absent is one that is there and a zero byte: it sorts right after, among the others
        buffer = np.zeros(int(offsets[-1]), np.uint8)
        for number in every:
            for length in np.unique(lengths[lane == number]).tolist():
                alike = np.flatnonzero((lane == number) & (lengths == length))
                rows = key_rows(self._lanes[number].form, length, key[alike])
                buffer[offsets[alike][:, None] + np.arange(length)] = rows
        families = np.array([one.family for one in self._lanes], np.uint16)
        return Reads(seconds, families[lane], nexts.astype(np.int32), buffer, offsets)


class _Reader:
    """One family's reads, and the keys there are to read."""

    def __init__(self, reads: FamilyReads, lanes: Int, rng: np.random.Generator, scale: float, share: float) -> None:
        self._kinds: list[Gets | Iterators] = [one for one in (reads.gets, reads.iterators) if one is not None]
        self._lanes, self._rng = lanes, rng
        self._of_rate, self._of_puts = share / scale, share
        self._keys, self._of_lane = np.empty(0, np.int64), np.empty(0, np.int64)
        self._deleted = np.empty(0, np.int64)
        self._settled = 0
        self._second = 0.0
        self._owed = [0.0 for _ in self._kinds]

    def take_in(self, operations: Operations) -> Floats:
        """Let the keys be those that are live after these operations; the seconds of their puts, in order."""
        if len(self._keys) + len(self._deleted) > 2 * self._settled + LEAST_PENDING:
            self._settle()
        own = np.isin(operations.lane, self._lanes)
        tag, key = operations.tag[own], operations.key[own]
        is_put = (tag == Tag.PUT) | (tag == Tag.MERGE)
        # one that is put again is no longer deleted
        self._deleted = np.setdiff1d(self._deleted, key[is_put])
        last = len(key) - 1 - np.unique(key[::-1], return_index=True)[1]
        self._deleted = np.union1d(self._deleted, key[last[~is_put[last]]])
        self._keys = np.concatenate((self._keys, key[is_put]))
        self._of_lane = np.concatenate((self._of_lane, operations.lane[own][is_put].astype(np.int64)))
        seconds: Floats = operations.seconds[own][is_put]
        return seconds

    def _settle(self) -> None:
        """Keep each live key once, at the place of its latest put."""
        latest = np.sort(len(self._keys) - 1 - np.unique(self._keys[::-1], return_index=True)[1])
        latest = latest[~np.isin(self._keys[latest], self._deleted)]
        self._keys, self._of_lane = self._keys[latest], self._of_lane[latest]
        self._deleted = np.empty(0, np.int64)
        self._settled = len(self._keys)

    def beside(self, operations: Operations) -> "list[tuple[Floats, Int, Int, Int, NDArray[np.bool_]]]":
        """Seconds, lanes, keys, nexts and absence of the reads up to the last operation, by kind."""
        puts = self.take_in(operations)
        before = len(self._keys) - len(puts)
        start, self._second = self._second, float(operations.seconds[-1])
        found = []
        for place, kind in enumerate(self._kinds):
            clock, due = self._due(kind, start, puts)
            owed = self._owed[place] + due[-1]
            self._owed[place] = owed - int(owed)
            seconds = np.interp(np.arange(1, int(owed) + 1) - (owed - due[-1]), due, clock)
            populations = before + np.searchsorted(puts, seconds, side="right")
            seconds, populations = seconds[populations > 0], populations[populations > 0]
            chosen = self._chosen(populations, kind.recency)
            is_absent = np.zeros(len(chosen), np.bool_)
            nexts = GET if isinstance(kind, Gets) else kind.nexts
            if isinstance(kind, Gets) and kind.absent:
                is_absent = self._rng.random(len(chosen)) < kind.absent
            found.append(
                (seconds, self._of_lane[chosen], self._keys[chosen], np.full(len(chosen), nexts, np.int64), is_absent)
            )
        return found

    def _due(self, kind: Gets | Iterators, start: float, puts: Floats) -> tuple[Floats, Floats]:
        """How many reads come due from `start` until each of some seconds, the last of which is the present one."""
        if kind.per_put is not None:
            clock = np.array([start, *puts, self._second])
            return clock, self._of_puts * kind.per_put * np.minimum(np.arange(len(clock)), len(puts))
        steps = _steps(kind)
        clock = np.array([start, *(begin for begin, _, _ in steps if start < begin < self._second), self._second])
        due = np.zeros(len(clock))
        for begin, end, each in steps:
            due += each * self._of_rate * (np.clip(clock, begin, end) - np.clip(start, begin, end))
        return clock, due

    def _chosen(self, populations: Int, recency: float) -> Int:
        """Places of keys that are live, each among so many of the first."""
        places = self._drawn(populations, recency)
        for _ in range(DRAWS):
            gone = np.flatnonzero(np.isin(self._keys[places], self._deleted))
            if not len(gone):
                break
            places[gone] = self._drawn(populations[gone], recency)
        return places

    def _drawn(self, populations: Int, recency: float) -> Int:
        """Places by the ranks of a power law, of which the chances between whole numbers are integrals."""
        drawn = self._rng.random(len(populations))
        if abs(1 - recency) < 1e-9:
            ranks = (populations + 1.0) ** drawn
        else:
            power = 1 - recency
            ranks = (drawn * ((populations + 1.0) ** power - 1) + 1) ** (1 / power)
        return populations - np.clip(ranks.astype(np.int64), 1, populations)


def expected_reads(
    families: Sequence[ColumnFamily], components: Sequence[ComponentStream], seconds: float, scale: float
) -> float:
    """About how many reads a run has."""
    found = 0.0
    for family in families:
        if family.reads is None:
            continue
        own = [one.component for one in components if one.family == family.name]
        puts = sum(float(timetable(one, seconds, scale).puts.sum()) for one in own)
        for kind in (family.reads.gets, family.reads.iterators):
            if kind is not None and kind.per_put is not None:
                found += kind.per_put * puts
            elif kind is not None:
                found += sum(each * max(0.0, min(end, seconds) - start) for start, end, each in _steps(kind)) / scale
    return found


def _steps(kind: Gets | Iterators) -> list[tuple[float, float, float]]:
    """Start, end and reads per second of each of its rates."""
    steps = kind.rate if isinstance(kind.rate, tuple) else (ReadStep(0.0, kind.rate or 0.0),)
    ends = [*(step.start for step in steps[1:]), float("inf")]
    return [(step.start, end, step.per_second) for step, end in zip(steps, ends, strict=True)]


def has_reads(families: Sequence[ColumnFamily]) -> bool:
    """Whether anything is read."""
    return any(one.reads is not None for one in families)


def with_reads(written: Iterator[Batches], reads: Reads) -> Iterator[Batches]:
    """The batches, each lot with the reads until its end; the last with all that are left."""
    first, held = 0, next(written, None)
    while held is not None:
        after = next(written, None)
        last = len(reads) if after is None else int(np.searchsorted(reads.seconds, held.seconds[-1], side="right"))
        yield replace(held, reads=reads.between(first, last))
        first, held = last, after
