"""Writing batches settled and paced, to a database that only takes notes."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from lsmlens.tuners.engines.read_counts import ReadCounts
from lsmlens.tuners.replays.writing import CHUNKS_AHEAD, LatencyRecorder, write_paced, write_settled
from lsmlens.tuners.workloads.reads import GET, Reads
from lsmlens.tuners.workloads.stream import Batches


class Notebook:
    """Notes what it is told, and when; a write takes `write_seconds`."""

    def __init__(self, write_seconds: float = 0.0) -> None:
        self.notes: list[tuple[str, int]] = []
        self.times: list[float] = []
        self._write_seconds = write_seconds

    def write(self, batches: Batches, first: int, last: int) -> None:
        for index in range(first, last):
            self.times.append(time.perf_counter())
            self.notes.append(("write", int(batches.buffer[batches.offsets[index]])))
        if self._write_seconds:
            time.sleep(self._write_seconds)

    def settle(self) -> None:
        self.notes.append(("settle", 0))

    @property
    def written(self) -> list[int]:
        return [value for what, value in self.notes if what == "write"]


def chunks(sizes: Sequence[Sequence[int]], seconds_each: float = 1.0) -> Iterator[Batches]:
    """Chunks of batches of these sizes; the first byte of each is its number."""
    number = 0
    for chunk in sizes:
        offsets = np.cumsum([0, *chunk], dtype=np.int64)
        buffer = np.zeros(offsets[-1], np.uint8)
        seconds = np.arange(number, number + len(chunk)) * seconds_each
        for start in offsets[:-1]:
            buffer[start] = number
            number += 1
        yield Batches(buffer, offsets, seconds.astype(np.float64), 3 * len(chunk))


def ignore(_: float) -> None:
    pass


def test_every_batch_is_written_once_in_order() -> None:
    database = Notebook()
    written = write_settled(database, chunks([[10] * 7, [], [25, 5, 100], [1]]), 30, ignore, ignore)
    assert database.written == list(range(11))
    assert written.records == 3 * 11
    assert written.user_bytes == 70 + 130 + 1


def test_it_settles_after_each_step_and_in_the_end() -> None:
    database = Notebook()
    write_settled(database, chunks([[10] * 5, [10] * 5]), 30, ignore, ignore)
    kinds = "".join(what[0] for what, _ in database.notes)
    assert kinds == "wwwswwwswwwsws"


def test_a_batch_above_the_step_is_a_step() -> None:
    database = Notebook()
    write_settled(database, chunks([[100, 10, 100]]), 30, ignore, ignore)
    assert "".join(what[0] for what, _ in database.notes) == "wswwss"


def test_the_clock_is_shown_before_each_step() -> None:
    shown: list[float] = []
    told: list[float] = []
    write_settled(Notebook(), chunks([[10] * 4, [10] * 2]), 20, shown.append, told.append)
    assert shown == [0.0, 2.0, 4.0]
    assert told == [1.0, 3.0, 5.0]


def test_paced_batches_come_at_their_times() -> None:
    database, recorder = Notebook(), LatencyRecorder()
    written = write_paced(database, chunks([[10] * 5, [10] * 5], 0.04), 2.0, recorder, ignore)
    assert database.written == list(range(10))
    assert written.records == 30
    gaps = [later - earlier for earlier, later in pairwise(database.times)]
    assert sum(gaps) >= 9 * 0.02 - 0.002
    assert database.notes[-1] == ("settle", 0)
    found = recorder.latencies()
    assert found is not None
    assert found.writes == 10


def test_latency_counts_from_the_time_a_batch_was_due() -> None:
    """Twenty writes due at once, each of 5 ms: the last waits for all before it, though its own call is as short."""
    database, recorder = Notebook(write_seconds=0.005), LatencyRecorder()
    write_paced(database, chunks([[10] * 20], 0.0), 1.0, recorder, ignore)
    found = recorder.latencies()
    assert found is not None
    assert found.response_micros[100.0] >= 20 * 5000 * 0.99
    assert found.service_micros[50.0] < 50_000
    assert found.response_micros[100.0] > 2 * found.service_micros[100.0]


def broken() -> Iterator[Batches]:
    yield from chunks([[10] * 3])
    raise ArithmeticError("no more")


def test_what_the_workload_raises_is_raised() -> None:
    with pytest.raises(ArithmeticError, match="no more"):
        write_settled(Notebook(), broken(), 5, ignore, ignore)
    with pytest.raises(ArithmeticError, match="no more"):
        write_paced(Notebook(), broken(), 1e6, LatencyRecorder(), ignore)


def test_an_empty_workload() -> None:
    assert write_settled(Notebook(), iter(()), 5, ignore, ignore).records == 0
    assert write_paced(Notebook(), iter(()), 1.0, LatencyRecorder(), ignore).records == 0


def test_the_time_of_making_batches_is_told() -> None:
    def slow() -> Iterator[Batches]:
        for batches in chunks([[10], [10]]):
            time.sleep(0.02)
            yield batches

    written = write_settled(Notebook(), slow(), 5, ignore, ignore)
    assert written.generation_seconds >= 0.04
    assert written.generation_cpu_seconds < written.generation_seconds


def test_chunks_that_come_late_are_counted() -> None:
    def slow(count: int) -> Iterator[Batches]:
        for batches in chunks([[10]] * count, 0.001):
            time.sleep(0.005)
            yield batches

    assert write_paced(Notebook(), slow(CHUNKS_AHEAD), 1.0, LatencyRecorder(), ignore).chunks_late == 0
    assert write_paced(Notebook(), slow(2 * CHUNKS_AHEAD), 1.0, LatencyRecorder(), ignore).chunks_late > 0


def test_no_writes_no_percentiles() -> None:
    assert LatencyRecorder().latencies() is None


def test_percentiles_are_those_of_all_chunks() -> None:
    rng = np.random.default_rng(1)
    response = rng.lognormal(np.log(200e-6), 1.0, 20_000)
    recorder = LatencyRecorder()
    for chunk in np.array_split(response, 7):
        recorder.add(chunk, chunk / 2)
    found = recorder.latencies()
    assert found is not None
    assert found.writes == 20_000
    for percent, micros in found.response_micros.items():
        assert micros == pytest.approx(np.percentile(response, percent) * 1e6, rel=0.02), percent
        assert found.service_micros[percent] == pytest.approx(micros / 2, rel=0.02, abs=1)
    assert found.mean_response_micros == pytest.approx(response.mean() * 1e6, rel=0.01)


def test_a_time_before_it_is_due_counts_as_the_least() -> None:
    recorder = LatencyRecorder()
    recorder.add(np.array([-1e-6, 0.0]), np.array([0.0, 1e-7]))
    found = recorder.latencies()
    assert found is not None
    assert set(found.response_micros.values()) == {1.0}


class Reading(Notebook):
    def read(self, reads: Reads, first: int, last: int) -> ReadCounts:
        self.notes += [("read", int(reads.buffer[number])) for number in range(first, last)]
        return ReadCounts(gets=last - first)


def with_reads(batches: Batches, *seconds: float) -> Batches:
    count = len(seconds)
    read = np.arange(count, dtype=np.uint8)
    families, nexts = np.zeros(count, np.uint16), np.full(count, GET, np.int32)
    return replace(batches, reads=Reads(np.array(seconds), families, nexts, read, np.arange(count + 1)))


def test_reads_come_after_the_step_they_are_due_in() -> None:
    database = Reading()
    (chunk,) = chunks([[40] * 6])
    written = write_settled(database, iter([with_reads(chunk, 0.5, 1.5, 3.2, 9.0)]), 80, ignore, ignore, database.read)
    assert written.reads.gets == 4
    assert [one for one in database.notes if one[0] != "settle"] == [
        *(("write", 0), ("write", 1), ("read", 0)),
        *(("write", 2), ("write", 3), ("read", 1)),
        *(("write", 4), ("write", 5), ("read", 2), ("read", 3)),
    ]
    # what settles comes before what is read
    assert database.notes.index(("settle", 0)) < database.notes.index(("read", 0))


def test_paced_reads_come_between_writes() -> None:
    database = Reading()
    (chunk,) = chunks([[40] * 3], 0.01)
    written = write_paced(
        database, iter([with_reads(chunk, 0.0, 0.015, 0.02)]), 1.0, LatencyRecorder(), ignore, database.read
    )
    assert written.reads.gets == 3
    expected = [("write", 0), ("read", 0), ("write", 1), ("write", 2), ("read", 1), ("read", 2), ("settle", 0)]
    assert database.notes == expected
