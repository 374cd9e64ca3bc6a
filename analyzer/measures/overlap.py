"""How much more often than chance slow operations run while a job does.

Ratio = operations that overlap a job / the mean of that number over circular shifts of all operations together.
An operation overlaps if a job runs during it, or within the slack before or after. Shifting all by the same time
keeps what is bursty bursty, on both sides; what lies beyond the end comes in again at the beginning.
"""

from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

import polars as pl
from lsmlens.analyzer.units import MICROS

SLACK_MICROS = MICROS
SEED = 1
MOST_SHIFTS, LEAST_SHIFTS = 2000, 200
# Shifts times operations, so that a large dump takes part of a second and not minutes.
MOST_LOOKUPS = 250_000
FOREVER = 1 << 62  # a dump may say of an operation that it took longer than 64 bits hold

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
    inside = [
        (since - start, min(max(0, until - since), FOREVER)) for since, until in operations if start <= since < end
    ]
    if not inside:
        return Overlap(0, 0, 0.0, 0, 0)
    busy = _merged((since - slack - start, until + slack - start) for since, until in jobs)
    starts = pl.Series([since for since, _ in busy], dtype=pl.Int64)
    ends = pl.Series([-1, *(until for _, until in busy)], dtype=pl.Int64)  # by how many started; none: before the span

    def is_busy(since: pl.Series | int, until: pl.Series) -> pl.Series:
        return ends.gather(starts.search_sorted(until, side="right")) >= since

    began, took = (pl.Series(values, dtype=pl.Int64) for values in zip(*inside, strict=True))
    random = Random(SEED)
    shifts = max(LEAST_SHIFTS, min(MOST_SHIFTS, MOST_LOOKUPS // len(inside)))
    by_chance: list[int] = []
    for done in range(0, shifts, at_once := MOST_LOOKUPS // len(inside) or 1):
        drawn = pl.DataFrame({"shift": [random.randrange(length) for _ in range(min(at_once, shifts - done))]})
        shifted = drawn.with_row_index().join(pl.DataFrame({"began": began, "took": took}), how="cross")
        begin = (shifted["began"] + shifted["shift"]) % length
        until = begin + shifted["took"]
        hit = is_busy(begin, until.clip(upper_bound=length))
        hit |= (until > length) & is_busy(0, (until - length).clip(upper_bound=length))
        by_chance.extend(shifted.select("index", hit=hit).group_by("index").sum()["hit"])
    by_chance.sort()
    return Overlap(
        operations=len(inside),
        overlapping=is_busy(began, began + took).sum(),
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
