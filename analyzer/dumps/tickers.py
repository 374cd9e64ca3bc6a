"""The `STATISTICS:` message: counters and histograms of the whole database, where its options ask for them.

All are since the open; histograms are of microseconds, bytes or counts, as their names say.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lsmlens.analyzer.dumps.printed_numbers import parse_count, parse_real

# rocksdb.block.cache.miss COUNT : 61
_TICKER = re.compile(r"\s?(\S+) COUNT : (\d+)\s*$", re.ASCII)
# rocksdb.table.sync.micros P50 : 42550.000000 P95 : 42550.000000 P99 : 42550.000000 P100 : 42550.000000 COUNT : 1 …
_HISTOGRAM = re.compile(r"\s?(\S+)((?: P\d+(?:\.\d+)? : \S+)+)(?: COUNT : (\d+) SUM : (\d+))\s*$", re.ASCII)
# rocksdb.db.write.micros statistics Percentiles :=> 50 : 208.333333 95 : 40261.363636 99 : 45787.500000     up to 5.x
_OLD_HISTOGRAM = re.compile(r"\s?(\S+) statistics Percentiles :=>((?: \d+(?:\.\d+)? : \S+)+)\s*$", re.ASCII)


@dataclass(frozen=True, slots=True)
class StatisticHistogram:
    """One histogram: percentiles by name, `P50` to `P100`; releases up to 5.x print no count and no sum."""

    percentiles: Mapping[str, float | None]
    count: int | None
    sum: int | None


class Tickers(NamedTuple):
    """What one `STATISTICS:` message says."""

    counts: Mapping[str, int]
    histograms: Mapping[str, StatisticHistogram]


def parse_tickers(lines: Iterable[str]) -> Tickers:
    """The counters and histograms on these lines; other lines are passed over."""
    counts: dict[str, int] = {}
    histograms: dict[str, StatisticHistogram] = {}
    for line in lines:
        if match := _TICKER.match(line):
            if (count := parse_count(match[2])) is not None:
                counts.setdefault(match[1], count)
        elif match := _HISTOGRAM.match(line):
            histogram = StatisticHistogram(_percentiles(match[2]), parse_count(match[3]), parse_count(match[4]))
            histograms.setdefault(match[1], histogram)
        elif match := _OLD_HISTOGRAM.match(line):
            histograms.setdefault(match[1], StatisticHistogram(_percentiles(match[2]), None, None))
    return Tickers(counts, histograms)


def _percentiles(text: str) -> dict[str, float | None]:
    words = text.replace(" : ", " ").split()
    return {
        f"P{name.removeprefix('P')}": parse_real(value) for name, value in zip(words[::2], words[1::2], strict=False)
    }
