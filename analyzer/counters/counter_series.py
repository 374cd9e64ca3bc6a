"""Dumps of one daemon in the order of time, and what was counted between two of them.

Dumps carry no time, but what never goes down orders them: the counts of all averages, and some plain counters.
Where one went down, the daemon restarted in between (or somebody gave `perf reset`). The same is so where an
average's sum changed and its count did not: such as peering, which is done once after a start.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from lsmlens.analyzer.counters.perf_dumps import LongRunAverage, PerfDump

# Grows with every change of the cluster's map, through restarts of the daemon.
MAP_EPOCH = "objecter.map_epoch"

NEVER_DOWN = frozenset(
    {
        *(f"osd.{name}" for name in ("op", "op_in_bytes", "op_out_bytes", "op_r", "op_r_out_bytes", "op_w")),
        *(f"osd.{name}" for name in ("op_w_in_bytes", "op_rw", "op_rw_in_bytes", "subop", "subop_w", "subop_in_bytes")),
        *(f"osd.{name}" for name in ("recovery_ops", "recovery_bytes", "push", "pull")),
        *(f"bluefs.{name}" for name in ("logged_bytes", "log_compactions", "files_written_wal", "files_written_sst")),
        *(f"bluefs.{name}" for name in ("bytes_written_wal", "bytes_written_sst", "bytes_written_slow")),
        *(f"bluestore.{name}" for name in ("txc_count", "onode_hits", "onode_misses", "write_big", "write_small")),
        *(f"rocksdb.{name}" for name in ("get", "compact", "compact_range", "compact_completed")),
    }
)


class CounterDelta(NamedTuple):
    """What was counted from one dump to a later one of the same daemon.

    `seconds` is the time between them, None where it is not known. `went_down` names what shows that counting
    began anew in between: then no difference means anything, and all of them are None.
    """

    before: PerfDump
    after: PerfDump
    seconds: float | None = None
    went_down: tuple[str, ...] = ()

    def number(self, name: str) -> int | float | None:
        """After minus before of a plain counter or gauge; None where it is not in both."""
        before, after = self.before.number(name), self.after.number(name)
        return None if before is None or after is None or self.went_down else after - before

    def average(self, name: str) -> LongRunAverage | None:
        """Times and seconds between the dumps; None where the average is not in both."""
        before, after = self.before.average(name), self.after.average(name)
        if before is None or after is None or self.went_down:
            return None
        return LongRunAverage(after.count - before.count, after.sum_seconds - before.sum_seconds)

    def mean_seconds(self, name: str) -> float | None:
        """Mean over the interval: difference of sums / difference of counts, in seconds; None without any."""
        average = self.average(name)
        return average.mean_seconds if average else None

    def per_second(self, name: str) -> float | None:
        """Difference of a counter, or of an average's count, / `seconds`; None where the time is not known."""
        average = self.average(name)
        difference = average.count if average else self.number(name)
        return None if difference is None or not self.seconds else difference / self.seconds


def compare(before: PerfDump, after: PerfDump, seconds: float | None = None) -> CounterDelta:
    """What was counted between two dumps; a time that is not above 0 is taken as not known."""
    known = seconds if seconds is not None and seconds > 0 and math.isfinite(seconds) else None
    return CounterDelta(before, after, known, went_down(before, after))


def went_down(before: PerfDump, after: PerfDump) -> tuple[str, ...]:
    """Names of the counters that cannot have come from `before` to `after` without a restart, in order."""
    names = []
    for name, old in before.counters.items():
        new = after.counters.get(name)
        if isinstance(old, LongRunAverage) and isinstance(new, LongRunAverage):
            stood_still = old.count == new.count > 0
            if new.count < old.count or (stood_still and abs(new.sum_seconds - old.sum_seconds) > 1e-8):
                names.append(name)
        elif name in NEVER_DOWN and isinstance(old, int) and isinstance(new, int) and new < old:
            names.append(name)
    return tuple(sorted(names))


def in_series(dumps: Sequence[PerfDump]) -> tuple[tuple[PerfDump, ...], ...]:
    """Dumps of one daemon in the order of time, one series for each of its lives that they show.

    Within a series the counters prove the order, equal ones go by their source's name. The order of the series
    is that of the cluster map's epochs; where dumps lack it, and where it is equal, it is by the least sum of
    counts, which may be wrong. Two lives are taken as one if no counter tells them apart.
    """
    has_epochs = all(dump.number(MAP_EPOCH) is not None for dump in dumps)

    def moment(dump: PerfDump) -> tuple[float, int, str]:
        epoch = dump.number(MAP_EPOCH) if has_epochs else None
        counted = sum(value.count for value in dump.counters.values() if isinstance(value, LongRunAverage))
        plain = sum(int(dump.number(name) or 0) for name in NEVER_DOWN)
        return epoch or 0, counted + plain, dump.source

    series: list[list[PerfDump]] = []
    for dump in sorted(dumps, key=moment):
        earlier = next((one for one in reversed(series) if not went_down(one[-1], dump)), None)
        if earlier is None:
            series.append([dump])
        else:
            earlier.append(dump)
    return tuple(map(tuple, series))


def deltas(series: Sequence[PerfDump]) -> tuple[CounterDelta, ...]:
    """What was counted from each dump of a series to the next."""
    return tuple(compare(before, after) for before, after in pairwise(series))
