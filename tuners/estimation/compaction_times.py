"""How long the log's flushes and compactions took, how many ran at once, and for how long its writers waited.

A rate limiter's rate is not in a log, only that there is one. What all jobs wrote together while a compaction ran tells
it; what is slow for the limiter alone is then fast where nothing else writes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.measures.statistics_series import StatisticsSeries
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH
from lsmlens.analyzer.runs.run import Run
from lsmlens.analyzer.units import MICROS
from lsmlens.tuners.replays.timed_compactions import SecondsPerByte

# With fewer compactions a family's are taken to be as fast as all.
LEAST_JOBS = 20
# With fewer, a rate limiter's rate is not known.
LEAST_LIMITED_JOBS = 5
# The share of the time in which compactions run, and jobs write no faster together than is taken for their most.
FAST_SHARE = 0.75
LIMITER = "rate_limiter"


@dataclass(frozen=True, slots=True)
class JobTimes:
    """What a log's flushes and compactions took.

    `seconds` are by family. `scatter` is the standard deviation of the logarithm of a compaction's time over what its
    bytes would have it take, weighed by its time (0 under a rate limiter). `most_at_once` and `mean_at_once` count
    compactions (the mean while any ran). `joint_bytes_per_second` is what jobs wrote together while a compaction ran,
    in the fastest quarter of that time; where a rate limiter was at work (`is_limited`), that is its rate. `waited` are
    seconds since the first operation and for how long writers had been stalled by then.
    """

    seconds: Mapping[str, SecondsPerByte]
    scatter: float
    most_at_once: int
    mean_at_once: float
    joint_bytes_per_second: float
    is_limited: bool
    waited: tuple[tuple[float, float], ...]


def job_times(run: RunAnalysis, families: Sequence[str], since: float) -> JobTimes | None:
    """What the jobs of a run took; None where the log does not tell. `since` is when its workload begins, since 1970.

    A log without statistics dumps does not say for how long writers waited; that is taken to be nothing.
    """
    jobs = _timed(run.run.jobs)
    compactions, flushes = (jobs.filter(pl.col("kind") == kind) for kind in (COMPACTION, FLUSH))
    is_limited = _is_limited(run)
    if compactions.height < (LEAST_LIMITED_JOBS if is_limited else LEAST_JOBS):
        return None
    joint = _joint_rate(jobs)
    limit = joint if is_limited else None
    seconds = compaction_seconds(run.run, families) if limit is None else _limited(compactions, families, limit)
    seconds = {
        name: one._replace(flush=_flush(flushes, name, limit), written=_written(compactions, name))
        for name, one in seconds.items()
    }
    at_once = _at_once(compactions)
    busy, any_ran = float(compactions["took"].sum()), float(at_once.filter(pl.col("count") > 0)["micros"].sum())
    return JobTimes(
        seconds,
        0.0 if is_limited else _scatter(compactions, seconds),
        int(at_once["count"].max() or 0),  # type: ignore[arg-type]
        busy / any_ran if any_ran else 0.0,
        joint,
        is_limited,
        _waited(run.series, run.run.utc_offset_seconds or 0, since),
    )


def compaction_seconds(run: Run, families: Sequence[str]) -> Mapping[str, SecondsPerByte]:
    """By family; empty where the log does not tell what compactions read, or shows too few."""
    jobs = _timed(run.jobs).filter(pl.col("kind") == COMPACTION)
    if jobs.height < LEAST_JOBS:
        return {}
    from_level0 = pl.col("input_levels").list.contains(0)
    level0, deeper = (some if some.height else jobs for some in (jobs.filter(from_level0), jobs.filter(~from_level0)))
    return {name: SecondsPerByte(_mean(level0, name), _mean(deeper, name)) for name in families}


def micros_taken() -> pl.Expr:
    """Of jobs, the microseconds that each took."""
    # by the stamps of its two events, for a compaction's own count leaves out how it begins and ends
    stamped = (pl.col("finished_at") - pl.col("started_at")).dt.total_microseconds().fill_null(0)
    return pl.max_horizontal(stamped, pl.col("micros").fill_null(0))


def _timed(jobs: pl.DataFrame) -> pl.DataFrame:
    """Jobs that read something, with the microseconds that each took."""
    is_flush = (pl.col("kind") == FLUSH) & (pl.col("output_bytes") > 0) & pl.col("started_at").is_not_null()
    is_compaction = (pl.col("kind") == COMPACTION) & (pl.col("input_bytes") > 0)
    told = jobs.filter((is_flush | is_compaction) & pl.col("finished_at").is_not_null())
    return told.with_columns(took=micros_taken())


def _own(jobs: pl.DataFrame, family: str) -> pl.DataFrame:
    own = jobs.filter(column_family=family)
    return own if own.height >= LEAST_JOBS else jobs


def _mean(jobs: pl.DataFrame, family: str) -> float:
    """Seconds by bytes of a family's jobs, or of all where it has few."""
    micros, size = _own(jobs, family).select(pl.col("took", "input_bytes").sum()).row(0)
    return float(micros / MICROS / size)


def _flush(flushes: pl.DataFrame, family: str, limit: float | None) -> float:
    """Seconds by bytes that a family's flushes wrote."""
    if limit is not None:
        return 1 / limit
    micros, size = _own(flushes, family).select(pl.col("took", "output_bytes").sum()).row(0)
    return float(micros / MICROS / size) if size else 0.0


def _written(compactions: pl.DataFrame, family: str) -> float:
    """Bytes that compactions wrote for each they read."""
    written, read = _own(compactions, family).select(pl.col("output_bytes", "input_bytes").sum()).row(0)
    return float(written / read)


def _limited(compactions: pl.DataFrame, families: Sequence[str], limit: float) -> dict[str, SecondsPerByte]:
    """What each byte takes where nothing else writes: what is written of it, at the limit."""
    each = {name: _written(compactions, name) / limit for name in families}
    return {name: SecondsPerByte(one, one) for name, one in each.items()}


def _is_limited(run: RunAnalysis) -> bool:
    """Options.rate_limiter: 0x55e60c784c40, or (nil)."""
    return any(one.name == LIMITER and (one.value or "").startswith("0x") for one in run.options)


def _joint_rate(timed: pl.DataFrame) -> float:
    """Bytes a second that jobs wrote together while a compaction ran, as fast as in most of that time."""
    jobs = timed.filter(pl.col("took") > 0)
    end = jobs["finished_at"].to_physical().to_numpy() / MICROS
    took = jobs["took"].to_numpy() / MICROS
    begin, written = end - took, jobs["output_bytes"].fill_null(0).to_numpy().astype(float)
    order = np.argsort(end)
    rates, weights = [], []
    for place in np.flatnonzero((jobs["kind"] == COMPACTION).to_numpy()):
        near = order[np.searchsorted(end[order], begin[place]) :]  # those that ended before it began are not looked at
        shared = np.clip(np.minimum(end[near], end[place]) - np.maximum(begin[near], begin[place]), 0.0, None)
        rates.append(float((written[near] * shared / took[near]).sum() / took[place]))
        weights.append(float(took[place]))
    if not rates:
        return 0.0
    by_rate = np.argsort(rates)
    share = np.cumsum(np.array(weights)[by_rate])
    return float(np.array(rates)[by_rate][np.searchsorted(share, FAST_SHARE * share[-1])])


def _scatter(compactions: pl.DataFrame, seconds: Mapping[str, SecondsPerByte]) -> float:
    """How far compactions' times lie from what their bytes would have them take."""
    rows = compactions.filter(pl.col("took") > 0).select("column_family", "input_levels", "input_bytes", "took")
    logs, weights = [], []
    for family, levels, size, took in rows.iter_rows():
        each = seconds.get(family)
        if each is not None:
            logs.append(np.log(took / MICROS / (size * (each.level0 if 0 in (levels or ()) else each.deeper))))
            weights.append(took)
    if not weights:
        return 0.0
    mean = np.average(logs, weights=weights)
    return float(np.sqrt(np.average((np.array(logs) - mean) ** 2, weights=weights)))


def _at_once(compactions: pl.DataFrame) -> pl.DataFrame:
    """How many compactions ran, and for how many microseconds, between any two moments at which that changed."""
    end = pl.col("finished_at").to_physical()
    begun = compactions.select(moment=end - pl.col("took"), change=pl.lit(1))
    ended = compactions.select(moment=end, change=pl.lit(-1))
    return (
        pl.concat([begun, ended])
        .sort("moment", "change")
        .select(count=pl.col("change").cum_sum(), micros=(pl.col("moment").shift(-1) - pl.col("moment")).fill_null(0))
    )


def _waited(series: StatisticsSeries | None, offset_seconds: int, since: float) -> tuple[tuple[float, float], ...]:
    """Seconds since the workload began, and for how long writers had been stalled by then, dump by dump."""
    found, total, before = [(0.0, 0.0)], 0.0, 0.0
    for point in series.points if series is not None else ():
        if point.millis is None or point.stall_seconds is None:
            continue
        stalled = point.stall_seconds - before if point.stall_seconds >= before else point.stall_seconds
        total, before = total + stalled, point.stall_seconds
        moment = point.millis / 1000 - offset_seconds - since
        last = found[-1][0]
        if moment > last:
            found.append((moment, min(total, found[-1][1] + moment - last)))
    return tuple(found) if total else ()
