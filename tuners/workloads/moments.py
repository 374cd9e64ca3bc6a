"""What a stream writes, measured: counts, sizes, and the survivors of windows, family by family."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.decoding import decode, hashes
from lsmlens.tuners.workloads.stream import Stream
from lsmlens.tuners.workloads.survivors import KeyHistory
from numpy.typing import NDArray

WINDOWS_PER_DOUBLING = 2
LEAST_WINDOW = 100


@dataclass(frozen=True, slots=True)
class FamilyMoments:
    """What a stream writes to one column family.

    Sizes are means and standard deviations in bytes, keys' over all operations, values' over puts and merges.
    `surviving_puts` and `surviving_tombstones` are means over all windows of so many operations (`windows`, shape: w,):
    the curve S(n). `distinct_keys` counts keys by a hash of 63 bits.
    """

    name: str
    puts: int
    deletes: int
    single_deletes: int
    merges: int
    range_deletes: int
    key_bytes: float
    key_bytes_deviation: float
    value_bytes: float
    value_bytes_deviation: float
    distinct_keys: int
    windows: NDArray[np.int64]
    surviving_puts: NDArray[np.float64]
    surviving_tombstones: NDArray[np.float64]

    @property
    def operations(self) -> int:
        """All of them, range deletes too."""
        return self.puts + self.deletes + self.single_deletes + self.merges + self.range_deletes


def moments(stream: Stream, seed: int = 0, scale: float = 1.0) -> tuple[FamilyMoments, ...]:
    """The moments of every column family that the stream writes to, in order of their ids.

    Takes about 30 bytes of memory for each operation. What a stream begins with as there before it counts, too.
    """
    parts: dict[int, list[tuple[NDArray[np.int64], ...]]] = defaultdict(list)
    for batches in stream.batches(seed, scale):
        records = decode(batches).records
        key = hashes(batches.buffer, records.key_start, records.key_bytes)
        order = np.argsort(records.family, kind="stable")
        bounds = np.concatenate(([0], np.cumsum(np.bincount(records.family, minlength=len(stream.families)))))
        for family in range(len(stream.families)):
            mine = order[bounds[family] : bounds[family + 1]]
            if len(mine):
                parts[family].append(
                    (key[mine], records.tag[mine].astype(np.int64), records.key_bytes[mine], records.value_bytes[mine])
                )
    return tuple(
        _of(stream.families[family], *(np.concatenate(columns) for columns in zip(*parts[family], strict=True)))
        for family in sorted(parts)
    )


def _of(
    name: str,
    key: NDArray[np.int64],
    tag: NDArray[np.int64],
    key_bytes: NDArray[np.int64],
    value_bytes: NDArray[np.int64],
) -> FamilyMoments:
    counts = {one: int((tag == one).sum()) for one in Tag}
    values = value_bytes[(tag == Tag.PUT) | (tag == Tag.MERGE)]
    points = tag != Tag.RANGE_DELETE
    history = KeyHistory.of(key[points], tag[points].astype(np.uint8))
    doublings = np.log2(max(LEAST_WINDOW, len(history.tag)) / LEAST_WINDOW)
    steps = np.arange(int(doublings * WINDOWS_PER_DOUBLING) + 1) / WINDOWS_PER_DOUBLING
    windows = np.rint(LEAST_WINDOW * 2**steps).astype(np.int64)
    windows = windows[windows <= len(history.tag)]
    puts, tombstones = history.curve(windows)
    return FamilyMoments(
        name,
        counts[Tag.PUT],
        counts[Tag.DELETE],
        counts[Tag.SINGLE_DELETE],
        counts[Tag.MERGE],
        counts[Tag.RANGE_DELETE],
        float(key_bytes.mean()),
        float(key_bytes.std()),
        float(values.mean()) if len(values) else 0.0,
        float(values.std()) if len(values) else 0.0,
        int((history.previous < 0).sum()),
        windows,
        puts,
        tombstones,
    )
