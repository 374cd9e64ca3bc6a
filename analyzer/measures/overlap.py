"""How much more often than chance slow operations run while a job does.

Ratio = operations that overlap a job / the mean of that number over circular shifts of all operations together.
An operation overlaps if a job runs during it, or within the slack before or after. Shifting all by the same time
keeps what is bursty bursty, on both sides; what lies beyond the end comes in again at the beginning.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lsmlens.analyzer.units import MICROS

SLACK_MICROS = MICROS
SEED = 1
MOST_SHIFTS, LEAST_SHIFTS = 2000, 200
# Shifts times operations, so that a large dump takes part of a second and not minutes.
MOST_LOOKUPS = 250_000

Interval = tuple[int, int]


class Overlap(NamedTuple):
    """Operations that overlap a job, against chance.

    `by_chance` is the mean over the shifts; `chance_low` and `chance_high` are its 5th and 95th percentile.
    """

    operations: int
    overlapping: int
    by_chance: float
    chance_low: int
    chance_high: int

    @property
    def chance_share(self) -> float:
        """The share of operations that overlap a job by chance: about the share of time within reach of one."""
        return self.by_chance / self.operations if self.operations else 0.0

    @property
    def ratio(self) -> float | None:
        """Overlapping / by chance; None where no shift made any overlap."""
        return self.overlapping / self.by_chance if self.by_chance else None

    @property
    def interval(self) -> tuple[float, float | None] | None:
        """The ratio's 90 % interval, by the spread of chance; the upper end is None where chance may be nothing."""
        if not self.by_chance:
            return None
        high = self.overlapping / self.chance_low if self.chance_low else None
        return self.overlapping / max(self.chance_high, self.by_chance), high


def measure_overlap(
    operations: Sequence[Interval], jobs: Iterable[Interval], span: Interval, slack: int = SLACK_MICROS
) -> Overlap:
    """The overlap of operations with jobs inside a span; all in microseconds, from start to end.

    Operations that start outside the span are left out.
    """
    start, end = span
    length = end - start
    inside = [(since - start, max(0, until - since)) for since, until in operations if start <= since < end]
    if not inside:
        return Overlap(0, 0, 0.0, 0, 0)
    busy = _merged((since - slack - start, until + slack - start) for since, until in jobs)
    starts, ends = [since for since, _ in busy], [until for _, until in busy]

    def is_busy(since: int, until: int) -> bool:
        place = bisect_right(starts, until) - 1
        return place >= 0 and ends[place] >= since

    def overlapping(shift: int) -> int:
        count = 0
        for since, took in inside:
            begin = (since + shift) % length
            beyond = begin + took - length
            hit = is_busy(begin, min(begin + took, length)) or (beyond > 0 and is_busy(0, min(beyond, length)))
            count += hit
        return count

    from random import Random

    random = Random(SEED)
    shifts = max(LEAST_SHIFTS, min(MOST_SHIFTS, MOST_LOOKUPS // len(inside)))
    by_chance = sorted(overlapping(random.randrange(length)) for _ in range(shifts))
    return Overlap(
        operations=len(inside),
        overlapping=sum(is_busy(since, since + took) for since, took in inside),
        by_chance=sum(by_chance) / shifts,
        chance_low=by_chance[int(shifts * 0.05)],
        chance_high=by_chance[min(shifts - 1, int(shifts * 0.95))],
    )


def count_moments(operations: Iterable[Interval], slack: int = SLACK_MICROS) -> int:
    """How many separate moments operations make: those closer than twice the slack say the same thing once."""
    return len(_merged((since - slack, until + slack) for since, until in operations))


def _merged(intervals: Iterable[Interval]) -> list[Interval]:
    """Sorted, and joined where they touch."""
    joined: list[Interval] = []
    for since, until in sorted(intervals):
        if joined and since <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], until)
        else:
            joined.append((since, until))
    return joined
