"""A workload as the write batches a database is given."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from lsmlens.tuners.workloads.reads import Reads
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Batches:
    """Write batches in RocksDB's wire format, one after the other.

    `buffer` holds bytes (shape: total,); batch i is `buffer[offsets[i]:offsets[i + 1]]`, so `offsets` has one more
    entry than there are batches. `seconds` is each batch's time on the workload's own clock, from 0, never falling.
    A family's id in a batch is its place in the stream's `families`. `reads` are made between them, each before the
    first batch of a later second; None where nothing is read.
    """

    buffer: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    seconds: NDArray[np.float64]
    records: int
    reads: Reads | None = None


class Stream(Protocol):
    """A source of write batches."""

    @property
    def families(self) -> tuple[str, ...]:
        """The column families in order of their ids, "default" first."""

    @property
    def seconds(self) -> float:
        """The length of the workload by its own clock."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of results should know of the workload."""

    def batches(self, seed: int, scale: float = 1.0) -> Iterator[Batches]:
        """The batches of one run, a few megabytes at a time, the same for equal `seed` and `scale`.

        `scale` divides the amount of work and every population and lifetime; the clock keeps its length.
        """
