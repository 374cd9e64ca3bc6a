"""What a workload reads of a column family, beside what it writes: in documents, and as a database is asked."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

import msgspec
import numpy as np
from lsmlens.tuners.workloads.components import Ratio, Seconds, check_rate
from msgspec import Meta
from numpy.typing import NDArray

MOST_NEXTS = 1 << 20

ReadsPerSecond: TypeAlias = Annotated[float, Meta(ge=0, le=1e9)]


class ReadStep(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """[start, reads per second]: this rate holds from `start` to the next step's start."""

    start: Seconds
    per_second: ReadsPerSecond


ReadRate: TypeAlias = (
    Annotated[float, Meta(ge=0, le=1e9, description="reads per second, over the whole workload")]
    | Annotated[tuple[ReadStep, ...], Meta(min_length=1)]
)


class _Reads(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What gets and iterators have in common.

    `rate` counts all shards of the family together; `per_put` says how many there are for each put instead. The key is
    one that is live, the i-th latest put with a chance in proportion to i^-recency; 0 is any.
    """

    rate: ReadRate | None = None
    per_put: Ratio | None = None
    recency: Annotated[float, Meta(ge=0, le=5)] = 0.0

    def __post_init__(self) -> None:
        check_rate(self.rate, self.per_put, "per_put")


class Gets(_Reads, frozen=True):
    """Reads of one key each; `absent` is the share of those that ask for a key which never was, beside one that is."""

    absent: Annotated[float, Meta(ge=0, le=1)] = 0.0


class Iterators(_Reads, frozen=True):
    """Seeks to a key, with `nexts` steps from there on."""

    nexts: Annotated[int, Meta(ge=0, le=MOST_NEXTS)] = 0


class FamilyReads(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What is read of a column family."""

    gets: Gets | None = None
    iterators: Iterators | None = None

    def __post_init__(self) -> None:
        if self.gets is None and self.iterators is None:
            raise ValueError("`reads` are `gets`, `iterators` or both")


GET = -1


@dataclass(frozen=True, slots=True)
class Reads:
    """Reads in order of time (shapes: n, and n + 1 for `offsets`).

    Read i is of the key `buffer[offsets[i]:offsets[i + 1]]` in the column family whose place in the stream's `families`
    is `family[i]`; `nexts[i]` is GET for a Get, and the steps after the seek for an iterator.
    """

    seconds: NDArray[np.float64]
    family: NDArray[np.uint16]
    nexts: NDArray[np.int32]
    buffer: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.seconds)

    def between(self, first: int, last: int) -> "Reads":
        """Reads `first` up to but not including `last`, with a buffer of their own."""
        offsets = self.offsets[first : last + 1]
        return Reads(
            self.seconds[first:last],
            self.family[first:last],
            self.nexts[first:last],
            self.buffer[offsets[0] : offsets[-1]].copy(),
            offsets - offsets[0],
        )
