"""Perf dumps one after another: what was counted from each to the next, and up to the first of each life of a daemon.

Means, bytes and shares are of the interval alone. Dumps carry no time; where the log tells when they were taken,
there are rates by the second, between the least and the most that this leaves open.

When a perf dump was taken, found by what BlueFS had counted and the log tells of.

Dumps carry no time. But each has the bytes of all tables written since the daemon's start, and the log has when each
flush and compaction of that time began and ended. A dump was taken before the log's sum of what had ended passes its
count; and not before jobs had begun that write as much, for BlueFS counts tables of jobs that are not done yet, and a
little more than the tables' bytes, in whole blocks (0.4 to 1.2 % on OSDs of 16.2 and 18.2).
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from lsmlens.analyzer.counters.counter_series import deltas, in_series
from lsmlens.analyzer.counters.counter_summary import CounterSummary, summarise
from lsmlens.analyzer.counters.perf_dumps import PerfDump

# Rates of less certain intervals would say nothing: the most seconds over the least.
WIDEST = 1.5
TABLE_BYTES = "bluefs.bytes_written_sst"
MOST_MORE, MOST_BLOCKS = 0.015, 1 << 16


class Written(NamedTuple):
    """The tables of one job; times in microseconds since 1970, the begin as the end where the log does not tell it."""

    begun: int
    ended: int
    bytes: int


class Life(NamedTuple):
    """What the log tells of a daemon's life that begins in it: when, in microseconds since 1970, and its tables.

    `earlier_bytes` are those of the tables of earlier lives.
    """

    begun: int
    written: tuple[Written, ...]
    earlier_bytes: int = 0


class Moment(NamedTuple):
    """Between which times a dump was taken, in microseconds since 1970; None is without bound."""

    earliest: int | None
    latest: int | None


class CounterInterval(NamedTuple):
    """What was counted up to the dump `until`: since the dump `since`, None for the daemon's start.

    `life` counts the daemon's lives that dumps show, from 1. `seconds` are the least and the most that it lasted, None
    where the log leaves that open.
    """

    life: int
    since: str | None
    until: str
    counted: CounterSummary
    seconds: tuple[float, float] | None = None

    def per_second(self, count: float | None) -> tuple[float, float] | None:
        """The least and the most of something counted by the second; None where the time is not known well enough."""
        if count is None or self.seconds is None or not 0 < self.seconds[1] <= WIDEST * self.seconds[0]:
            return None
        return count / self.seconds[1], count / self.seconds[0]


def counter_intervals(
    dumps: Sequence[PerfDump],
    release: tuple[int, int, int] | None = None,
    last_life: Life | None = None,
) -> tuple[CounterInterval, ...]:
    """The intervals in the order of time; empty without dumps.

    `release` is Ceph's. `last_life` is what the log tells of the daemon's last life.
    """
    return tuple(_intervals(dumps, release, last_life))


def _intervals(
    dumps: Sequence[PerfDump], release: tuple[int, int, int] | None, last_life: Life | None
) -> Iterator[CounterInterval]:
    lives = in_series(dumps)
    for life, series in enumerate(lives, 1):
        yield CounterInterval(life, None, series[0].source, summarise(series[0], release))
        moments = dump_moments(series, last_life if life == len(lives) else None)
        for delta, (before, after) in zip(deltas(series), pairwise(moments), strict=True):
            counted = summarise(delta, release)
            seconds = seconds_between(before, after)
            yield CounterInterval(life, delta.before.source, delta.after.source, counted, seconds)


def dump_moments(dumps: Sequence[PerfDump], life: Life | None) -> tuple[Moment, ...]:
    """The moments of the dumps of one life."""
    return tuple(_moment(dump.number(TABLE_BYTES), life) for dump in dumps)


def seconds_between(before: Moment, after: Moment) -> tuple[float, float] | None:
    """The least and the most seconds from one dump to a later one; None where they are not known at both ends."""
    if before.earliest is None or before.latest is None or after.earliest is None or after.latest is None:
        return None
    return max(0, after.earliest - before.latest) / 1e6, max(0, after.latest - before.earliest) / 1e6


def _moment(counted: float | None, life: Life | None) -> Moment:
    if counted is None or life is None:
        return Moment(None, None)
    least = (counted - MOST_BLOCKS) / (1 + MOST_MORE)
    earliest: int | None = life.begun
    if least > 0:
        earliest = _reached(sorted((one.begun, one.bytes) for one in life.written), least)
    return Moment(earliest, _reached(sorted((one.ended, one.bytes) for one in life.written), counted + 1))


def _reached(written: Sequence[tuple[int, int]], size: float) -> int | None:
    """When the sum comes to a size; None where it does not."""
    total = 0
    for micros, added in written:
        total += added
        if total >= size:
            return micros
    return None
