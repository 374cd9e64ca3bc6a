"""Batches made by another process, in small lots."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pytest
from lsmlens.tuners.replays.generation import Generation, slices
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.presets import load_preset
from lsmlens.tuners.workloads.stream import Batches

SCALE = 8192.0


@pytest.fixture(scope="module")
def stream() -> DeclaredStream:
    return DeclaredStream(load_preset("rbd-4k-randwrite"))


def joined(chunks: Iterator[Batches]) -> tuple[bytes, list[int], list[float], int]:
    """All bytes, lengths of batches, their times, and the records."""
    content, lengths, seconds, records = bytearray(), [], [], 0
    for one in chunks:
        content += one.buffer[one.offsets[0] : one.offsets[-1]].tobytes()
        lengths += np.diff(one.offsets).tolist()
        seconds += one.seconds.tolist()
        records += one.records
    return bytes(content), lengths, seconds, records


@pytest.mark.parametrize("most_bytes", [1, 1000, 100_000, 1 << 30])
def test_slices_are_the_same_batches(most_bytes: int, stream: DeclaredStream) -> None:
    whole = next(stream.batches(1, SCALE))
    cut = list(slices(whole, most_bytes))
    assert joined(iter(cut)) == joined(iter([whole]))
    assert all(len(one.buffer) <= most_bytes or len(one.seconds) == 1 for one in cut)
    assert len(cut) >= min(len(whole.seconds), len(whole.buffer) // most_bytes)


def test_another_process_makes_the_same_batches(stream: DeclaredStream) -> None:
    with Generation(stream, 3, SCALE) as generation:
        there = joined(generation)
        assert generation.seconds > 0
    assert there == joined(stream.batches(3, SCALE))


def test_leaving_early_ends_the_process(stream: DeclaredStream) -> None:
    with Generation(stream, 3, 1.0) as generation:
        next(generation)
        (child,) = [one for one in psutil.Process().children() if "generation" in " ".join(one.cmdline())]
    assert not child.is_running()


@dataclass(frozen=True)
class Unplanned:
    """Not to be found by another process: it cannot be sent there."""

    families: tuple[str, ...] = ("default",)
    seconds: float = 1.0
    notes: tuple[str, ...] = ()

    def batches(self, seed: int, scale: float = 1.0) -> Iterator[Batches]:
        yield from ()


def test_what_cannot_be_made_there_is_an_error(stream: DeclaredStream, tmp_path: Path) -> None:
    with Generation(stream, -1, SCALE) as generation, pytest.raises(ValueError):
        next(generation)
    with Generation(Unplanned(), 1, 1.0) as generation, pytest.raises(ChildProcessError):
        next(generation)


def test_slices_carry_the_reads_of_their_time() -> None:
    every = list(DeclaredStream(load_preset("rgw-listing")).batches(1, 2000.0))
    whole = next(one for one in every if one.reads is not None and len(one.reads))
    assert whole.reads is not None
    cut = [one for one in slices(whole, 10_000) if one.reads is not None]
    assert len(cut) > 3
    assert b"".join(one.reads.buffer.tobytes() for one in cut if one.reads) == whole.reads.buffer.tobytes()
    assert sum(len(one.reads) for one in cut if one.reads is not None) == len(whole.reads)
    for one in cut[:-1]:
        assert one.reads is not None
        assert not len(one.reads) or one.reads.seconds[-1] <= one.seconds[-1]
