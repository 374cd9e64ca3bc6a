"""Which of a run's jobs are wanted: by time, column family, and the level they wrote to."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
from lsmlens.analyzer.logs.stamps import parse_time
from lsmlens.analyzer.runs.run import Run

if TYPE_CHECKING:
    from lsmlens.analyzer.metrics import FrameT


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked for, as it was typed; everything where nothing was.

    A job counts at the time it finished. A flush writes level 0, a compaction its output level, a move its
    destination. `since` is inclusive, `until` is not.
    """

    since: str | None = None
    until: str | None = None
    column_families: frozenset[str] = frozenset()
    level: int | None = None

    def of(self, run: Run) -> "JobFilter":
        """This selection in terms of one run's clock. Raises ValueError for a time that is none."""
        offset = run.utc_offset_seconds or 0
        return JobFilter(
            None if self.since is None else parse_time(self.since, offset),
            None if self.until is None else parse_time(self.until, offset),
            self.column_families,
            self.level,
        )


class JobFilter(NamedTuple):
    """A selection for one run; times in microseconds since 1970 UTC."""

    since_micros: int | None
    until_micros: int | None
    column_families: frozenset[str]
    level: int | None

    def of(self, jobs: "FrameT", moment: str = "finished_at") -> "FrameT":
        """The flushes, compactions and moves that are wanted, by the time in one of their columns."""
        micros: pl.Expr = pl.col(moment).dt.epoch("us")
        wanted = [
            *([] if self.since_micros is None else [micros >= self.since_micros]),
            *([] if self.until_micros is None else [micros < self.until_micros]),
            *([pl.col("column_family").is_in(sorted(self.column_families))] if self.column_families else []),
            *([] if self.level is None else [pl.col("output_level") == self.level]),
        ]
        return jobs.filter(*wanted) if wanted else jobs

    def seconds(self, run: Run) -> float | None:
        """The length of the log inside the wanted time."""
        first, last = run.stamps.first, run.stamps.last
        if first is None or last is None:
            return None
        offset = (run.utc_offset_seconds or 0) * 1000
        if self.since_micros is not None:
            first = max(first, self.since_micros / 1000 + offset)  # type: ignore[assignment]
        if self.until_micros is not None:
            last = min(last, self.until_micros / 1000 + offset)  # type: ignore[assignment]
        return max(0.0, (last - first) / 1000)
