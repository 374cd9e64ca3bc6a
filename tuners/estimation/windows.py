"""Survivor windows: how many of a run of consecutive operations outlive being merged, as the log shows it.

A log-structured tree samples the curve of survivors over the length of the window at several lengths:

    flush    the operations of one flush, and what its table holds;
    merge    level 0 merged, by itself or with all of the level it goes to;
    bottom   the deepest level, once nothing above it holds much, with all operations that reached it.

A level's tables hold parts of the operations of many flushes: at each place among the keys those of consecutive
flushes, but not of the same ones everywhere, for only a part of a level's keys moves down at a time. So survivors are
a sum over nested windows, each with the share of the keys where it is the window. Compactions of parts of a level are
left out: what is in them depends on where among the keys they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from lsmlens.tuners.estimation.history import Compaction, FamilyHistory, Flush, Move
from lsmlens.tuners.estimation.intervals import Interval
from lsmlens.tuners.estimation.live_tables import LiveTables, Merged, mass_of
from numpy.typing import NDArray

# Nested windows of one compaction that are told apart, at the most.
MOST_LAYERS = 12
# Shares of keys below this are left out of a sum.
LEAST_SHARE = 0.02
# Compactions of one kind that are used, evenly spread over the log.
MOST_WINDOWS = 120
# The share of a family's records its deepest level must hold to stand for all of them.
DEEP_SHARE = 0.7
# Below this share of what lived before, live records have fallen.
FALLEN = 0.75


class WindowKind(StrEnum):
    """What merged the operations of a window."""

    FLUSH = "flush"
    MERGE = "merge"
    BOTTOM = "bottom"


@dataclass(frozen=True, slots=True)
class Layer:
    """Consecutive intervals from `first` to `last`, merged where `share` of the keys are."""

    share: float
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Window:
    """Nested runs of intervals, and what of their operations survived.

    Tombstones are dropped at the bottom: `kept_deletes` is None there. Of the records of before the log `before` are
    there besides, and `lost` are gone by then.
    """

    kind: WindowKind
    seconds: float
    layers: tuple[Layer, ...]
    kept_puts: float
    kept_deletes: int | None
    before: float = 0.0
    lost: float = 0.0

    @property
    def first(self) -> int:
        """The place of the earliest interval in it."""
        return min(layer.first for layer in self.layers)

    @property
    def last(self) -> int:
        """The place of the latest interval in it."""
        return max(layer.last for layer in self.layers)

    @property
    def length(self) -> int:
        """How many intervals it spans."""
        return self.last + 1 - self.first

    def mass(self, count: int) -> NDArray[np.float64]:
        """How much of each of `count` intervals is in the window."""
        found = np.zeros(count)
        for layer in self.layers:
            found[layer.first : layer.last + 1] += layer.share
        return found

    def longest_puts(self, intervals: Sequence[Interval]) -> int:
        """Puts of the longest of the nested windows."""
        return max(sum(one.puts for one in intervals[layer.first : layer.last + 1]) for layer in self.layers)


def windows_of(family: FamilyHistory, intervals: Sequence[Interval]) -> list[Window]:
    """The windows of one family, in order of time."""
    places = {interval.table.number: place for place, interval in enumerate(intervals) if interval.table is not None}
    flushes = [
        Window(WindowKind.FLUSH, one.end, (Layer(1.0, place, place),), one.kept_puts, one.kept_deletes)
        for place, one in enumerate(intervals)
        if one.flush is not None and one.operations
    ]
    found: list[Window] = []
    live = LiveTables()
    for place, one in enumerate(intervals):
        if one.flush is None and one.table is not None:
            live.add(one.table, place)
    for job in family.jobs:
        if isinstance(job, Flush):
            if job.table is not None and job.table.number in places:
                live.add(job.table, places[job.table.number])
            continue
        if isinstance(job, Move):
            live.move(job)
            continue
        merged = live.merge(job)
        if 0 in job.inputs and merged.mass and job.outputs and _reads_whole_level(job, live):
            found.append(_merge(job, merged))
        found.extend(_bottom(job, live))
    return sorted([*flushes, *_thinned(found)], key=lambda window: window.seconds)


def last_bottom(windows: Sequence[Window]) -> Window | None:
    """The latest of the windows that shows the live bottom."""
    return next((one for one in reversed(windows) if one.kind == WindowKind.BOTTOM), None)


def telling_bottoms(windows: Sequence[Window]) -> list[Window]:
    """The last bottom, and before it those after which live records fell."""
    bottoms = [one for one in windows if one.kind == WindowKind.BOTTOM]
    most, found = 0.0, []
    for place, one in enumerate(bottoms):
        if one.kept_puts < FALLEN * most:
            found.append(bottoms[place - 1])
            most = 0.0
        most = max(most, one.kept_puts)
    return [*found, *bottoms[-1:]]


def before_fall(windows: Sequence[Window]) -> list[Window]:
    """The windows without those that reach over a fall: from a bottom on that holds far fewer records than one before.

    There what had grown was deleted, and how much lives no longer tells how long puts live.
    """
    most, fallen = 0.0, None
    for window in windows:
        if window.kind != WindowKind.BOTTOM:
            continue
        if window.kept_puts < FALLEN * most:
            fallen = window.last
            break
        most = max(most, window.kept_puts)
    if fallen is None:
        return list(windows)
    return [one for one in windows if one.kind == WindowKind.FLUSH or one.last < fallen or one.first > fallen]


def _merge(job: Compaction, merged: Merged) -> Window:
    tombstones = sum(table.tombstones or 0 for table in job.outputs)
    is_bottom = merged.had_tombstones and not tombstones
    layers = _layers(merged.mass, True)
    return Window(WindowKind.MERGE, job.seconds, layers, merged.kept_puts, None if is_bottom else tombstones)


def _bottom(job: Compaction, live: LiveTables) -> list[Window]:
    """The deepest level as a window, where it holds most records and no tombstones."""
    deepest = max((one.level for one in live.tables.values()), default=0)
    if deepest == 0 or job.output_level != deepest:
        return []
    deep = live.of_level(deepest)
    entries = sum(one.table.entries for one in deep)
    every = sum(one.table.entries for one in live.tables.values())
    if any(one.table.tombstones for one in deep) or entries < DEEP_SHARE * every:
        return []
    mass = mass_of(deep)
    if not mass:
        return []
    before = sum(one.before for one in deep)
    return [Window(WindowKind.BOTTOM, job.seconds, _layers(mass, False), entries - before, None, before, live.lost)]


def _reads_whole_level(job: Compaction, live: LiveTables) -> bool:
    """Whether nothing was left behind in the level written to, where its outputs lie now."""
    if job.output_level == 0:
        return True
    files = max([len(live.of_level(job.output_level)), *job.level_files[job.output_level : job.output_level + 1]])
    return files <= len(job.outputs)


def _layers(mass: Mapping[int, float], is_newest_whole: bool) -> tuple[Layer, ...]:
    """The nested windows whose shares add up to `mass`, which is how much of each interval is there.

    Level 0 with what is below it: all of the newest intervals, less and less of older ones. The deepest level: all of
    the oldest, less and less of newer ones.
    """
    first, last = min(mass), max(mass)
    shares = np.array([min(1.0, mass.get(place, 0.0)) for place in range(first, last + 1)])
    ordered = shares[::-1] if is_newest_whole else shares
    ordered = np.maximum.accumulate(ordered[::-1])[::-1]
    steps = ordered - np.append(ordered[1:], 0.0)
    ends = np.flatnonzero(steps > 0)
    if len(ends) > MOST_LAYERS:
        ends, steps = _grouped(ends, steps)
    layers = []
    for end in ends:
        share = float(steps[end])
        if share >= LEAST_SHARE * float(shares.max()):
            layers.append(
                Layer(share, last - int(end), last) if is_newest_whole else Layer(share, first, first + int(end))
            )
    return tuple(layers)


def _grouped(ends: NDArray[np.int64], steps: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Fewer ends with the same sum of steps: neighbours become one, at their mean place."""
    sums = np.cumsum(steps[ends])
    group = np.minimum((sums / sums[-1] * MOST_LAYERS).astype(np.int64), MOST_LAYERS - 1)
    fewer = np.zeros(len(steps))
    for one in np.unique(group):
        own = ends[group == one]
        weight = steps[own]
        fewer[round(float(np.average(own, weights=weight)))] += weight.sum()
    return np.flatnonzero(fewer > 0), fewer


def _thinned(windows: Sequence[Window]) -> list[Window]:
    """At most MOST_WINDOWS of each kind, evenly spread."""
    found: list[Window] = []
    for kind in WindowKind:
        own = [one for one in windows if one.kind == kind and one.layers]
        step = max(1.0, len(own) / MOST_WINDOWS)
        found += [own[int(number * step)] for number in range(min(len(own), MOST_WINDOWS))]
    return found
