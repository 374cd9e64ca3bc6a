"""Compactions that take their time by the workload's clock, as those of the log did by the log's.

A settled replay lets compactions end before it writes on. Where writers do not wait for them, tables gather in level 0
while one runs, and the next merges more of them at once and writes less. Here each compaction is held from its start,
when its inputs are chosen, for as long as so many bytes took in the log; RocksDB's own limits of threads hold as well.
"""

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import NamedTuple, Protocol

from lsmlens.analyzer.dumps.statistics_dumps import parse_dump
from lsmlens.tuners.engines.compaction_gate import CompactionGate, HeldCompaction
from lsmlens.tuners.workloads.stream import Batches

LEVELS = ("rocksdb.cfstats-no-file-histogram", "rocksdb.cfstats")


class SecondsPerByte(NamedTuple):
    """What each byte read takes a compaction, where level 0 is among what it reads, and where not.

    `flush` is what each byte written takes a flush, 0 where flushes end at once; `written` is how many bytes a
    compaction writes for each that it reads.
    """

    level0: float
    deeper: float
    flush: float = 0.0
    written: float = 1.0

    @classmethod
    def mean(cls, every: Iterable["SecondsPerByte"]) -> "SecondsPerByte":
        """What they are on average."""
        return cls(*(fmean(each) for each in zip(*every, strict=True)))

    def times(self, factor: float) -> "SecondsPerByte":
        """As many times slower."""
        return SecondsPerByte(self.level0 * factor, self.deeper * factor, self.flush * factor, self.written)


class Holdable(Protocol):
    """What is needed of a database; see `Database`."""

    def write(self, batches: Batches, first: int, last: int) -> None:
        """Write batches."""

    def settle(self) -> None:
        """Wait for flushes and compactions, but not for those that are held."""

    def text_property(self, name: str, family: str = "default") -> str | None:
        """A property as text."""


class BytesRead(NamedTuple):
    """Bytes that compactions read: from level 0, and in all."""

    level0: float
    bytes: float

    def without(self, other: "BytesRead") -> "BytesRead":
        """What is left of them."""
        return BytesRead(max(0.0, self.level0 - other.level0), max(0.0, self.bytes - other.bytes))


class TimedCompactions:
    """A database to be written to in the workload's time, with compactions that last.

    `seconds` are what a byte takes in each family, by the workload's clock; one that is not in it takes what they do on
    average.
    """

    def __init__(self, database: Holdable, gate: CompactionGate, seconds: Mapping[str, SecondsPerByte]) -> None:
        self._database = database
        self._gate = gate
        self._seconds = seconds
        self._other = SecondsPerByte.mean(seconds.values())
        self._moment = 0.0
        self._taken: dict[HeldCompaction, BytesRead] = {}
        gate.close()

    def write(self, batches: Batches, first: int, last: int) -> None:
        """Write batches, once what compactions end by the time of the first has ended."""
        self._reach(float(batches.seconds[first]))
        self._gate.writing(True)
        self._database.write(batches, first, last)
        self._gate.writing(False)

    def settle(self) -> None:
        """Wait for flushes, and for the compactions whose time has come."""
        self._database.settle()
        self._take_in()

    def finish(self) -> None:
        """Let all compactions end, one after the other."""
        self._reach(float("inf"))
        self._gate.open()
        self._database.settle()

    def _reach(self, moment: float) -> None:
        self.settle()
        while (first := min(self._gate.held(), key=lambda one: one.due, default=None)) and first.due <= moment:
            self._gate.release(first)
            self._moment = max(self._moment, first.due)
            self.settle()
        self._moment = max(self._moment, moment)

    def _take_in(self) -> None:
        """Say of each compaction that has begun when it is due."""
        held = self._gate.held()
        self._taken = {one: read for one, read in self._taken.items() if one in held}
        for one in held:
            if one in self._taken:
                continue
            read = being_compacted(self._database, one.family)
            for other, known in self._taken.items():
                if other.family == one.family:
                    read = read.without(known)
            self._taken[one] = read
            each = self._seconds.get(one.family, self._other)
            one.due = self._moment + read.bytes * (each.level0 if read.level0 else each.deeper)


def being_compacted(database: Holdable, family: str) -> BytesRead:
    """About how much a family's running compactions read."""
    texts = (database.text_property(name, family) for name in LEVELS)
    shown = parse_dump(next((text for text in texts if text), "")).families
    rows = [row for statistics in shown.values() for row in statistics.levels]  # of this family alone
    read = {row.level: (row.size_bytes or 0) * (row.files_being_compacted or 0) / (row.files or 1) for row in rows}
    return BytesRead(read.get(0, 0.0), sum(read.values()))
