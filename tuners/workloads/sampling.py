"""A recorded stream at a scale: the operations on some of its keys."""

from collections.abc import Iterator

import numpy as np
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.decoding import decode, hashes
from lsmlens.tuners.workloads.stream import Batches
from lsmlens.tuners.workloads.wire import HEADER_BYTES
from numpy.typing import NDArray


def sampled(stream: Iterator[Batches], seed: int, scale: float) -> Iterator[Batches]:
    """The operations on one in `scale` of the keys, which `seed` chooses; all of them at scale 1.

    That divides the work, every population, and every lifetime counted in operations. Range deletes all stay: each
    takes its share of the keys that are left. Batches that lose all records go, marks that write nothing do, too.
    """
    for batches in stream:
        decoded = decode(batches)
        records = decoded.records
        if scale == 1 and not decoded.marks and not len(decoded.damaged):
            yield batches
            continue
        chosen = np.ones(len(records), np.bool_)
        if scale != 1:
            key = hashes(batches.buffer, records.key_start, records.key_bytes)
            chosen = (_chances(key, seed) * scale < 1) | (records.tag == Tag.RANGE_DELETE)
        chosen &= ~np.isin(records.batch, decoded.damaged)
        if chosen.any():
            yield _of_records(
                batches, records.batch[chosen], records.start[chosen], records.end[chosen] - records.start[chosen]
            )


def _chances(key: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """A number in [0, 1) for each key, others with another seed."""
    mixed = key.astype(np.uint64) ^ np.uint64(np.random.default_rng(seed).integers(0, 1 << 63))
    for factor in (0x5851F42D4C957F2D, 0x2545F4914F6CDD1D):
        mixed = (mixed ^ mixed >> np.uint64(31)) * np.uint64(factor)
    chances: NDArray[np.float64] = (mixed >> np.uint64(11)) / float(1 << 53)
    return chances


def _of_records(
    batches: Batches, batch: NDArray[np.int64], start: NDArray[np.int64], length: NDArray[np.int64]
) -> Batches:
    """Batches of some records, those of one batch still in one."""
    kept, counts = np.unique(batch, return_counts=True)
    number = np.repeat(np.arange(1, len(kept) + 1), counts)
    ends = np.cumsum(length) + number * HEADER_BYTES
    last = np.cumsum(counts) - 1
    offsets = np.concatenate(([0], ends[last]))
    buffer = np.zeros(int(offsets[-1]), np.uint8)
    data, out = batches.buffer.data, buffer.data
    for place, source, size in zip((ends - length).tolist(), start.tolist(), length.tolist(), strict=True):
        out[place : place + size] = data[source : source + size]
    header = counts.astype("<u4").view(np.uint8).reshape(-1, 4)
    buffer[offsets[:-1, None] + np.arange(8, HEADER_BYTES)] = header
    return Batches(buffer, offsets, batches.seconds[kept], len(batch))
