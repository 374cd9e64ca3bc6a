"""An estimate: what flushes and compactions would write under a set of options, in closed form and without a replay.

A family's flush takes in n operations: as many as fill its memtables, or fewer where the WAL's limit comes first. It
writes what is left of them, S(n). When k flushes have come together in level 0, they are merged with level 1, which
holds what is left of the window that its size stands for: S(w + k n) is written, and what is over goes down: a part of
the keys' range, with which the same part of the next level is written anew. The last level holds what lives. All of it
is summed over the moments of the workload.

That is levelled compaction at rest. It leaves out partly compacted levels, moved files, what runs at the same time, and
ages; it is made to rank candidates before any of them is replayed, not to predict one.

S(n) is a family's survivor curve: what a flush or a compaction of n operations in a row leaves, on average over the
whole workload: of several operations on one key the last, but nothing of a put and its single delete. Beside it stand
what lives at each moment, and how much of it the family has written by then. All this is read off the operations
themselves, made once at a coarse scale; populations and windows scale alike, so the curves hold at any.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.search.bounds import memtable_bytes
from lsmlens.tuners.search.scores import Scores
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
# The options of a family that an estimate goes by.
OF_SHAPE = (
    *("write_buffer_size", "max_write_buffer_number", "min_write_buffer_number_to_merge"),
    *("level0_file_num_compaction_trigger", "max_bytes_for_level_base", "max_bytes_for_level_multiplier"),
    *("target_file_size_base", "level_compaction_dynamic_level_bytes", "compression"),
)
LEVELS = 6
# Families with less of the log's bytes may do without compactions; estimates may miss one compaction by so much.
WEIGHTY_SHARE, LEAST_MERGES = 0.03, 0.9
LEVEL_STYLE = "kCompactionStyleLevel"
# Where no limit of the WAL is set, RocksDB takes so many times all write buffers.
WAL_OF_BUFFERS = 4.0
# A correction by the log's own figures goes so far, one way or the other.
MOST_CORRECTION = 4.0


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


class _LevelShape(NamedTuple):
    """The options of one family that an estimate goes by; sizes in bytes."""

    memtable_bytes: float
    wal_bytes: float
    trigger: float
    base_bytes: float
    multiplier: float
    file_bytes: float
    is_dynamic: bool
    is_compressed: bool


@dataclass(slots=True)
class Estimator:
    """Estimates for one workload, in its own amounts. `observed` are the log's figures by family under `present`.

    What the log shows of a family over what is estimated of it under the present options corrects its estimates.
    """

    survival: Survival
    present: OptionSet
    observed: Mapping[str, Figures]
    _known: dict[tuple[str, _LevelShape], Figures] = field(default_factory=dict)
    _present: Mapping[str, _LevelShape] = field(init=False)

    def __post_init__(self) -> None:
        self._present = _shapes(self.present, self.survival)

    def covers(self, options: OptionSet) -> bool:
        """Whether what options cost can be estimated: under levelled compaction only."""
        styles = {options.value_of("compaction_style", one.name) for one in self.survival.families}
        return styles <= {LEVEL_STYLE, None}

    def scores(self, options: OptionSet) -> Scores:
        """The scores of a set of options, as far as they are estimated."""
        whole = Figures()
        shapes = _shapes(options, self.survival)
        for family in self.survival.families:
            whole = whole + self._corrected(family, shapes[family.name])
        memory = memtable_bytes(options, [one.name for one in self.survival.families])
        return Scores.of(whole, 0.0, memory, 0.0)

    def unshown(self, options: OptionSet) -> str | None:
        """A family that compacts in the log, but not once in that time under these options; None if there is none.

        What such options cost does not show in the log: their compactions come later, and cost all the more.
        """
        shapes = _shapes(options, self.survival)
        for family in self.survival.families:
            seen = self.observed.get(family.name, Figures())
            if seen.written_bytes < WEIGHTY_SHARE * self._written or not seen.compactions:
                continue
            if self._figures(family, shapes[family.name]).compactions < LEAST_MERGES:
                return family.name
        return None

    @property
    def _written(self) -> float:
        return sum(one.written_bytes for one in self.observed.values())

    def _corrected(self, family: FamilySurvival, shape: _LevelShape) -> Figures:
        found, own = self._figures(family, shape), self._figures(family, self._present[family.name])
        seen = self.observed.get(family.name, Figures())
        flushed = _correction(seen.flush_bytes, own.flush_bytes)
        merged = _correction(seen.output_bytes, own.output_bytes)
        read = _correction(seen.input_records, own.input_records)
        return Figures(
            found.flushes,
            found.flush_bytes * flushed,
            found.compactions,
            found.output_bytes * merged,
            found.input_records * read,
            found.output_records,
        )

    def _figures(self, family: FamilySurvival, shape: _LevelShape) -> Figures:
        key = (family.name, shape)
        if key not in self._known:
            self._known[key] = _estimated(family, self.survival.wal_bytes, shape)
        return self._known[key]


def _estimated(family: FamilySurvival, wal_bytes: Floats, shape: _LevelShape) -> Figures:
    part = family.compressed_share if shape.is_compressed else 1.0
    written = np.diff(family.operations)
    live = (family.live_bytes[1:] + family.live_bytes[:-1]) / 2 * part
    flush = _flush_window(family, wal_bytes, shape)
    flush_bytes = family.left(flush) * part
    flushes = written / flush
    gathered = np.minimum(shape.trigger, np.maximum(1.0, np.ceil(shape.base_bytes / np.maximum(flush_bytes, 1.0))))
    merges = flushes / gathered
    window = flush * gathered
    sizes = _level_sizes(live, shape)
    output, down = _level1(family, sizes, window, live, part)
    read = gathered * flush_bytes + sizes[0]
    deeper, jobs = np.zeros_like(output), np.zeros_like(output)
    held = sizes[0]
    for level in range(1, LEVELS):
        upper, lower = sizes[level - 1], sizes[level]
        held = held + lower
        is_last = held >= live
        below = np.where(is_last, 0.0, _over(family, held, window, part))
        taken = np.where(lower > 0, lower * down / np.maximum(upper + down, 1.0), 0.0)
        deeper += np.where(lower > 0, taken + below, 0.0)
        jobs += np.where(lower > 0, down / shape.file_bytes, 0.0)
        read += np.where(lower > 0, taken + down, 0.0)
        down = below
    if not family.overlaps:
        output, deeper = gathered * flush_bytes, np.zeros_like(deeper)
    return Figures(
        float(flushes.sum()),
        float((flushes * flush_bytes).sum()),
        float((merges * (1 + jobs)).sum()),
        float((merges * (output + deeper)).sum()),
        float((merges * read).sum()) / max(1.0, part * family.record_bytes(float(window.mean()))),
    )


def _flush_window(family: FamilySurvival, wal_bytes: Floats, shape: _LevelShape) -> Floats:
    """Operations of one flush, at each moment."""
    full = shape.memtable_bytes / family.memory_bytes
    starts = wal_bytes[:-1]
    until = np.interp(starts + shape.wal_bytes, wal_bytes, family.operations)
    # at the workload's end the WAL has room left: as if it went on as it did
    beyond = np.maximum(0.0, starts + shape.wal_bytes - wal_bytes[-1])
    rate = family.operations[-1] / max(wal_bytes[-1], 1.0)
    allowed = until - family.operations[:-1] + beyond * rate
    window: Floats = np.clip(allowed, 1.0, max(1.0, full))
    return window


def _level_sizes(live: Floats, shape: _LevelShape) -> list[Floats]:
    """Bytes of levels 1 and on, at each moment; shape of each: moments."""
    base = np.full_like(live, shape.base_bytes)
    if shape.is_dynamic:
        # the last level holds nearly all; those above are smaller by the multiplier each
        depth = np.ceil(np.log(np.maximum(live / shape.base_bytes, 1.0)) / np.log(shape.multiplier))
        base = np.where(depth > 0, live / shape.multiplier**depth, base)
    sizes = []
    left = live
    for level in range(LEVELS):
        size = np.minimum(left, base * shape.multiplier**level) if level < LEVELS - 1 else left
        sizes.append(size)
        left = left - size
    return sizes


def _level1(
    family: FamilySurvival, sizes: list[Floats], window: Floats, live: Floats, part: float
) -> tuple[Floats, Floats]:
    """What one merge of level 0 with level 1 writes, and what of it is over and goes down."""
    fresh = family.left(window) * part
    over = _over(family, sizes[0], window, part)
    is_last = sizes[0] >= live
    return np.where(is_last, np.maximum(live, np.minimum(fresh, sizes[0] + fresh)), sizes[0] + over), np.where(
        is_last, 0.0, over
    )


def _over(family: FamilySurvival, held: Floats, window: Floats, part: float) -> Floats:
    """What comes to be over in levels that hold so many bytes when one merge brings a window of operations."""
    age = family.window(held / part)
    return np.maximum(0.0, family.left(age + window) * part - held)


def _shapes(options: OptionSet, survival: Survival) -> dict[str, _LevelShape]:
    limit = _wal_limit(options, survival)
    return {one.name: _shape(options, one.name, limit) for one in survival.families}


def _shape(options: OptionSet, family: str, wal_limit: float) -> _LevelShape:
    said = {name: options.value_of(name, family) or "" for name in OF_SHAPE}

    def number(option: str, default: float) -> float:
        return float(parse_size(said[option].partition(".")[0]) or default)

    merged = min(number("min_write_buffer_number_to_merge", 1), max(1.0, number("max_write_buffer_number", 2) - 1))
    return _LevelShape(
        number("write_buffer_size", 64 << 20) * merged,
        wal_limit,
        number("level0_file_num_compaction_trigger", 4),
        number("max_bytes_for_level_base", 256 << 20),
        max(1.5, number("max_bytes_for_level_multiplier", 10)),
        number("target_file_size_base", 64 << 20),
        said["level_compaction_dynamic_level_bytes"] in ("1", "true"),
        said["compression"] not in ("kNoCompression", ""),
    )


def _wal_limit(options: OptionSet, survival: Survival) -> float:
    """Bytes of the WAL at which flushes are made; a database of one family has no such limit."""
    names = [one.name for one in survival.families]
    if len(names) < 2:
        return float("inf")
    given = parse_size(options.value_of("max_total_wal_size") or "")
    if given:
        return float(given)
    return WAL_OF_BUFFERS * sum(
        float(parse_size(options.value_of("write_buffer_size", name) or "") or 64 << 20)
        * float(options.value_of("max_write_buffer_number", name) or 2)
        for name in names
    )


def _correction(seen: float, estimated: float) -> float:
    if seen <= 0 or estimated <= 0:
        return 1.0
    return min(MOST_CORRECTION, max(1 / MOST_CORRECTION, seen / estimated))
