"""Bytes of values: how far compressors get with them."""

import zlib

import numpy as np
import pytest
from lsmlens.tuners.workloads.payload import Payload

BLOCK = 4096


def compressed(data: bytes) -> float:
    """The share that blocks as RocksDB's compress to."""
    blocks = [data[place : place + BLOCK] for place in range(0, len(data), BLOCK)]
    return sum(len(zlib.compress(block, 1)) for block in blocks) / len(data)


@pytest.mark.parametrize("ratio", [0.1, 0.3, 0.5, 0.8, 1.0])
def test_a_buffer_compresses_as_said(ratio: float) -> None:
    assert compressed(Payload(ratio, 1).fill(1 << 20).tobytes()) == pytest.approx(ratio, abs=0.06)


@pytest.mark.parametrize("base", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("ratio", [0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("size", [200, 30_000])
def test_values_of_another_ratio(base: float, ratio: float, size: int) -> None:
    payload = Payload(base, 1)
    buffer = payload.fill(1_200_000)
    untouched = buffer.copy()
    # every second value only, to see that the others stay as they are
    ends = np.arange(size, len(buffer) + 1, size)[::2]
    payload.set_ratio(buffer, ends, np.full(len(ends), size), ratio)
    values = b"".join(buffer[end - size : end].tobytes() for end in ends.tolist())
    assert compressed(values) == pytest.approx(ratio, abs=0.09)
    for end in ends.tolist():
        buffer[end - size : end] = untouched[end - size : end]
    assert (buffer == untouched).all()


def test_buffers_follow_one_another_in_the_pool() -> None:
    payload = Payload(1.0, 1)
    first, second = payload.fill(100_000), payload.fill(100_000)
    assert not (first == second).all()
    again = Payload(1.0, 1)
    assert (again.fill(100_000) == first).all()
    assert (again.fill(100_000) == second).all()
    assert not (Payload(1.0, 2).fill(100_000) == first).all()
    assert len(payload.fill(3 << 20)) == 3 << 20


def test_memory_is_taken_again_only_when_nothing_refers_to_it() -> None:
    payload = Payload(1.0, 1)
    held = [payload.fill(50_000) for _ in range(6)]
    part = held[0][100:200]
    content, whole = part.tobytes(), [one.tobytes() for one in held]
    del held[0]
    fresh = [payload.fill(50_000) for _ in range(6)]
    assert part.tobytes() == content
    assert [one.tobytes() for one in held] == whole[1:]
    assert len({one.ctypes.data for one in [*held, *fresh, part]}) == 12
    del held, fresh, part
    first = payload.fill(50_000).ctypes.data
    assert payload.fill(49_000).ctypes.data == first


def test_no_buffer_at_all() -> None:
    payload = Payload(1.0, 1)
    assert len(payload.fill(0)) == 0
