"""Perf dumps one after another: what was counted from each to the next, and up to the first of each life of a daemon.

Dumps carry no time, so there are no rates by the second; means, bytes and shares are of the interval alone.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lsmlens.analyzer.counters.counter_series import deltas, in_series
from lsmlens.analyzer.counters.counter_summary import CounterSummary, summarise
from lsmlens.analyzer.counters.perf_dumps import PerfDump


class CounterInterval(NamedTuple):
    """What was counted up to the dump `until`: since the dump `since`, None for the daemon's start.

    `life` counts the daemon's lives that dumps show, from 1.
    """

    life: int
    since: str | None
    until: str
    counted: CounterSummary


def counter_intervals(
    dumps: Sequence[PerfDump], release: tuple[int, int, int] | None = None
) -> tuple[CounterInterval, ...]:
    """The intervals in the order of time; empty without dumps. `release` is Ceph's."""
    return tuple(_intervals(dumps, release))


def _intervals(dumps: Sequence[PerfDump], release: tuple[int, int, int] | None) -> Iterator[CounterInterval]:
    for life, series in enumerate(in_series(dumps), 1):
        yield CounterInterval(life, None, series[0].source, summarise(series[0], release))
        for delta in deltas(series):
            counted = summarise(delta, release)
            yield CounterInterval(life, delta.before.source, delta.after.source, counted)
