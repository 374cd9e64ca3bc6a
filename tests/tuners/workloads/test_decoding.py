"""Batches decoded many at a time: as the plain decoder reads them, whatever is wrong with some."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.decoding import decode, hashes
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.stream import Batches

KINDS = {Tag.PUT: "P", Tag.DELETE: "D", Tag.MERGE: "M", Tag.SINGLE_DELETE: "S", Tag.RANGE_DELETE: "R"}


def batches_of(*records: bytes) -> Batches:
    """One batch of each."""
    wrapped = [bytes(12) + record for record in records]
    offsets = np.concatenate(([0], np.cumsum([len(one) for one in wrapped])))
    return Batches(np.frombuffer(b"".join(wrapped), np.uint8), offsets, np.zeros(len(records)), 0)


def string(text: bytes) -> bytes:
    assert len(text) < 128
    return bytes((len(text),)) + text


def test_records_are_those_of_the_plain_decoder(workload: Callable[..., Workload], decoded: Any) -> None:
    document = workload(
        """
name: a
keys: {length: {kind: uniform, low: 1, high: 300}}
values: {kind: uniform, low: 0, high: 20000}
components:
- {kind: overwrite, rate: 3, working_sets: [{keys: 50}], deletes_per_put: 0.5}
- {kind: merges, rate: 3, working_sets: [{keys: 50}]}
- {kind: queue, rate: 3, lifetime_puts: 50, single_delete: true}
""",
        "name: default\nkeys: {length: 9}\nvalues: 3\ncomponents:\n"
        "- {kind: growth, rate: 5, range_deletes_per_put: 0.3, range_width: 3}",
        transactions="{operations: 7}",
    )
    stream = DeclaredStream(document)
    expected = [one for _, batch in decoded(stream) for one in batch]
    found = []
    for batches in stream.batches(1):
        records = decode(batches).records
        data = batches.buffer.tobytes()
        assert (np.diff(records.batch) >= 0).all()
        assert len(np.unique(records.batch)) == len(batches.seconds)
        for row in range(len(records)):
            key = data[records.key_start[row] : records.key_start[row] + records.key_bytes[row]]
            found.append((KINDS[Tag(records.tag[row])], records.family[row], key, records.value_bytes[row]))
            assert records.start[row] < records.key_start[row] < records.end[row]
    assert found == [(one.kind, one.family, one.key, len(one.value or b"")) for one in expected]


def test_marks_are_counted_and_left_out() -> None:
    put, name = b"\x01" + string(b"k") + string(b"v"), string(b"xid")
    marks = [b"\x03" + name, b"\x09", b"\x0a" + name, b"\x0b" + name, b"\x0c" + name, b"\x0d", b"\x12", b"\x13"]
    found = decode(batches_of(put + b"".join(marks) + put, b"\x0d", put))
    assert found.marks == len(marks) + 1
    assert found.records.batch.tolist() == [0, 0, 2]
    assert len(found.damaged) == 0


def test_newer_kinds_of_puts_are_puts() -> None:
    record = string(b"key") + string(b"value")
    found = decode(batches_of(b"\x16" + record, b"\x17\x07" + record, b"\x18" + record, b"\x19\x09" + record))
    assert found.records.tag.tolist() == [Tag.PUT] * 4
    assert found.records.family.tolist() == [0, 7, 0, 9]
    assert found.records.value_bytes.tolist() == [5] * 4


@pytest.mark.parametrize(
    "damage",
    [
        b"\x01\x05ke",
        b"\x01\x01k\x05v",
        b"\x1a\x01k",
        b"\xff",
        b"\x05\xff\xff\xff",
        b"\x05",
        b"\x01\xff\xff\xff\xff\x0f",
    ],
)
def test_a_damaged_batch_does_not_cost_the_others(damage: bytes) -> None:
    put = b"\x01" + string(b"k") + string(b"v")
    found = decode(batches_of(put, put + damage, damage, put))
    assert found.damaged.tolist() == [1, 2]
    assert found.records.batch.tolist() == [0, 1, 3]


def test_nothing() -> None:
    empty = decode(Batches(np.empty(0, np.uint8), np.zeros(1, np.int64), np.empty(0), 0))
    assert len(empty.records) == 0
    assert len(decode(batches_of(b"", b"")).records) == 0


def test_hashes_tell_strings_apart() -> None:
    rng = np.random.default_rng(1)
    texts = [rng.bytes(int(length)) for length in rng.integers(0, 60, 3000)]
    texts += [bytes(length) for length in range(40)] + [b"\x01" + bytes(length) for length in range(40)]
    texts += [bytes(20)[:place] + b"\x80" + bytes(19 - place) for place in range(20)]
    for lead in (b"", b"x", b"0123456"):
        data = np.frombuffer(lead + b"".join(texts), np.uint8)
        lengths = np.array([len(text) for text in texts])
        starts = len(lead) + np.cumsum(lengths) - lengths
        found = hashes(data, starts, lengths)
        assert (found >= 0).all()
        if not lead:
            first = found
        assert (found == first).all()
        assert len(np.unique(found)) == len(set(texts))
        assert np.bincount(found >> 59, minlength=16).min() > 100
