"""Writing a workload's batches to a database, settled or paced."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from queue import Queue
from typing import Protocol, TypeAlias

import numpy as np
from hdrh.histogram import HdrHistogram
from lsmlens.tuners.engines.read_counts import ReadCounts
from lsmlens.tuners.replays.measurement import PERCENTILES, Latencies
from lsmlens.tuners.workloads.reads import Reads
from lsmlens.tuners.workloads.stream import Batches
from numpy.typing import NDArray

CHUNKS_AHEAD = 32
LATE_SECONDS = 0.001
LOWEST, HIGHEST = 1, 3_600_000_000  # microseconds, up to an hour
DIGITS = 3


class LatencyRecorder:
    """Takes in the latencies of writes, chunk by chunk."""

    def __init__(self) -> None:
        self._response = HdrHistogram(LOWEST, HIGHEST, DIGITS)
        self._service = HdrHistogram(LOWEST, HIGHEST, DIGITS)

    def add(self, response_seconds: NDArray[np.float64], service_seconds: NDArray[np.float64]) -> None:
        """Take in writes: seconds from when each was due, and seconds from when it was begun (shape: writes,)."""
        _record(self._response, response_seconds)
        _record(self._service, service_seconds)

    def latencies(self) -> Latencies | None:
        """The percentiles so far; None where nothing was written."""
        count = self._response.get_total_count()
        if not count:
            return None
        return Latencies(
            writes=count,
            response_micros=_percentiles(self._response),
            service_micros=_percentiles(self._service),
            mean_response_micros=float(self._response.get_mean_value()),
        )


def _record(histogram: HdrHistogram, seconds: NDArray[np.float64]) -> None:
    micros = np.clip(np.rint(seconds * 1e6), LOWEST, HIGHEST).astype(np.int64)
    values, counts = np.unique(micros, return_counts=True)
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        histogram.record_value(value, count)


def _percentiles(histogram: HdrHistogram) -> dict[float, float]:
    return {percentile: float(histogram.get_value_at_percentile(percentile)) for percentile in PERCENTILES}


class Writable(Protocol):
    """What writing needs of a database; see `Database`."""

    def write(self, batches: Batches, first: int, last: int) -> None:
        """Write batches."""

    def settle(self) -> None:
        """Wait for flushes and compactions."""


Read: TypeAlias = Callable[[Reads, int, int], ReadCounts]


@dataclass(slots=True)
class WrittenBatches:
    """What was written so far, and what it took besides RocksDB."""

    records: int = 0
    user_bytes: int = 0
    settle_seconds: float = 0.0
    generation_seconds: float = 0.0
    generation_cpu_seconds: float = 0.0
    chunks_late: int = 0
    reads: ReadCounts = field(default_factory=ReadCounts)

    def add(self, batches: Batches) -> None:
        """Count a chunk of batches."""
        self.records += batches.records
        self.user_bytes += int(batches.offsets[-1] - batches.offsets[0])


def write_settled(
    database: Writable,
    chunks: Iterator[Batches],
    step_bytes: int,
    show_time: Callable[[float], None],
    tell: Callable[[float], None],
    read: Read | None = None,
) -> WrittenBatches:
    """Write all batches, and let the database settle whenever `step_bytes` of them were written, and in the end.

    `show_time` gets the workload's time before each step, `tell` now and then. What is read beside a step is read after
    it.
    """
    written = WrittenBatches()
    pending = 0
    for batches in _generated(chunks, written):
        offsets, count = batches.offsets, len(batches.offsets) - 1
        first = done = 0
        while first < count:
            full = np.searchsorted(offsets, offsets[first] + step_bytes - pending)
            last = min(max(int(full), first + 1), count)
            show_time(float(batches.seconds[first]))
            database.write(batches, first, last)
            pending += int(offsets[last] - offsets[first])
            if pending >= step_bytes:
                written.settle_seconds += _settle(database)
                pending = 0
            tell(float(batches.seconds[last - 1]))
            if read is not None and batches.reads is not None:
                until = batches.seconds[last - 1] if last < count else None
                done = _make_reads(read, batches.reads, done, until, written)
            first = last
    written.settle_seconds += _settle(database)
    return written


def write_paced(
    database: Writable,
    chunks: Iterator[Batches],
    pace: float,
    recorder: LatencyRecorder,
    tell: Callable[[float], None],
    read: Read | None = None,
) -> WrittenBatches:
    """Write each batch at its own time, `pace` times as fast as the workload's clock, and let the database settle then.

    Some chunks are taken ahead by a thread. A batch whose time has passed is written at once, and its latency counts
    from its time. Reads that are due are made before the next batch, by the thread that writes.
    """
    written = WrittenBatches()
    ahead = _Ahead(chunks, written)
    batches = ahead.first()
    start = time.perf_counter()
    while batches is not None:
        due = start + batches.seconds / pace
        done = 0
        intended, began, ended = due.tolist(), np.empty(len(due)), np.empty(len(due))
        for index, moment in enumerate(intended):
            wait = moment - time.perf_counter()
            if wait > 0:
                tell(float(batches.seconds[index]))
                time.sleep(wait)
            began[index] = time.perf_counter()
            database.write(batches, index, index + 1)
            ended[index] = time.perf_counter()
            if read is not None and batches.reads is not None:
                until = batches.seconds[index] if index + 1 < len(due) else None
                done = _make_reads(read, batches.reads, done, until, written)
        recorder.add(ended - due, ended - began)
        written.add(batches)
        batches = ahead.next()
    written.settle_seconds += _settle(database)
    return written


def _make_reads(read: Read, reads: Reads, first: int, until: float | None, written: WrittenBatches) -> int:
    """Make those from the first on that are due until a second, or all; where the others begin."""
    last = len(reads) if until is None else int(np.searchsorted(reads.seconds, until, side="right"))
    if last > first:
        written.reads += read(reads, first, last)
    return max(first, last)


def of_records(chunks: Iterator[Batches], records: int) -> Iterator[Batches]:
    """The first chunks, as many as hold that many records."""
    while records > 0 and (batches := next(chunks, None)) is not None:
        records -= batches.records
        yield batches


class _Ahead:
    """Chunks of batches, taken by a thread before they are due."""

    def __init__(self, chunks: Iterator[Batches], written: WrittenBatches) -> None:
        self._written = written
        self._error: BaseException | None = None
        self._queue: Queue[Batches | None] = Queue(CHUNKS_AHEAD)
        self._is_ready = threading.Event()
        threading.Thread(target=self._make, args=(chunks,), daemon=True).start()

    def first(self) -> Batches | None:
        """The first chunk, once as many as are made ahead are there."""
        self._is_ready.wait()
        return self._taken()

    def next(self) -> Batches | None:
        """The next chunk, None after the last; raises what the workload raised."""
        before = time.perf_counter()
        batches = self._taken()
        self._written.chunks_late += batches is not None and time.perf_counter() - before > LATE_SECONDS
        return batches

    def _taken(self) -> Batches | None:
        batches = self._queue.get()
        if batches is None and self._error is not None:
            raise self._error
        return batches

    def _make(self, chunks: Iterator[Batches]) -> None:
        try:
            for batches in chunks:
                if len(batches.seconds):
                    self._queue.put(batches)
                if self._queue.full():
                    self._is_ready.set()
        except BaseException as error:
            self._error = error
        self._queue.put(None)
        self._is_ready.set()


def _generated(chunks: Iterator[Batches], written: WrittenBatches) -> Iterator[Batches]:
    for batches in _timed(chunks, written):
        written.add(batches)
        yield batches


def _timed(chunks: Iterator[Batches], written: WrittenBatches) -> Iterator[Batches]:
    """The chunks that hold anything, with the time it takes to make them."""
    while True:
        wall, cpu = time.perf_counter(), time.thread_time()
        batches = next(chunks, None)
        written.generation_seconds += time.perf_counter() - wall
        written.generation_cpu_seconds += time.thread_time() - cpu
        if batches is None:
            return
        if len(batches.seconds):
            yield batches


def _settle(database: Writable) -> float:
    before = time.perf_counter()
    database.settle()
    return time.perf_counter() - before
