"""Operations of one component, in order of time."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

WORKING_SET_BITS = 43  # 42 for the number, one for keys of before the start


class Tag(IntEnum):
    """What an operation is, numbered as records of the default column family in RocksDB's WriteBatch."""

    DELETE = 0
    PUT = 1
    MERGE = 2
    SINGLE_DELETE = 7
    RANGE_DELETE = 15


@dataclass(frozen=True, slots=True)
class Chunk:
    """Operations of one component (all shapes: n,), `seconds` never falling.

    `key` numbers the component's keys in the order in which they come to be, from 0; keys of before the workload's
    start are negative. Those of overwrites begin anew in each working set, whose place stands above WORKING_SET_BITS.
    """

    seconds: NDArray[np.float64]
    tag: NDArray[np.uint8]
    key: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.seconds)


def merged(parts: Sequence[tuple[Tag, NDArray[np.float64], NDArray[np.int64]]]) -> Chunk:
    """Several kinds of operations, each (tag, seconds, keys) in order, as one chunk; ties stay in the given order."""
    some = [part for part in parts if len(part[1])]
    if len(some) == 1:
        tag, seconds, keys = some[0]
        return Chunk(seconds, np.full(len(seconds), tag, np.uint8), keys)
    if not some:
        return Chunk(np.empty(0), np.empty(0, np.uint8), np.empty(0, np.int64))
    seconds = np.concatenate([part[1] for part in some])
    order = np.argsort(seconds, kind="stable")
    tags = np.concatenate([np.full(len(part[1]), part[0], np.uint8) for part in some])
    return Chunk(seconds[order], tags[order], np.concatenate([part[2] for part in some])[order])
