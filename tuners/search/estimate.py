"""An estimate: what flushes and compactions would write under a set of options, in closed form and without a replay.

A family's flush takes in n operations: as many as fill its memtables, or fewer where the WAL's limit comes first. It
writes what is left of them, S(n). When k flushes have come together in level 0, they are merged with level 1, which
holds what is left of the window that its size stands for: S(w + k n) is written, and what is over goes down: a part of
the keys' range, with which the same part of the next level is written anew. The last level holds what lives. All of it
is summed over the moments of the workload.

That is levelled compaction at rest. It leaves out partly compacted levels, moved files, what runs at the same time, and
ages; it is made to rank candidates before any of them is replayed, not to predict one.
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
from lsmlens.tuners.search.survival import FamilySurvival, Floats, Survival

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


class _Shape(NamedTuple):
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
    _known: dict[tuple[str, _Shape], Figures] = field(default_factory=dict)
    _present: Mapping[str, _Shape] = field(init=False)

    def __post_init__(self) -> None:
        self._present = _shapes(self.present, self.survival)

    @property
    def is_levelled(self) -> bool:
        """Whether compaction is levelled under the present options; nothing is estimated of any other."""
        styles = {self.present.value_of("compaction_style", one.name) for one in self.survival.families}
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

    def _corrected(self, family: FamilySurvival, shape: _Shape) -> Figures:
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

    def _figures(self, family: FamilySurvival, shape: _Shape) -> Figures:
        key = (family.name, shape)
        if key not in self._known:
            self._known[key] = _estimated(family, self.survival.wal_bytes, shape)
        return self._known[key]


def _estimated(family: FamilySurvival, wal_bytes: Floats, shape: _Shape) -> Figures:
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


def _flush_window(family: FamilySurvival, wal_bytes: Floats, shape: _Shape) -> Floats:
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


def _level_sizes(live: Floats, shape: _Shape) -> list[Floats]:
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


def _shapes(options: OptionSet, survival: Survival) -> dict[str, _Shape]:
    limit = _wal_limit(options, survival)
    return {one.name: _shape(options, one.name, limit) for one in survival.families}


def _shape(options: OptionSet, family: str, wal_limit: float) -> _Shape:
    said = {name: options.value_of(name, family) or "" for name in OF_SHAPE}

    def number(option: str, default: float) -> float:
        return float(parse_size(said[option].partition(".")[0]) or default)

    merged = min(number("min_write_buffer_number_to_merge", 1), max(1.0, number("max_write_buffer_number", 2) - 1))
    return _Shape(
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
