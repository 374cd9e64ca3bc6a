"""The operations of a workload, all families together in order of time, before they become bytes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Operations:
    """Operations in order of time (all shapes: n,).

    `family` is the place in the stream's `families`, `tag` a `chunk.Tag`. `key` tells keys of one family apart;
    `value_bytes` is 0 for deletes. `lane` numbers what makes keys and values alike: a component, or a shard of one.
    """

    seconds: NDArray[np.float64]
    family: NDArray[np.uint16]
    tag: NDArray[np.uint8]
    key: NDArray[np.int64]
    value_bytes: NDArray[np.int64]
    lane: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.seconds)

    def __getitem__(self, which: "slice | NDArray[np.int64]") -> "Operations":
        return Operations(*(getattr(self, column)[which] for column in self.__slots__))
