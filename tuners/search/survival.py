"""Survival: how much of any window of a workload's operations outlives merging, as curves by column family.

The curve S(n) of a family is what a flush or a compaction of n operations in a row leaves, on average over the whole
workload: of several operations on one key the last, but nothing of a put and its single delete. Beside it stand what
lives at each moment, and how much of it the family has written by then. All this is read off the operations
themselves, made once at a coarse scale; populations and windows scale alike, so the curves hold at any.
"""

from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.components import Growth
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.operations import Operations
from lsmlens.tuners.workloads.sizes import mean_bytes
from lsmlens.tuners.workloads.survivors import KeyHistory
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Of so many operations the curves come out within a few hundredths.
OPERATIONS = 300_000
# Moments at which a workload is looked at, and lengths of windows for each doubling.
MOMENTS = 48
LENGTHS_PER_DOUBLING = 2
# A record's key in a table carries its sequence number and type; in the WAL and in a memtable some lengths, and in a
# memtable links, as well.
FOOTER_BYTES, WAL_BYTES, NODE_BYTES = 8.0, 6.0, 27.0


@dataclass(frozen=True, slots=True)
class FamilySurvival:
    """One family, in the workload's own amounts; moments are MOMENTS equal parts of its time, windows grow.

    `operations` and `live_bytes` (shape: moments + 1) are those until each moment; `lengths`, `bytes_left` and
    `records_left` (shape: windows) say what is left of a window of so many operations. `memory_bytes` is what one
    operation takes of a memtable, `put_bytes` what a put takes in a table under each kind of compression: none, some.
    `overlaps` is False where new keys come behind all others, so that merges find nothing to merge with.
    """

    name: str
    operations: Floats
    live_bytes: Floats
    lengths: Floats
    bytes_left: Floats
    records_left: Floats
    memory_bytes: float
    compressed_share: float
    overlaps: bool

    def left(self, window: Floats) -> Floats:
        """Bytes left of windows of so many operations; beyond the longest it grows on as it did there."""
        return self._at(window, self.bytes_left)

    def record_bytes(self, window: float) -> float:
        """Mean bytes of the records that are left of a window."""
        at = np.array([window])
        return float(self.left(at)[0] / max(1.0, self._at(at, self.records_left)[0]))

    def window(self, bytes_left: Floats) -> Floats:
        """The window of which so many bytes are left."""
        rising = np.maximum.accumulate(self.bytes_left)
        found = np.interp(bytes_left, rising, self.lengths)
        beyond = np.maximum(0.0, bytes_left - rising[-1])
        return np.asarray(found + beyond / max(self._growth(rising), 1e-9))

    def _at(self, window: Floats, curve: Floats) -> Floats:
        inside = np.interp(window, self.lengths, curve)
        return np.asarray(inside + np.maximum(0.0, window - self.lengths[-1]) * self._growth(curve))

    def _growth(self, curve: Floats) -> float:
        """Of the curve's end, for each further operation."""
        if len(curve) < 2:
            return 0.0
        return float(max(0.0, (curve[-1] - curve[-2]) / (self.lengths[-1] - self.lengths[-2])))


@dataclass(frozen=True, slots=True)
class Survival:
    """The families of a workload, and the bytes of its WAL until each moment (shape: moments + 1)."""

    families: tuple[FamilySurvival, ...]
    wal_bytes: Floats


def survival_of(workload: Workload) -> Survival:
    """The curves of a workload. Families that write nothing are left out."""
    stream = DeclaredStream(workload)
    whole = sum(len(one) for one in stream.operations(1, 256.0)) * 256.0
    scale = max(1.0, whole / OPERATIONS)
    parts = list(stream.operations(1, scale))
    every = Operations(*(np.concatenate([getattr(one, column) for one in parts]) for column in Operations.__slots__))
    moments = np.linspace(0.0, workload.seconds, MOMENTS + 1)
    key_bytes = _key_bytes(workload)
    wal = np.zeros(MOMENTS + 1)
    found = []
    for number, name in enumerate(stream.families):
        own = every[np.flatnonzero(every.family == number)]
        # what is there before the start stands at second 0, in front
        preloaded = int(np.searchsorted(own.seconds, 0.0, side="right"))
        if len(own) == preloaded:
            continue
        family = _family(workload, name, own, preloaded, scale, moments, key_bytes.get(name, 16.0))
        raw = own.value_bytes[preloaded:] + key_bytes.get(name, 16.0) + WAL_BYTES
        until = np.concatenate(([0.0], np.cumsum(raw)))
        wal += scale * until[np.searchsorted(own.seconds[preloaded:], moments, side="right")]
        found.append(family)
    return Survival(tuple(found), wal)


def _family(
    workload: Workload, name: str, own: Operations, preloaded: int, scale: float, moments: Floats, key_bytes: float
) -> FamilySurvival:
    document = next((one for one in workload.column_families if name in one.shard_names), None)
    ratio = 1.0 if document is None else document.compression_ratio
    weights = (own.value_bytes + key_bytes + FOOTER_BYTES).astype(np.float64)
    run = slice(preloaded, None)
    count = len(own) - preloaded
    doublings = max(1, int(np.ceil(LENGTHS_PER_DOUBLING * np.log2(max(2, count)))))
    lengths = np.unique(np.rint(np.geomspace(1, count, doublings + 1)).astype(np.int64))
    history = KeyHistory.of(own.key[run], own.tag[run])
    bytes_left, records_left = _left(history, lengths, weights[run])
    places = np.searchsorted(own.seconds, moments, side="right")
    return FamilySurvival(
        name,
        scale * (np.maximum(places, preloaded) - preloaded).astype(np.float64),
        scale * _live_bytes(KeyHistory.of(own.key, own.tag), weights)[np.maximum(places, preloaded)],
        scale * lengths.astype(np.float64),
        scale * bytes_left,
        scale * records_left,
        float(own.value_bytes[run].mean()) + key_bytes + NODE_BYTES,
        _compressed_share(own, key_bytes, ratio),
        document is None
        or not (len(document.components) == 1 and _only_appends(document.components[0], document.keys.order, own)),
    )


def _left(history: KeyHistory, lengths: NDArray[np.int64], weights: Floats) -> tuple[Floats, Floats]:
    """Mean bytes and records that survive in a window of each length."""
    bytes_left, records_left = np.empty(len(lengths)), np.empty(len(lengths))
    for place, length in enumerate(lengths.tolist()):
        share = history.windows_survived(length) / (len(history.tag) - length + 1)
        bytes_left[place], records_left[place] = (share * weights).sum(), share.sum()
    return bytes_left, records_left


def _live_bytes(history: KeyHistory, weights: Floats) -> Floats:
    """Bytes of live keys after each number of operations; shape: n + 1."""
    is_put = np.flatnonzero((history.tag == Tag.PUT) | (history.tag == Tag.MERGE))
    change = np.zeros(len(history.tag) + 1)
    change[is_put + 1] += weights[is_put]
    followed = is_put[history.following[is_put] < len(history.tag)]
    # each operation follows on one at the most
    change[history.following[followed] + 1] -= weights[followed]
    return np.cumsum(change)


def _compressed_share(own: Operations, key_bytes: float, ratio: float) -> float:
    """Which part of a put's bytes is left where values are compressed."""
    values = float(own.value_bytes[own.value_bytes > 0].mean()) if own.value_bytes.any() else 0.0
    return (key_bytes + FOOTER_BYTES + ratio * values) / (key_bytes + FOOTER_BYTES + values)


def _only_appends(component: object, order: str, own: Operations) -> bool:
    is_growth = isinstance(component, Growth)
    return is_growth and order == "sequential" and bool(np.isin(own.tag, (Tag.PUT, Tag.MERGE)).all())


def _key_bytes(workload: Workload) -> dict[str, float]:
    return {name: mean_bytes(one.keys.length) for one in workload.column_families for name in one.shard_names}
