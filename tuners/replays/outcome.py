"""Replays of one workload under several sets of options: the trials they come to, and what each set came to.

An outcome's figures are means over the seeds, beside how far they spread.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, TypeVar

from lsmlens.analyzer.measures.amplification import FamilyWrites, LevelWrites
from lsmlens.analyzer.measures.compaction_statistics import CompactionStatistics
from lsmlens.analyzer.measures.flushes import FlushView
from lsmlens.analyzer.options.sharding import DEFAULT_FAMILY
from lsmlens.analyzer.units import MIB
from lsmlens.tuners.engines.read_counts import ReadCounts
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.replays.measurement import Latencies, Measurement, Mode, TrialFailure
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.replays.trial import Trial
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.stream import Stream


@dataclass(frozen=True, slots=True)
class OutcomeFigures:
    """Means over the seeds; counts are rounded to whole ones. Names and units are those of `Measurement`."""

    statistics: CompactionStatistics
    families: tuple[FamilyWrites, ...]
    levels: tuple[LevelWrites, ...]
    total: FamilyWrites
    flushes: tuple[FlushView, ...]
    total_write_amplification: float | None
    stall_seconds: float | None
    stall_lines: Mapping[tuple[str, str, str], float]
    preloaded_records: int
    records: int
    user_bytes: int
    wal_bytes: int | None
    memtable_entries: int
    space_bytes: int
    peak_space_bytes: int
    wall_seconds: float
    cpu_seconds: float
    memory_bytes: int
    peak_memory_bytes: int
    latencies: Latencies | None
    sorted_runs: float | None
    reads: ReadCounts


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over the seeds; the standard deviation is None for one."""

    mean: float
    low: float
    high: float
    standard_deviation: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one set of options came to. `figures` and `spreads` are None and empty where no run reached its end.

    `figures` are in the workload's own units, `as_replayed` as they were measured at `scale` (see
    `Measurement.multiplied`); `measurements` are the single runs, as replayed. `quality` says what to know before
    believing the figures.
    """

    options: ResolvedOptions
    engine: str
    rocksdb_version: str
    library: str | None
    scale: float
    mode: Mode
    seeds: tuple[int, ...]
    figures: OutcomeFigures | None
    as_replayed: OutcomeFigures | None
    spreads: Mapping[str, Spread]
    measurements: tuple[Measurement, ...]
    failures: tuple[TrialFailure, ...]
    quality: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the options."""
        return self.options.name


def outcome_of(
    asked: ResolvedOptions, mode: Mode, scale: float, results: Sequence[Measurement | TrialFailure]
) -> Outcome:
    """The outcome that the runs of one set of options, asked for as `asked`, came to."""
    measured = tuple(one for one in results if isinstance(one, Measurement))
    failures = tuple(one for one in results if isinstance(one, TrialFailure))
    multiplied = [one.multiplied() for one in measured]
    first = measured[0] if measured else None
    return Outcome(
        options=first.options if first else asked,
        engine=first.engine if first else "",
        rocksdb_version=first.rocksdb_version if first else asked.rocksdb_version,
        library=first.library if first else None,
        scale=scale,
        mode=mode,
        seeds=tuple(one.seed for one in measured),
        figures=_figures(multiplied) if multiplied else None,
        as_replayed=_figures(measured) if measured else None,
        spreads=_spreads(multiplied),
        measurements=measured,
        failures=failures,
        quality=_quality(measured, failures),
    )


def _quality(measured: Sequence[Measurement], failures: Sequence[TrialFailure]) -> tuple[str, ...]:
    said = [f"run with seed {one.seed} has no figures: {one.kind}: {one.reason}" for one in failures]
    told = Counter(note for one in measured for note in dict.fromkeys(one.notes))
    for note, times in told.items():
        said.append(note if times == len(measured) else f"{note} ({times} of {len(measured)} runs)")
    return tuple(said)


def _figures(measured: Sequence[Measurement]) -> OutcomeFigures:
    statistics = _mean([one.statistics for one in measured])
    records_in, records_out = statistics.total_input_records, statistics.total_output_records
    weighed = replace(statistics, output_input_ratio_of_sums=records_out / records_in if records_in else None)
    lines = Counter[tuple[str, str, str]]()
    for one in measured:
        lines.update(one.stalls.lines)
    return OutcomeFigures(
        statistics=weighed if len(measured) > 1 else statistics,
        families=_means_by("name", [one.families for one in measured]),
        levels=_means_by("level", [one.levels for one in measured]),
        total=_mean([one.total for one in measured]),
        flushes=_means_by("name", [one.flushes for one in measured]),
        total_write_amplification=_fmean([one.total_write_amplification for one in measured]),
        stall_seconds=_fmean([one.stalls.seconds for one in measured]),
        stall_lines={place: count / len(measured) for place, count in lines.items()},
        preloaded_records=round(fmean(one.preloaded_records for one in measured)),
        records=round(fmean(one.records for one in measured)),
        user_bytes=round(fmean(one.user_bytes for one in measured)),
        wal_bytes=_whole_mean([one.wal_bytes for one in measured]),
        memtable_entries=round(fmean(sum(one.memtable_entries.values()) for one in measured)),
        space_bytes=round(fmean(one.space_bytes for one in measured)),
        peak_space_bytes=round(fmean(one.peak_space_bytes for one in measured)),
        wall_seconds=fmean(one.wall_seconds for one in measured),
        cpu_seconds=fmean(one.cpu_seconds for one in measured),
        memory_bytes=round(fmean(one.peak_memory_bytes - one.memory_before_open_bytes for one in measured)),
        peak_memory_bytes=round(fmean(one.peak_memory_bytes for one in measured)),
        latencies=_mean_latencies([one.latencies for one in measured if one.latencies is not None]),
        sorted_runs=_fmean([one.mean_sorted_runs for one in measured]),
        reads=sum((one.reads for one in measured), ReadCounts()).times(1 / len(measured)),
    )


def _spreads(measured: Sequence[Measurement]) -> dict[str, Spread]:
    figures: dict[str, list[float | None]] = {
        "compactions": [one.statistics.compaction_events for one in measured],
        "flush_mib": [one.total.flush_bytes / MIB for one in measured],
        "total_output_size_mib": [one.statistics.total_output_size_mib for one in measured],
        "total_input_records": [one.statistics.total_input_records for one in measured],
        "total_output_records": [one.statistics.total_output_records for one in measured],
        "output_input_ratio_of_sums": [one.statistics.output_input_ratio_of_sums for one in measured],
        "write_amplification": [one.total.write_amplification for one in measured],
        "stall_seconds": [one.stalls.seconds for one in measured],
        "cpu_seconds": [one.cpu_seconds for one in measured],
        "sorted_runs": [one.mean_sorted_runs for one in measured],
        "blocks_per_get": [one.reads.blocks_per_get for one in measured],
    }
    for percentile in (50.0, 99.0, 99.9):
        values = [one.latencies.response_micros[percentile] if one.latencies else None for one in measured]
        figures[f"p{percentile:g}_response_micros"] = list(values)
    known = {name: [value for value in values if value is not None] for name, values in figures.items()}
    return {
        name: Spread(fmean(values), min(values), max(values), stdev(values) if len(values) > 1 else None)
        for name, values in known.items()
        if values
    }


def _mean_latencies(latencies: Sequence[Latencies]) -> Latencies | None:
    """Means of the seeds' percentiles, which are none of their writes taken together."""
    if not latencies:
        return None
    return Latencies(
        writes=round(fmean(one.writes for one in latencies)),
        response_micros={
            percentile: fmean(one.response_micros[percentile] for one in latencies)
            for percentile in latencies[0].response_micros
        },
        service_micros={
            percentile: fmean(one.service_micros[percentile] for one in latencies)
            for percentile in latencies[0].service_micros
        },
        mean_response_micros=fmean(one.mean_response_micros for one in latencies),
    )


SumsT = TypeVar("SumsT", CompactionStatistics, FamilyWrites, LevelWrites, FlushView)


def _means_by(key: str, groups: Sequence[Sequence[SumsT]]) -> tuple[SumsT, ...]:
    """The mean of those that share a key; one that a seed lacks counts as nothing there."""
    found: dict[Any, list[SumsT]] = {}
    for group in groups:
        for one in group:
            found.setdefault(getattr(one, key), []).append(one)
    return tuple(_mean(found[name], len(groups)) for name in sorted(found))


def _mean(sums: Sequence[SumsT], count: int | None = None) -> SumsT:
    """Field by field; whole numbers stay whole, names stay."""
    count = count or len(sums)
    changed: dict[str, Any] = {}
    for one in fields(sums[0]):
        values = [getattr(each, one.name) for each in sums]
        if isinstance(values[0], Counter):
            added: Counter[Any] = sum(values, Counter())
            changed[one.name] = Counter({name: round(times / count) for name, times in added.items()})
        elif all(isinstance(value, int) for value in values):
            changed[one.name] = values[0] if one.name == "level" else round(sum(values) / count)
        elif not isinstance(values[0], str):
            known = [value for value in values if value is not None]
            changed[one.name] = sum(known) / (count if len(known) == len(values) else len(known)) if known else None
    return replace(sums[0], **changed)


def _fmean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _whole_mean(values: Sequence[int | None]) -> int | None:
    mean = _fmean(values)
    return None if mean is None else round(mean)


@dataclass(frozen=True, slots=True)
class ReplayPlan:
    """What to replay. The names of `options` differ; other fields are those of `Trial`."""

    stream: Stream
    options: tuple[OptionSet, ...]
    mode: Mode = Mode.SETTLED
    scale: float = 1.0
    seeds: tuple[int, ...] = (1,)
    settle_bytes: int = 1 << 20
    pace: float = 1.0
    flush_at_end: bool = False
    keep_log: Path | None = None

    def trials(self, replayer: Replayer) -> list[Trial]:
        """All runs, the options in turn for each seed, so that what else the machine does falls on all alike.

        Options that say how keys are spread over families (Ceph's) get the workload so spread. The LOGs go to a folder
        of each run's own in `keep_log`. Raises InputError for options that do not go together, or not with the
        engine's version.
        """
        first = [self._trial(options, replayer) for options in self.options]
        return [
            replace(
                one,
                seed=seed,
                keep_log=None if self.keep_log is None else self.keep_log / f"{number}-{seed}",
            )
            for seed in self.seeds
            for number, one in enumerate(first, 1)
        ]

    def _trial(self, options: OptionSet, replayer: Replayer) -> Trial:
        stream = _spread(self.stream, options)
        return Trial(
            stream=stream,
            options=options.scaled(self.scale).resolve(stream.families, replayer.engine.version),
            engine=replayer.engine,
            mode=self.mode,
            scale=self.scale,
            settle_bytes=self.settle_bytes,
            pace=self.pace,
            flush_at_end=self.flush_at_end,
            limits=replayer.limits,
            work_dir=replayer.work_dir,
        )


def _spread(stream: Stream, options: OptionSet) -> Stream:
    """A declared workload written to the column families that the options speak of; any other as it is."""
    columns = options.sharding.columns
    has_default_alone = options.families == (DEFAULT_FAMILY,)
    if not isinstance(stream, DeclaredStream) or not (columns or has_default_alone):
        return stream
    return replace(stream, sharding={column.prefix: column.shards for column in columns})


def replay(plan: ReplayPlan, replayer: Replayer) -> tuple[Outcome, ...]:
    """The outcome of each set of options, in their order; every run is made anew."""
    trials = plan.trials(replayer)
    results = replayer.make(trials)
    count = len(plan.options)
    return tuple(
        outcome_of(trials[number].options, plan.mode, plan.scale, results[number::count]) for number in range(count)
    )
