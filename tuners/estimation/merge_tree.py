"""The merge tree of a log: which jobs made which tables of which, for other operations to go through.

A log says of every table which job wrote it, and of every compaction which tables it read. So what any stream of
operations would have left in each of the log's tables can be computed without a database: cut at the log's flushes,
keep the last operation on each key, merge exactly those tables that the log merged. Key ranges of the tables are not
the log's, but those of the stream: what a compaction reads of the level it writes to is completed by whatever overlaps.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from lsmlens.tuners.estimation.history import Compaction, FamilyHistory, Flush, Move
from lsmlens.tuners.estimation.intervals import Interval
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Records = NDArray[np.uint64]  # of a table: key << _PLACE_BITS | place counted from the stream's end, rising

_PLACE_BITS = np.uint64(26)
_PLACE = np.uint64((1 << 26) - 1)
MOST_OPERATIONS = 1 << 26
MOST_KEY = 1 << 38


@dataclass(frozen=True, slots=True)
class Kept:
    """Puts and tombstones that jobs wrote, and records that they read (all shapes: jobs,)."""

    puts: Counts
    tombstones: Counts
    read: Counts


@dataclass(frozen=True, slots=True)
class MergeTree:
    """One family's jobs in the log's order. `flushes` are the places of those intervals that a flush took in.

    `whole` says of each compaction whether the log shows all that it read, back to the flushes (shape: compactions,).
    """

    jobs: tuple[tuple[int, int] | Compaction | Move, ...]
    compactions: tuple[Compaction, ...]
    whole: NDArray[np.bool_]

    @classmethod
    def of(cls, family: FamilyHistory, intervals: Sequence[Interval]) -> "MergeTree":
        """The tree of a family."""
        places = {one.table.number: place for place, one in enumerate(intervals) if one.table is not None}
        jobs: list[tuple[int, int] | Compaction | Move] = [
            (place, one.table.number) for place, one in enumerate(intervals) if one.flush is None and one.table
        ]
        known = {one.table.number for one in intervals if one.flush is None and one.table}
        compactions, whole = [], []
        for job in family.jobs:
            if isinstance(job, Flush):
                if job.table is not None and job.table.number in places:
                    jobs.append((places[job.table.number], job.table.number))
                    known.add(job.table.number)
                continue
            jobs.append(job)
            if isinstance(job, Compaction):
                read = {number for numbers in job.inputs.values() for number in numbers}
                compactions.append(job)
                whole.append(bool(read) and read <= known)
                if whole[-1]:
                    known.update(table.number for table in job.outputs)
        return cls(tuple(jobs), tuple(compactions), np.array(whole, np.bool_))

    def merge(self, keys: Counts, is_put: NDArray[np.bool_], ends: Counts) -> tuple[Kept, Kept]:
        """What the flushes, one for each interval, and the compactions keep of a stream.

        `keys` sort as the database sorts them and lie in [0, MOST_KEY); `ends` (shape: intervals,) are the places in
        the stream where intervals end.
        """
        total = len(keys)
        if total > MOST_OPERATIONS:
            raise ValueError(f"{total} operations are too many for a merge tree")
        places = np.uint64(total - 1) - np.arange(total, dtype=np.uint64)
        stream = keys.astype(np.uint64) << _PLACE_BITS | places
        starts = np.concatenate(([0], ends[:-1]))
        tables = _Tables(is_put[::-1])
        flushed = np.zeros((len(ends), 3), np.int64)
        merged: list[tuple[int, int, int]] = []
        for job in self.jobs:
            if isinstance(job, Move):
                for number in job.tables:
                    if number in tables.levels:
                        tables.levels[number] = job.level
            elif isinstance(job, Compaction):
                merged.append(tables.compact(job))
            else:
                place, number = job
                records = _newest(np.sort(stream[starts[place] : ends[place]]))
                puts = int(tables.are_puts(records).sum())
                flushed[place] = puts, len(records) - puts, ends[place] - starts[place]
                tables.add(number, 0, records)
        return Kept(*flushed.T), Kept(*np.array(merged, np.int64).reshape(-1, 3).T)


@dataclass(slots=True)
class _Tables:
    """Live tables, their records and levels by number; `puts` says of each operation, from the last, if it is one."""

    puts: NDArray[np.bool_]
    records: dict[int, Records] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)

    def are_puts(self, records: Records) -> NDArray[np.bool_]:
        return self.puts[(records & _PLACE).astype(np.int64)]

    def add(self, number: int, level: int, records: Records) -> None:
        self.records[number], self.levels[number] = records, level

    def compact(self, job: Compaction) -> tuple[int, int, int]:
        """Puts and tombstones written, and records read, in a compaction."""
        numbers = [number for read in job.inputs.values() for number in read]
        read = [self.records.pop(number) for number in numbers if number in self.records]
        for number in numbers:
            self.levels.pop(number, None)
        read += self._overlapping(read, job.output_level)
        every = np.sort(np.concatenate(read)) if read else np.empty(0, np.uint64)
        kept = _newest(every)
        is_put = self.are_puts(kept)
        stays = is_put.copy()
        tombstones = np.flatnonzero(~is_put)
        stays[tombstones] = self._are_covered(kept[tombstones] >> _PLACE_BITS, job.output_level)
        kept = kept[stays]
        self._give(job, kept)
        puts = int(is_put[stays].sum())
        return puts, len(kept) - puts, len(every)

    def _overlapping(self, read: Sequence[Records], level: int) -> list[Records]:
        """What of the other tables of the level written to lies among what is read; taken out of them."""
        some = [one for one in read if len(one)]
        if not some:
            return []
        low = min(one[0] for one in some) & ~_PLACE
        high = max(one[-1] for one in some) | _PLACE
        found = []
        for number, own in self.levels.items():
            records = self.records[number]
            if own == level and len(records):
                first, last = np.searchsorted(records, low), np.searchsorted(records, high, "right")
                if last > first:
                    found.append(records[first:last])
                    self.records[number] = np.concatenate((records[:first], records[last:]))
        return found

    def _are_covered(self, keys: Records, level: int) -> NDArray[np.bool_]:
        """Whether a deeper table's range holds the key, so that its tombstone must stay; `keys` rise."""
        covered = np.zeros(len(keys), np.bool_)
        for number, own in self.levels.items():
            records = self.records[number]
            if own > level and len(records):
                first = np.searchsorted(keys, records[0] >> _PLACE_BITS)
                last = np.searchsorted(keys, records[-1] >> _PLACE_BITS, "right")
                covered[first:last] = True
        return covered

    def _give(self, job: Compaction, records: Records) -> None:
        """Divide what is written among the tables that the log shows, by their entries."""
        entries = np.cumsum([0.0, *(table.entries for table in job.outputs)])
        if entries[-1]:
            cuts = np.rint(entries / entries[-1] * len(records)).astype(np.int64)
            for table, first, last in zip(job.outputs, cuts[:-1], cuts[1:], strict=True):
                self.add(table.number, job.output_level, records[first:last])


def _newest(records: Records) -> Records:
    """Of sorted records the newest of each key."""
    if not len(records):
        return records
    keys = records >> _PLACE_BITS
    first = np.empty(len(records), np.bool_)
    first[0] = True
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return records[first]
