"""How long reads from files of each level took: `** File Read Latency Histogram By Level [family] **`.

Only what RocksDB summed up is read, not the buckets. A level that was not read from has no histogram.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lsmlens.analyzer.dumps.printed_numbers import parse_count, parse_real

# ** Level 0 read latency histogram (micros):
# ** Blob file read latency histogram (micros):
_TITLE = re.compile(r"\*\* (?:Level (\d{1,4})|(Blob) file) read latency histogram \(micros\):", re.ASCII)
# Count: 24 Average: 1.2917  StdDev: 1.24
_COUNT = re.compile(r"Count: (\S+) +Average: (\S+) +StdDev: (\S+)\s*$")
# Min: 0  Median: 0.5714  Max: 7
_RANGE = re.compile(r"Min: (\S+) +Median: (\S+) +Max: (\S+)\s*$")
# Percentiles: P50: 0.57 P75: 0.86 P99: 7.00 P99.9: 7.00 P99.99: 7.00
_PERCENTILES = re.compile(r"Percentiles:((?: P\d+(?:\.\d+)?: \S+)+)\s*$", re.ASCII)

BLOB = "blob"


@dataclass(frozen=True, slots=True)
class LatencyHistogram:
    """Latencies of reads in microseconds since the database was opened; percentiles by name, `P50` to `P99.99`."""

    count: int | None
    average_micros: float | None
    standard_deviation_micros: float | None
    min_micros: float | None
    median_micros: float | None
    max_micros: float | None
    percentiles_micros: Mapping[str, float | None]


class LatencyReading:
    """Takes one family's histograms line by line; a histogram without all of its three lines is left out."""

    def __init__(self) -> None:
        self.by_level: dict[str, LatencyHistogram] = {}
        self._level: str | None = None
        self._count: re.Match[str] | None = None
        self._range: re.Match[str] | None = None

    @property
    def is_incomplete(self) -> bool:
        """Whether a histogram was begun and its end not seen."""
        return self._level is not None

    def take(self, line: str) -> None:
        """Take in the next line."""
        if title := _TITLE.match(line):
            self._level = BLOB if title[2] else f"L{int(title[1])}"
            self._count = self._range = None
        elif self._level is None:
            return
        elif match := _COUNT.match(line):
            self._count = match
        elif match := _RANGE.match(line):
            self._range = match
        elif (match := _PERCENTILES.match(line)) and self._count and self._range:
            words = match[1].split()
            histogram = LatencyHistogram(
                count=parse_count(self._count[1]),
                average_micros=parse_real(self._count[2]),
                standard_deviation_micros=parse_real(self._count[3]),
                min_micros=parse_real(self._range[1]),
                median_micros=parse_real(self._range[2]),
                max_micros=parse_real(self._range[3]),
                percentiles_micros={
                    name[:-1]: parse_real(word) for name, word in zip(words[::2], words[1::2], strict=True)
                },
            )
            self.by_level.setdefault(self._level, histogram)
            self._level = None
