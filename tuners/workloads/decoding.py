"""Write batches read record by record, many batches at a time."""

from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.stream import Batches
from lsmlens.tuners.workloads.wire import FAMILY_TAGS, HEADER_BYTES
from numpy.typing import NDArray

Int = NDArray[np.int64]
RowBytes = NDArray[np.uint8]

# Tags of db/dbformat.h, 0x0 to 0x19: which are known, what follows each, and what it is here.
_KINDS = 26
_KNOWN, _FAMILY, _KEY, _VALUE = np.zeros((4, _KINDS), np.bool_)
_TAG = np.full(_KINDS, -1, np.int8)
for _with_family, _without, _what in (
    *((in_family, int(tag), tag) for tag, in_family in FAMILY_TAGS.items()),
    (0x17, 0x16, Tag.PUT),  # a wide-column entity
    (0x19, 0x18, Tag.PUT),  # a put with the time of its writing
):
    _both = [_with_family, _without]
    _TAG[_both], _KNOWN[_both], _KEY[_both], _FAMILY[_with_family] = _what, True, True, True
    _VALUE[_both] = _what in (Tag.PUT, Tag.MERGE, Tag.RANGE_DELETE)
# Marks that write nothing: log data, and where transactions begin and end, some followed by a name.
_KNOWN[[0x3, 0x9, 0xA, 0xB, 0xC, 0xD, 0x12, 0x13]] = True
_KEY[[0x3, 0xA, 0xB, 0xC]] = True


_MASKS = np.array([(1 << 8 * left) - 1 for left in range(9)], np.uint64)


@dataclass(frozen=True, slots=True)
class Records:
    """Records that write something, in order (all shapes: n,).

    `batch` is the place of the record's batch, `tag` a `chunk.Tag`. A record is buffer[start:end] of its batches; its
    key begins at `key_start`. `value_bytes` is 0 for deletes, and for range deletes the length of the end key.
    """

    batch: Int
    tag: NDArray[np.int8]
    family: Int
    start: Int
    end: Int
    key_start: Int
    key_bytes: Int
    value_bytes: Int

    def __len__(self) -> int:
        return len(self.batch)


@dataclass(frozen=True, slots=True)
class Decoded:
    """The records of some batches, how many marks there were that write nothing, and which batches are damaged.

    Of a damaged batch, torn or with an unknown tag, the records before the damage are there.
    """

    records: Records
    marks: int
    damaged: Int


def decode(batches: Batches) -> Decoded:
    """All records of `batches`."""
    # Reads beyond the end of a damaged batch stay within the buffer, and are then found to be beyond.
    data = np.concatenate((batches.buffer, np.zeros(16, np.uint8)))
    ends = batches.offsets[1:]
    place = np.minimum(batches.offsets[:-1] + HEADER_BYTES, ends)
    batch = np.flatnonzero(place < ends)
    place = place[batch]
    found: list[tuple[Int, ...]] = []
    damaged: list[Int] = []
    marks = 0
    while len(batch):
        kind, family, key_start, key_bytes, value_bytes, after, sound = _records_at(data, place)
        sound &= after <= ends[batch]
        if not sound.all():
            damaged.append(batch[~sound])
            batch, place = batch[sound], place[sound]
            kind, family, key_start = kind[sound], family[sound], key_start[sound]
            key_bytes, value_bytes, after = key_bytes[sound], value_bytes[sound], after[sound]
        writes = _TAG[kind] >= 0
        columns = (batch, kind, family, place, after, key_start, key_bytes, value_bytes)
        if writes.all():
            found.append(columns)
        else:
            marks += len(writes) - int(writes.sum())
            found.append(tuple(column[writes] for column in columns))
        open_ = after < ends[batch]
        batch, place = batch[open_], after[open_]
    return Decoded(_in_order(found), marks, np.sort(np.concatenate(damaged)) if damaged else np.empty(0, np.int64))


def _records_at(data: RowBytes, place: Int) -> tuple[Int, Int, Int, Int, Int, Int, NDArray[np.bool_]]:
    """The record at each place: kind, family, where its key begins, bytes of key and value, where it ends, if sound."""
    kind = data[place].astype(np.int64)
    sound = kind < _KINDS
    kind[~sound] = 0
    sound &= _KNOWN[kind]
    place = place + 1
    family = np.zeros(len(place), np.int64)
    which = np.flatnonzero(_FAMILY[kind])
    family[which], place[which] = _varints(data, place[which])
    key_bytes = np.zeros(len(place), np.int64)
    which = np.flatnonzero(_KEY[kind])
    key_bytes[which], place[which] = _varints(data, place[which])
    key_start = place
    place = place + key_bytes
    value_bytes = np.zeros(len(place), np.int64)
    which = np.flatnonzero(_VALUE[kind] & (place < len(data)))
    value_bytes[which], place[which] = _varints(data, place[which])
    return kind, family, key_start, key_bytes, value_bytes, place + value_bytes, sound


def _varints(data: RowBytes, place: Int) -> tuple[Int, Int]:
    """Numbers in groups of seven bits at each place, and the places after them."""
    place = np.minimum(place, len(data) - 6)
    byte = data[place].astype(np.int64)
    value = byte & 127
    place = place + 1
    more = np.flatnonzero(byte > 127)
    for shift in (7, 14, 21, 28):
        if not len(more):
            break
        byte = data[place[more]].astype(np.int64)
        value[more] |= (byte & 127) << shift
        place[more] += 1
        more = more[byte > 127]
    return value, place


def _in_order(found: list[tuple[Int, ...]]) -> Records:
    if not found:
        found = [(np.empty(0, np.int64),) * 8]
    batch, kind, *others = (np.concatenate(columns) for columns in zip(*found, strict=True))
    order = np.argsort(batch, kind="stable")
    return Records(batch[order], _TAG[kind[order]], *(column[order] for column in others))


def hashes(data: RowBytes, starts: Int, lengths: Int) -> Int:
    """A number of 63 bits for each string data[start:start + length], equal for equal strings."""
    padded = np.concatenate((data, np.zeros(8, np.uint8)))
    words = np.ndarray((len(data) + 1,), "<u8", padded, strides=(1,))
    result = (lengths + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for offset in range(0, int(lengths.max(initial=0)), 8):
        left = lengths - offset
        which = np.flatnonzero(left > 0) if offset else slice(None)
        word = words[np.minimum(starts[which] + offset, len(data))]
        word &= _MASKS[np.clip(left[which], 0, 8)]
        mixed = (result[which] ^ word) * np.uint64(0xD6E8FEB86659FD93)
        result[which] = mixed ^ mixed >> np.uint64(32)
    result *= np.uint64(0x2545F4914F6CDD1D)
    return (result >> np.uint64(1)).astype(np.int64)
