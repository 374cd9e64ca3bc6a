"""The writes of a RocksDB query trace as a stream."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.workloads.decoding import decode
from lsmlens.tuners.workloads.sampling import sampled
from lsmlens.tuners.workloads.stream import Batches
from lsmlens.tuners.workloads.trace_file import TraceIndex, index_trace


@dataclass(frozen=True)
class TraceStream:
    """The writes of a query trace, those of one write in one batch, at the times of the trace.

    At a scale, `seed` chooses the keys that are left: see `sampled`. `notes` say what the trace lacks.
    """

    index: TraceIndex
    families: tuple[str, ...]
    seconds: float
    notes: tuple[str, ...]

    def batches(self, seed: int, scale: float = 1.0) -> Iterator[Batches]:
        """The write batches, a few megabytes at a time."""
        return sampled(self.index.batches(), seed, scale)


def open_trace(path: Path, names: tuple[str, ...] = ("default",)) -> TraceStream:
    """The stream of a query trace; a file that goes through once.

    A trace holds ids of column families, no names: `names` gives those of ids 0, 1 and so on, others become "cf-ID".
    Raises InputError if the file is no trace, or holds no writes.
    """
    index = index_trace(path)
    families = len(names)
    damaged = marks = 0
    for batches in index.batches():
        decoded = decode(batches)
        families = max(families, int(decoded.records.family.max(initial=0)) + 1)
        damaged += len(decoded.damaged)
        marks += decoded.marks
    if not len(index.starts) or damaged == len(index.starts):
        raise InputError(str(path), "this trace holds no writes", "trace while something writes: reads change no table")
    notes = []
    if not index.is_complete:
        notes.append("the trace has no end: tracing was cut off, or still goes on")
    if damaged:
        notes.append(f"{damaged} of {len(index.starts)} batches are damaged and were left out")
    if marks:
        notes.append(f"{marks} records that write nothing, such as the begin of transactions, were left out")
    if index.reads:
        notes.append(f"{index.reads} gets and seeks were left out")
    named = tuple(names[number] if number < len(names) else f"cf-{number}" for number in range(families))
    return TraceStream(index, named, index.seconds, tuple(notes))
