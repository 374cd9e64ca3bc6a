"""Whether writers would stall under other options or with more load, and how much more load it takes until they do.

A closed form comes first: how busy compaction is, and how many files gather in level 0 while its longest compaction
runs. Where that leaves far more load than is asked about, nothing is replayed. Else the best fit is replayed with jobs
that last as long as the log's and writers that wait as RocksDB makes them (`write_stalls`), at several loads.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH
from lsmlens.analyzer.units import MICROS
from lsmlens.tuners.estimation.compaction_times import JobTimes, job_times, micros_taken
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.predictions.anchor import Anchor
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.predictions.refinement import variant_of
from lsmlens.tuners.predictions.replays import largest_bytes, trial_of
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.replays.trial import Trial
from lsmlens.tuners.replays.write_stalls import Conditions, WriteStalls, compaction_threads

# Ends of 90 % intervals: the same device may be so much slower or faster than it was. Held against db_bench.
SPEED_ERROR = 1.25
# Nothing is replayed where the closed form leaves so many times the loads that are asked about.
FAR = 1.5 * SPEED_ERROR
# More load than that is not tried: who has so much left need not know how much.
MOST_LOAD = 4.0
LEAST_LOAD = 0.125
# Headroom is told to such a factor.
CLOSE_ENOUGH = 1.15
# Slowed or stopped for less of the time than that is none.
STALLED_SHARE = 0.001
# The busiest stretch is at least so long, in seconds and as a share of the log.
STRETCH_SECONDS, STRETCH_SHARE = 60.0, 0.05
MOST_STRETCHES = 500


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """What can be said without a replay, at the log's own load.

    `utilisation` is compaction seconds over threads times seconds (under a rate limiter: bytes over what it lets
    through), `busiest` the same in the busiest stretch. `level0_files` is by family the most files: those that start a
    compaction, and those that come while the longest one runs. `headroom` is the load at which the busiest stretch
    takes all there is, or a family's files reach the slowdown.
    """

    utilisation: float
    busiest: float
    level0_files: Mapping[str, float]
    headroom: float


class StallsAtLoad(NamedTuple):
    """What writers meet at so many times the log's load: seconds of stalls with the ends of a 90 % interval.

    Spells are those of the replay; all are 0 where the closed form leaves far more load.
    """

    load: float
    seconds: float
    low: float
    high: float
    slowdowns: int
    stops: int


class Headroom(NamedTuple):
    """How many times the log's load it takes until writers are slowed down or stopped; ends of a 90 % interval.

    `load` and `high` are None where they are over MOST_LOAD.
    """

    load: float | None
    low: float
    high: float | None


@dataclass(frozen=True, slots=True)
class StallForecast:
    """Stalls under one set of options. `level0_files` are the most in a replay of the log's own load, by family.

    `headroom` is None where nothing was replayed, for the closed form leaves far more load than was asked about.
    """

    closed_form: ClosedForm
    at_loads: tuple[StallsAtLoad, ...]
    headroom: Headroom | None = None
    level0_files: Mapping[str, int] = field(default_factory=dict)

    @property
    def now(self) -> StallsAtLoad:
        """At the log's own load."""
        return next(one for one in self.at_loads if one.load == 1)


def forecasts(
    anchor: Anchor,
    options: Sequence[tuple[OptionSet, Mapping[str, Figures]]],
    replayer: Replayer,
    loads: Sequence[float] = (),
    rate_limit: float | None = None,
    bisects: bool = True,
) -> list[StallForecast | None]:
    """Stalls under each of the options, beside which stand the figures that their families are known or predicted for.

    At the log's load and at `loads` times it; `rate_limit` is a rate limiter's, in bytes a second. Unless it `bisects`,
    headroom is told as near as these loads do. None where the log does not tell how long compactions took, the engine
    cannot hold them, or a replay failed.
    """
    fitted = anchor.fitted
    times = job_times(fitted.evidence.run, list(fitted.evidence.history.families), fitted.evidence.since)
    if times is None:
        return [None] * len(options)
    loads = sorted({1.0, *loads})
    every = [_Forecasting(anchor, one, figures, times, replayer, loads, rate_limit) for one, figures in options]
    while wanted := [(one, load) for one in every for load in one.wanted(bisects)]:
        trials = [one.trial(load) for one, load in wanted]
        for (one, load), result in zip(wanted, replayer.results(trials), strict=True):
            one.take(load, result.write_stalls if isinstance(result, Measurement) else None)
    return [one.forecast() for one in every]


class _Forecasting:
    """The replays of one set of options, as many loads as it takes."""

    def __init__(
        self,
        anchor: Anchor,
        options: OptionSet,
        figures: Mapping[str, Figures],
        times: JobTimes,
        replayer: Replayer,
        loads: Sequence[float],
        rate_limit: float | None,
    ) -> None:
        fitted, engine = anchor.fitted, replayer.engine
        self._times, self._loads = times, loads
        limit = times.joint_bytes_per_second if times.is_limited else None
        self._faster = 1.0 if limit is None or rate_limit is None else limit / rate_limit
        self._limit = rate_limit or limit
        resolved = options.resolve(fitted.stream.families, engine.version)
        self._closed = closed_form(fitted, figures, anchor.observed, resolved, self._limit)
        # more at once than the log ever showed may have to share what the device gave
        self._is_beyond = compaction_threads(resolved.database) > times.most_at_once and self._limit is None
        scale = max(one.scale for one in anchor.variants)
        run = fitted.evidence.run
        variant = variant_of(fitted, scale)
        self._trial = trial_of(variant, options, engine, replayer.settled_folder(largest_bytes(run) / scale))
        has_stalled = bool(run.run.stall_lines) or bool(run.series is not None and run.series.stall_seconds)
        self._is_far = not has_stalled and self._closed.headroom >= FAR * max(loads)
        self._can_replay = engine.name == "capi"  # which alone has compactions to hold
        self._found: dict[float, WriteStalls | None] = {}

    def wanted(self, bisects: bool) -> list[float]:
        """Loads to be replayed next."""
        if (
            self._is_far
            or not self._can_replay
            or (self._found and not bisects)
            or any(one is None for one in self._found.values())
        ):
            return []
        if not self._found:
            return sorted({1 / SPEED_ERROR, *self._loads, SPEED_ERROR, SPEED_ERROR * max(self._loads)})
        low, high = self._bracket()
        if high is None:
            return [MOST_LOAD] if low < MOST_LOAD else []
        return [math.sqrt(low * high)] if high > CLOSE_ENOUGH * low and high > LEAST_LOAD else []

    def take(self, load: float, stalls: WriteStalls | None) -> None:
        """Take in what writers met at a load."""
        self._found[load] = stalls

    def trial(self, load: float) -> Trial:
        """The replay at a load."""
        limit, times = self._limit, self._times
        if self._is_beyond and load not in self._loads and load > 1:
            limit = times.joint_bytes_per_second
        seconds = {name: one.times(self._faster) for name, one in times.seconds.items()}
        return replace(self._trial, compaction_seconds=seconds, conditions=Conditions(load, limit, times.waited))

    def forecast(self) -> StallForecast | None:
        """What all replays came to."""
        if self._is_far:
            none = tuple(StallsAtLoad(load, 0.0, 0.0, 0.0, 0, 0) for load in self._loads)
            return StallForecast(self._closed, none)
        found = {load: one for load, one in self._found.items() if one is not None}
        if not found or len(found) < len(self._found):
            return None
        at_loads = tuple(self._at(found, load) for load in self._loads)
        return StallForecast(self._closed, at_loads, self._headroom(), found[1.0].level0_files)

    def _at(self, found: Mapping[float, WriteStalls], load: float) -> StallsAtLoad:
        """The ends are those of so much less and more load, between two that were replayed if need be."""
        loads = sorted(found)
        ends = np.interp([load / SPEED_ERROR, load * SPEED_ERROR], loads, [found[one].stall_seconds for one in loads])
        now = found[load]
        seconds = [now.stall_seconds, *ends.tolist()]
        return StallsAtLoad(load, now.stall_seconds, min(seconds), max(seconds), now.slowdowns, now.stops)

    def _bracket(self) -> tuple[float, float | None]:
        """The largest load without a stall below the least with one, and that; None where none has one."""
        stalled = [load for load, one in self._found.items() if one is not None and is_stalled(one)]
        high = min(stalled, default=None)
        free = [load for load in self._found if high is None or load < high]
        return max(free, default=LEAST_LOAD), high

    def _headroom(self) -> Headroom:
        low, high = self._bracket()
        if high is None:
            return Headroom(None, low / SPEED_ERROR, None)
        most = high * SPEED_ERROR
        load = math.sqrt(low * high)
        return Headroom(load, low / SPEED_ERROR, most if most <= MOST_LOAD else None)


def is_stalled(stalls: WriteStalls) -> bool:
    """Whether writes were slowed down or stopped for a time that counts."""
    return stalls.slowed_seconds + stalls.stopped_seconds > STALLED_SHARE * stalls.seconds


def closed_form(
    fitted: FittedWorkload,
    figures: Mapping[str, Figures],
    observed: Mapping[str, Figures],
    options: ResolvedOptions,
    limit: float | None,
) -> ClosedForm:
    """What the log's own jobs say, as much more or less as the families' `figures` are over those `observed`."""
    jobs = fitted.evidence.run.jobs.filter(pl.col("finished_at").is_not_null())
    seconds = fitted.evidence.seconds
    began, ended, cost, capacity = _costs(jobs, figures, observed, options, limit)
    used = float(cost.sum()) / (capacity * seconds)
    longest = float((ended - began).max()) if len(cost) else 0.0
    busiest = max(used, _busiest(began, ended, cost, max(STRETCH_SECONDS, STRETCH_SHARE * seconds, longest)) / capacity)
    level0 = {name: (start, come) for name, start, come in _gathering(jobs, figures, observed, options)}
    slow = {
        name: int(values.get("level0_slowdown_writes_trigger", "0") or 0) for name, values in options.families.items()
    }
    loads = [(slow[name] - start) / come for name, (start, come) in level0.items() if come and slow.get(name, 0) > 0]
    return ClosedForm(
        used,
        busiest,
        {name: start + come for name, (start, come) in level0.items()},
        max(0.0, min([*loads, 1 / busiest if busiest else MOST_LOAD**2])),
    )


Vector = np.ndarray[tuple[int], np.dtype[np.float64]]


def _costs(
    jobs: pl.DataFrame,
    figures: Mapping[str, Figures],
    observed: Mapping[str, Figures],
    options: ResolvedOptions,
    limit: float | None,
) -> tuple[Vector, Vector, Vector, float]:
    """When jobs began and ended, what each costs, and how much of that there is in a second.

    Under a limit these are bytes of flushes and compactions; else thread seconds of compactions.
    """
    kinds = (COMPACTION,) if limit is None else (COMPACTION, FLUSH)
    rows = jobs.filter(pl.col("kind").is_in(kinds)).with_columns(took=micros_taken())
    compacted = _factors("output_bytes", figures, observed)
    flushed = _factors("flush_bytes", figures, observed)
    factor = np.array(
        [
            (compacted if kind == COMPACTION else flushed).get(name, 1.0)
            for kind, name in rows.select("kind", "column_family").iter_rows()
        ]
    )
    ended = rows["finished_at"].to_physical().to_numpy() / MICROS
    seconds = rows["took"].to_numpy() / MICROS
    cost = seconds if limit is None else rows["output_bytes"].fill_null(0).to_numpy().astype(float)
    capacity = float(compaction_threads(options.database)) if limit is None else limit
    return ended - seconds, ended, cost * factor, capacity


def _busiest(began: Vector, ended: Vector, cost: Vector, stretch: float) -> float:
    """The most cost a second in any of the stretches, each of which begins with a job."""
    length = np.maximum(ended - began, 1e-6)
    most = 0.0
    for start in began[:: 1 + len(began) // MOST_STRETCHES]:
        shared = np.clip(np.minimum(ended, start + stretch) - np.maximum(began, start), 0.0, None)
        most = max(most, float((cost * shared / length).sum()))
    return most / stretch


def _gathering(
    jobs: pl.DataFrame, figures: Mapping[str, Figures], observed: Mapping[str, Figures], options: ResolvedOptions
) -> Iterator[tuple[str, float, float]]:
    """By family: files that start a compaction of level 0, and those that at most come while the longest one runs."""
    flushes = _factors("flushes", figures, observed)
    for name, values in options.families.items():
        own = jobs.filter(column_family=name)
        came = np.sort(own.filter(pl.col("kind") == FLUSH)["finished_at"].to_physical().to_numpy() / MICROS)
        level0 = own.filter(pl.col("kind") == COMPACTION, pl.col("input_levels").list.contains(0))
        if not len(came) or not level0.height or name not in figures:
            continue
        now, before = figures[name], observed[name]
        size = (now.output_bytes / now.compactions if now.compactions else 0.0) / (
            before.output_bytes / before.compactions
        )
        longest = float(level0["micros"].fill_null(0).max() or 0) / MICROS * size  # type: ignore[arg-type]
        most = max(np.searchsorted(came, came + longest, side="right") - np.arange(len(came)))
        yield name, float(values.get("level0_file_num_compaction_trigger", "4")), float(most) * flushes.get(name, 1.0)


def _factors(metric: str, figures: Mapping[str, Figures], observed: Mapping[str, Figures]) -> dict[str, float]:
    """How many times as much of a metric each family has as the log shows."""
    return {
        name: getattr(one, metric) / before
        for name, one in figures.items()
        if name in observed and (before := getattr(observed[name], metric))
    }
