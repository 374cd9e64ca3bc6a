"""Batches cut into smaller lots."""

from collections.abc import Iterator

import numpy as np
from lsmlens.tuners.workloads.stream import Batches

# A write batch begins with its sequence number (8 bytes) and its count of records (4, little-endian).
COUNT_AT = 8
COUNT_BYTES = 4


def slices(batches: Batches, most_bytes: int) -> Iterator[Batches]:
    """Successive batches of at most `most_bytes` together, each lot with a buffer of its own; a larger one alone."""
    offsets = batches.offsets
    first, count = 0, len(offsets) - 1
    while first < count:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + most_bytes, side="right")) - 1)
        own = offsets[first : last + 1]
        yield Batches(
            batches.buffer[own[0] : own[-1]].copy(),
            own - own[0],
            batches.seconds[first:last].copy(),
            batches.records if last - first == count else _records(batches, first, last),
        )
        first = last


def _records(batches: Batches, first: int, last: int) -> int:
    starts = batches.offsets[first:last, None] + COUNT_AT + np.arange(COUNT_BYTES)
    return int(batches.buffer[starts].view("<u4").sum())
