"""Perf dumps one after another: what was counted from each to the next, and up to the first of each life of a daemon.

Means, bytes and shares are of the interval alone. Dumps carry no time; where the log tells when they were taken,
there are rates by the second, between the least and the most that this leaves open.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from lsmlens.analyzer.counters.counter_series import deltas, in_series
from lsmlens.analyzer.counters.counter_summary import CounterSummary, summarise
from lsmlens.analyzer.counters.dump_moments import Life, dump_moments, seconds_between
from lsmlens.analyzer.counters.perf_dumps import PerfDump

# Rates of less certain intervals would say nothing: the most seconds over the least.
WIDEST = 1.5


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
