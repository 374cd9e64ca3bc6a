"""Operations as write batches in RocksDB's wire format.

A batch is a header, 8 bytes of sequence number and 4 of the number of records, and its records: a tag byte, the column
family's id as a varint unless it is 0, and one or two strings, each its length as a varint and its bytes
(db/write_batch.cc). All numbers are little endian.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.key_forms import IDENTITY_BYTES, KeyForm
from lsmlens.tuners.workloads.operations import Operations
from lsmlens.tuners.workloads.payload import Payload
from lsmlens.tuners.workloads.stream import Batches
from numpy.typing import NDArray

HEADER_BYTES = 12
FAMILY_TAGS = {Tag.DELETE: 4, Tag.PUT: 5, Tag.MERGE: 6, Tag.SINGLE_DELETE: 8, Tag.RANGE_DELETE: 14}
_WIRE_TAGS = np.zeros(16, np.uint8)
_WIRE_TAGS[list(FAMILY_TAGS)] = list(FAMILY_TAGS.values())
_RANGE = 6  # in the place of how many bytes the length of a record's value takes

Int = NDArray[np.int64]
RowBytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Lane:
    """What the records of a lane have in common: their column family's id, keys, and how far values compress."""

    family: int
    form: KeyForm
    compression_ratio: float = 1.0
    range_width: int = 0

    @property
    def head(self) -> bytes:
        """What precedes the length of a record's key: room for the tag, and the family."""
        return bytes(1) + (varint(self.family) if self.family else b"")


def varint(value: int) -> bytes:
    """An unsigned number in groups of seven bits, the least significant first."""
    result = bytearray()
    while value > 127:
        result.append(value & 127 | 128)
        value >>= 7
    result.append(value)
    return bytes(result)


def varint_bytes(values: Int) -> RowBytes:
    """How many bytes each of `values`, below 2^35, takes as a varint."""
    result = np.ones(len(values), np.uint8)
    largest = int(values.max(initial=0))
    for bits in (7, 14, 21, 28):
        if largest >> bits:
            result += values >= 1 << bits
    return result


def batches(operations: Operations, starts: Int, lanes: Sequence[Lane], payload: Payload) -> Batches:
    """Write batches of `operations`; batch i begins with operation starts[i], the first with operation 0."""
    order = np.argsort(operations.lane, kind="stable")
    bounds = np.concatenate(([0], np.cumsum(np.bincount(operations.lane, minlength=len(lanes)))))
    parts = [
        _Part.of(lane, operations, order[bounds[place] : bounds[place + 1]])
        for place, lane in enumerate(lanes)
        if bounds[place] < bounds[place + 1]
    ]
    lengths = np.empty(len(operations), np.int64)
    for part in parts:
        lengths[part.places] = part.lengths()
    counts = np.diff(starts, append=len(operations))
    header_ends = np.arange(1, len(starts) + 1) * HEADER_BYTES
    ends = np.cumsum(lengths)
    ends += np.repeat(header_ends, counts)
    offsets = np.concatenate(([0], ends[starts + counts - 1]))
    buffer = payload.fill(int(offsets[-1]))
    lengths = np.subtract(ends, lengths, out=lengths)
    for part in parts:
        part.write(buffer, lengths[part.places])
        if part.lane.compression_ratio != payload.ratio:
            payload.set_ratio(buffer, ends[part.places], part.value_bytes, part.lane.compression_ratio)
    header = np.zeros((len(starts), HEADER_BYTES), np.uint8)
    header[:, 8:] = counts.astype("<u4").view(np.uint8).reshape(-1, 4)
    _scatter(buffer, offsets[:-1], header)
    return Batches(buffer, offsets, operations.seconds[starts], len(operations))


@dataclass(frozen=True, slots=True)
class _Part:
    """The operations of one lane, in order (shapes: n,).

    `places` are those among all operations. `forms` is the bytes of the value's length, 0 where there is no value,
    _RANGE for range deletes. `key_bytes` is one number where all keys are as long.
    """

    lane: Lane
    places: Int
    tag: RowBytes
    key: Int
    value_bytes: Int
    forms: RowBytes
    key_bytes: Int | int

    @classmethod
    def of(cls, lane: Lane, operations: Operations, places: Int) -> "_Part":
        tag, key, value_bytes = operations.tag[places], operations.key[places], operations.value_bytes[places]
        forms = varint_bytes(value_bytes)
        if not tag.min() == tag.max() == Tag.PUT:
            forms *= (tag == Tag.PUT) | (tag == Tag.MERGE)
            forms[tag == Tag.RANGE_DELETE] = _RANGE
        length = lane.form.length
        return cls(lane, places, tag, key, value_bytes, forms, lane.form.lengths(key) if length is None else length)

    def lengths(self) -> Int:
        """The bytes of each record."""
        if isinstance(self.key_bytes, int):
            strings: Int | int = self.key_bytes + len(varint(self.key_bytes))
        else:
            strings = self.key_bytes + varint_bytes(self.key_bytes)
        result = self.value_bytes + (len(self.lane.head) + strings)
        result += self.forms
        if self.forms.max() == _RANGE:
            result += (self.forms == _RANGE) * (strings - _RANGE)
        return result

    def write(self, buffer: RowBytes, positions: Int) -> None:
        """Write all records but their values, which `buffer` holds already, those of one form together."""
        alike = self.forms if isinstance(self.key_bytes, int) else self.key_bytes << 3 | self.forms
        least, most = int(alike.min()), int(alike.max())
        for each in (least,) if least == most else np.flatnonzero(np.bincount(alike)).tolist():
            which = slice(None) if least == most else np.flatnonzero(alike == each)
            length = self.key_bytes if isinstance(self.key_bytes, int) else each >> 3
            _scatter(buffer, positions[which], self._rows(which, length, each & 7))

    def _rows(self, which: "Int | slice", length: int, form: int) -> RowBytes:
        is_range = form == _RANGE
        key = self.key[which]
        rows = _strings(self.lane.form, self.lane.head, length, key, 0 if is_range else form)
        rows[:, 0] = _WIRE_TAGS[self.tag[which]] if self.lane.family else self.tag[which]
        if is_range:
            return np.concatenate((rows, _strings(self.lane.form, b"", length, key + self.lane.range_width, 0)), axis=1)
        if form:
            _set_varints(rows[:, -form:], self.value_bytes[which])
        return rows


def _strings(form: KeyForm, head: bytes, length: int, key: Int, room: int) -> RowBytes:
    """Keys of one length as rows: `head`, the length, the key, and `room` for what follows."""
    identity = form.identity(key)
    before = head + varint(length)
    template, place, width = form.template(length)
    rows = np.empty((len(identity), len(before) + length + room), np.uint8)
    rows[:, : len(before) + length] = np.concatenate((np.frombuffer(before, np.uint8), template))
    place += len(before)
    if width == IDENTITY_BYTES:
        np.ndarray(len(rows), ">u8", rows, place, rows.strides[:1])[...] = identity
    else:
        rows[:, place : place + width] = identity.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - width :]
    return rows


def key_rows(form: KeyForm, length: int, key: Int) -> RowBytes:
    """Keys of one length as rows (shape: n, length)."""
    rows: RowBytes = _strings(form, b"", length, key, 0)[:, len(varint(length)) :]
    return rows


def _set_varints(rows: RowBytes, values: Int) -> None:
    """Write each of `values` over the whole width of its row; all take as many bytes."""
    last = rows.shape[1] - 1
    for byte in range(last + 1):
        rows[:, byte] = (values >> 7 * byte).astype(np.uint8) & 127 | (128 if byte < last else 0)


def _scatter(buffer: RowBytes, positions: Int, rows: RowBytes) -> None:
    """Copy row i of `rows` to buffer[positions[i]:]."""
    width = rows.shape[1]
    items = np.ndarray((len(buffer) - width + 1,), f"V{width}", buffer, strides=(1,))
    items[positions] = rows.view(f"V{width}").reshape(-1)
