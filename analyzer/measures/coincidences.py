"""Whether what clients waited for falls together with flushes, compactions and stalls of the same database.

Two things are held against them: slow operations, which the OSD kept or BlueStore logged, and slow seconds, those of a
load program's run (by rados bench's own lines, or fio's logs) in which its mean latency was far above the run's median.
How often chance has it is measured, not assumed: see `overlap`.

How much more often than chance slow operations run while a job does.

Ratio = operations that overlap a job / the mean of that number over circular shifts of all operations together.
An operation overlaps if a job runs during it, or within the slack before or after. Shifting all by the same time
keeps what is bursty bursty, on both sides; what lies beyond the end comes in again at the beginning.
"""

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

import polars as pl
from lsmlens.analyzer.bundles.companions import Beside
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH
from lsmlens.analyzer.runs.run import Run, SlowOperation
from lsmlens.analyzer.units import MICROS

# Ours: a write of a few KiB takes milliseconds on any device that is not waiting for something else.
SLOW_SECONDS = 0.1
# Ours: a second whose mean latency is so many times its run's median is slow; a run so long has a median.
SLOW_SECOND_RATIO = 2.0
LEAST_SECONDS = 10
# osd_op_history_duration, Ceph's default: an operations dump looks back so far, so chance is of that time.
HISTORY_SECONDS = 600

SLOW_OPERATIONS = "slow operations"
FLUSHES, COMPACTIONS, JOBS, STALLS = "flushes", "compactions", "flushes and compactions", "stalls"
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


class Coincidence(NamedTuple):
    """How often `what` was slow `during` jobs or stalls of one kind; `moments` counts what is less than 2 s apart once.

    `had_any` is false where no such job or stall was at that time: then the overlap says only how much was slow.
    """

    what: str
    during: str
    moments: int
    had_any: bool
    overlap: Overlap


class _Slow(NamedTuple):
    what: str
    intervals: Sequence[Interval]
    span: Interval


def measure_coincidences(run: Run, beside: Beside) -> tuple[Coincidence, ...]:
    """Everything slow against every kind of job; empty where nothing slow is known."""
    operations = [*_dumped(run, beside), *_logged(run)]
    seconds = list(_slow_seconds(beside))
    if not operations and not seconds:
        return ()
    busy: dict[str, list[Interval]] = {FLUSHES: [], COMPACTIONS: [], JOBS: [], STALLS: _stalls(run)}
    busy[FLUSHES], busy[COMPACTIONS] = run.spans(FLUSH), run.spans(COMPACTION)
    busy[JOBS] = busy[FLUSHES] + busy[COMPACTIONS]
    first, last = run.first_event_micros, run.last_event_micros
    if first is None or last is None:
        return ()
    slow = [_within_log(operations, (first, last)), *seconds] if operations else seconds
    return tuple(_coincidence(one, during, jobs) for one in slow for during, jobs in busy.items())


def _coincidence(slow: _Slow, during: str, jobs: Sequence[Interval]) -> Coincidence:
    since, until = slow.span
    inside = [one for one in slow.intervals if since <= one[0] < until]
    near = [job for job in jobs if job[1] >= since - MICROS and job[0] < until + MICROS]
    overlap = measure_overlap(inside, near, slow.span) if near and inside else Overlap(len(inside), 0, 0.0, 0, 0)
    return Coincidence(slow.what, during, count_moments(inside), bool(near), overlap)


def _within_log(operations: Sequence[tuple[Interval, int]], log: Interval) -> _Slow:
    """Operations in the time their dumps look back on, as far as the log covers it."""
    first = min(min(start, told - HISTORY_SECONDS * MICROS) for (start, _), told in operations)
    last = max(told for _, told in operations)
    return _Slow(SLOW_OPERATIONS, [one for one, _ in operations], (max(first, log[0]), min(last, log[1])))


def _dumped(run: Run, beside: Beside) -> Iterator[tuple[Interval, int]]:
    """Operations kept by the OSD and when they were dumped, in UTC; without those whose zone nothing tells."""
    for one in beside.operations:
        offset = 0 if one.has_zone else run.utc_offset_seconds
        seconds = one.duration_seconds or 0.0
        if seconds >= SLOW_SECONDS and one.initiated_micros is not None and offset is not None:
            start = one.initiated_micros - offset * MICROS
            end = start + round(seconds * MICROS)
            yield (start, end), max(end, start + round((one.age_seconds or 0.0) * MICROS))


def _logged(run: Run) -> Iterator[tuple[Interval, int]]:
    """The operations of "slow operation observed" lines, each told at its end."""
    if not run.slow_operations or run.utc_offset_seconds is None:
        return
    for one in (SlowOperation(*row) for row in run.slow_operations):
        if one.millis is not None and one.seconds >= SLOW_SECONDS:
            end = (one.millis - run.utc_offset_seconds * 1000) * 1000
            yield (end - round(one.seconds * MICROS), end), end


def _slow_seconds(beside: Beside) -> Iterator[_Slow]:
    if not beside.client_series:
        return
    from lsmlens.analyzer.clients.client_series import latencies

    series = latencies(beside.client_series)
    sources = [one.source for one in series]
    for one in series:
        steps = one.steps()
        if len(steps) < LEAST_SECONDS:
            continue
        limit = SLOW_SECOND_RATIO * sorted(one.values)[len(steps) // 2]
        slow = [(since, until) for since, until, seconds in steps if seconds > limit]
        if slow:
            operation = f"{one.operation} " if sources.count(one.source) > 1 else ""
            yield _Slow(f"slow {operation}seconds of {one.source}", slow, (steps[0][0], steps[-1][1]))


def _stalls(run: Run) -> list[Interval]:
    if run.utc_offset_seconds is None:
        return []
    moments = [(millis - run.utc_offset_seconds * 1000) * 1000 for millis, _, _ in run.stall_moments]
    return [(moment, moment) for moment in moments]


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
        overlapping=int(is_busy(began, began + took).sum()),
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
