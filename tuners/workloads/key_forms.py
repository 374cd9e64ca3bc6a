"""Keys as bytes: a component's numbered keys, placed in its family's key space."""

from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.workloads.chunk import WORKING_SET_BITS
from lsmlens.tuners.workloads.components import Keys
from lsmlens.tuners.workloads.sizes import sizes_at
from numpy.typing import NDArray

IDENTITY_BYTES = 8
FILLING = ord("v")
COMPONENT_BITS = 55
_LOW = (1 << WORKING_SET_BITS) - 1
_MIDDLE = 1 << (WORKING_SET_BITS - 1)  # key 0; those of before the start lie below
_GROUPED_BITS = 28
_KEY_BITS = 63


def unique(key: NDArray[np.int64], component: int) -> NDArray[np.int64]:
    """Keys that are unique in their family, and not negative: of a chunk's keys and their component's place."""
    result: NDArray[np.int64] = key + (_MIDDLE + (component << COMPONENT_BITS))
    return result


def number(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """A key's number within its working set, negative for one of before the start: undoes `unique` so far."""
    result: NDArray[np.int64] = (key & _LOW) - _MIDDLE
    return result


@dataclass(frozen=True, slots=True)
class KeyForm:
    """How the unique keys of one component become bytes; `prefix` comes before everything else."""

    keys: Keys
    prefix: bytes = b""

    @property
    def length(self) -> int | None:
        """The length of every key in bytes; None where it varies."""
        length = self.keys.length
        if isinstance(length, int | float) and length == int(length):
            return len(self.prefix) + max(1, int(length))
        return None

    def lengths(self, key: NDArray[np.int64]) -> NDArray[np.int64]:
        """The length of each key in bytes, always the same for the same key."""
        if self.length is not None:
            return np.full(len(key), self.length, np.int64)
        quantiles = scattered(key & _LOW) / float(1 << WORKING_SET_BITS)
        return len(self.prefix) + np.maximum(1, sizes_at(self.keys.length, quantiles))

    def identity(self, key: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The 8 bytes by which keys differ and sort, as a number whose most significant byte comes first."""
        if self.keys.order == "sequential":
            return key.view(np.uint64)
        if self.keys.order == "scattered":
            return scattered(key, _KEY_BITS).view(np.uint64)
        nth, group = np.divmod(number(key), self.keys.groups)
        nth = (nth + (1 << (_GROUPED_BITS - 1))) & ((1 << _GROUPED_BITS) - 1)
        upper = key >> COMPONENT_BITS << 40 | (key >> WORKING_SET_BITS & 0xFFF) << _GROUPED_BITS
        result: NDArray[np.int64] = (group + self.keys.first_group + 1 << 48) | upper | nth
        return result.view(np.uint64)

    def template(self, length: int) -> tuple[NDArray[np.uint8], int, int]:
        """A key of that length but for its identity, where the identity stands, and how many of its bytes fit."""
        row = np.full(length, FILLING, np.uint8)
        row[: len(self.prefix)] = np.frombuffer(self.prefix, np.uint8)
        room = length - len(self.prefix)
        width = min(IDENTITY_BYTES, room)
        return row, len(self.prefix) + min(self.keys.front, room - width), width


def scattered(numbers: NDArray[np.int64], bits: int = WORKING_SET_BITS) -> NDArray[np.int64]:
    """A permutation of the numbers of so many bits (63 at the most) that leaves no order to be seen."""
    all_bits, half = (1 << bits) - 1, bits // 2
    mixed = (numbers ^ numbers >> half + 1) * 0x2545F4914F6D & all_bits
    mixed = (mixed ^ mixed >> half) * 0x1B873593CC9F & all_bits
    result: NDArray[np.int64] = mixed ^ mixed >> half + 1
    return result
