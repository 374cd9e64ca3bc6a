"""Write batches, record by record."""

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.tuners.engines.errors import EngineError
from lsmlens.tuners.engines.rocksdict import DecodedBatches
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.stream import Batches


def test_every_kind(wire: Any) -> None:
    long = b"v" * 20_000
    batch = wire.batch(
        wire.put(b"a", long, 300),
        wire.merge(b"b", b"", 1),
        wire.delete(b"c", 2),
        wire.single_delete(b"d"),
        wire.delete_range(b"e", b"f", 127),
    )
    assert list(DecodedBatches(wire.batches(batch)).records(0)) == [
        (Tag.PUT, 300, b"a", long),
        (Tag.MERGE, 1, b"b", b""),
        (Tag.DELETE, 2, b"c", b""),
        (Tag.SINGLE_DELETE, 0, b"d", b""),
        (Tag.RANGE_DELETE, 127, b"e", b"f"),
    ]


def test_each_batch_has_its_own(wire: Any) -> None:
    decoded = DecodedBatches(
        wire.batches(
            wire.batch(wire.put(b"a", b"1"), wire.put(b"b", b"2")),
            wire.batch(),
            wire.batch(wire.delete(b"c")),
        )
    )
    keys = [[key for _, _, key, _ in decoded.records(place)] for place in range(3)]
    assert keys == [[b"a", b"b"], [], [b"c"]]


@pytest.mark.parametrize(
    "torn",
    [
        b"",
        bytes(11),
        bytes(8) + b"\1\0\0\0",
        bytes(8) + b"\0\0\0\0\x05\x00\x01a\x01b",
        bytes(8) + b"\2\0\0\0\x05\x00\x01a\x01b",
        bytes(8) + b"\1\0\0\0\x63\x00\x01a",
        bytes(8) + b"\1\0\0\0\x05\x00\x7fa",
        bytes(8) + b"\1\0\0\0\x05\x80",
    ],
)
def test_a_torn_batch_costs_itself_only(wire: Any, torn: bytes) -> None:
    whole = wire.batch(wire.put(b"key", b"value"))
    decoded = DecodedBatches(wire.batches(whole, torn, whole))
    with pytest.raises(EngineError, match="malformed write batch"):
        list(decoded.records(1))
    assert list(decoded.records(0)) == list(decoded.records(2)) == [(Tag.PUT, 0, b"key", b"value")]


@given(st.binary(max_size=60))
def test_any_bytes_end_in_records_or_an_error(rest: bytes) -> None:
    data = np.frombuffer(bytes(8) + rest, np.uint8)
    batches = Batches(data, np.array([0, len(data)]), np.array([0.0]), 0)
    with suppress(EngineError):
        for tag, *_ in DecodedBatches(batches).records(0):
            assert tag in set(Tag)
