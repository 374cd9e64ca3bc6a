"""Time in equal bins of a length that people count in, so that what is drawn does not grow with the log."""

from collections.abc import Iterator
from dataclasses import dataclass

from lsmlens.analyzer.numbers import DAY, HOUR, MINUTE
from lsmlens.analyzer.units import MICROS

LENGTHS_SECONDS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 20, 30),
    *(MINUTE * minutes for minutes in (1, 2, 5, 10, 15, 20, 30)),
    *(HOUR * hours for hours in (1, 2, 3, 4, 6, 12)),
    *(DAY * days for days in (1, 2, 7, 14, 28, 91, 182, 364, 3640)),
)


@dataclass(frozen=True, slots=True)
class TimeBins:
    """`count` bins of `width_micros` each from `start_micros` on; all in microseconds, since 1970 UTC."""

    start_micros: int
    width_micros: int
    count: int

    @classmethod
    def over(cls, first_micros: int, last_micros: int, most: int) -> "TimeBins":
        """At most `most` bins that hold both moments; they begin at multiples of their length."""
        for seconds in LENGTHS_SECONDS:
            width = round(seconds * MICROS)
            start = first_micros // width * width
            count = (last_micros - start) // width + 1
            if count <= most:
                return cls(start, width, count)
        width = -(-(last_micros - first_micros + 1) // most)
        return cls(first_micros, width, most)

    @property
    def seconds(self) -> float:
        """The length of one bin."""
        return self.width_micros / MICROS

    @property
    def end_micros(self) -> int:
        """Where the last bin ends."""
        return self.start_micros + self.count * self.width_micros

    def index(self, micros: int) -> int:
        """The bin of a moment, the nearest for one outside."""
        return min(max((micros - self.start_micros) // self.width_micros, 0), self.count - 1)

    def start_of(self, index: int) -> int:
        """Where a bin starts."""
        return self.start_micros + index * self.width_micros

    def shares(self, since_micros: int, until_micros: int) -> Iterator[tuple[int, int]]:
        """The bins that an interval touches, with the microseconds it has in each; of a moment, its bin with 0."""
        first, last = self.index(since_micros), self.index(until_micros)
        for index in range(first, last + 1):
            start = self.start_of(index)
            begin = since_micros if index == first else start
            end = until_micros if index == last else start + self.width_micros
            if end > begin or first == last:
                yield index, max(0, end - begin)
