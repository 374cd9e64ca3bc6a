"""The replays a prediction rests on: every variant of the workload under every set of options."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.measures.sorted_runs import SortedRuns
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.engines.read_counts import ReadCounts
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.figures import Figures, by_family
from lsmlens.tuners.replays.measurement import Measurement, TrialFailure
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.replays.timed_compactions import SecondsPerByte
from lsmlens.tuners.replays.trial import Trial
from lsmlens.tuners.workloads.document import Transactions, Workload
from lsmlens.tuners.workloads.generator import DeclaredStream

# A settled replay's tables hardly depend on how operations are batched, and small batches cost a tenth of its time.
SETTLED_BATCHES = Transactions()
# What a Get looks into is known from so many, and each costs as much as several writes.
MOST_READS = 10_000
# Where a family flushes once or twice, its end says too little to correct for it.
LEAST_FACTOR, MOST_FACTOR = 0.75, 1.35

Replay = Callable[[Sequence["Variant"]], list["Replayed | TrialFailure"]]


@dataclass(frozen=True, slots=True)
class Variant:
    """One workload that explains the log, the scale and the seed it is replayed with.

    `tails` are the operations, by family, to be expected in the log's memtables at its end; `compaction_seconds`
    as in `Trial`.
    """

    workload: Workload
    scale: float
    seed: int
    tails: Mapping[str, float] = field(default_factory=dict)
    compaction_seconds: Mapping[str, SecondsPerByte] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What one replay came to, in the workload's own units: figures, puts per flush, sorted runs; and reads.

    A log ends where it ends: the last memtables are not in it, nor those of a replay. So that figures do not depend on
    where that is, they are those of the flushes to be expected, half a memtable short of all operations.
    """

    families: Mapping[str, Figures]
    puts_per_flush: Mapping[str, float]
    notes: tuple[str, ...]
    sorted_runs: Mapping[str, SortedRuns] = field(default_factory=dict)
    reads: ReadCounts = field(default_factory=ReadCounts)

    @classmethod
    def of(cls, measurement: Measurement, tails: Mapping[str, float] | None = None) -> "Replayed":
        """What a measured replay came to; `tails` as in `Variant`."""
        whole = measurement.multiplied()
        families, puts = by_family(whole.families), {}
        for view in whole.flushes:
            if not view.flushes or not view.input_entries:
                continue
            per_flush = view.input_entries / view.flushes
            puts[view.name] = (view.input_entries - view.input_deletes) / view.flushes
            if tails is not None:
                left = whole.memtable_entries.get(view.name, 0) + tails.get(view.name, 0.0)
                expected = (view.input_entries + left) / per_flush - 0.5
                factor = min(max(expected / view.flushes, LEAST_FACTOR), MOST_FACTOR)
                families[view.name] = families[view.name].times(factor)
        return cls(families, puts, measurement.notes, measurement.sorted_runs, measurement.reads)


def replay_all(
    variants: Sequence[Variant], options: Sequence[OptionSet], run: RunAnalysis, replayer: Replayer
) -> list[list[Measurement | TrialFailure]]:
    """For each set of options the replays of all variants of a run's workload, in their order.

    The longest replays are begun first. Raises InputError for options that cannot stand together.
    """
    places = [(place, number) for number in range(len(variants)) for place in range(len(options))]
    places.sort(key=lambda one: variants[one[1]].scale)
    folder = replayer.settled_folder(largest_bytes(run) / min((one.scale for one in variants), default=1.0))
    trials = [trial_of(variants[number], options[place], replayer.engine, folder) for place, number in places]
    results = dict(zip(places, replayer.results(trials), strict=True))
    return [[results[place, number] for number in range(len(variants))] for place in range(len(options))]


def largest_bytes(run: RunAnalysis) -> float:
    """What a database of the run's workload may hold at once: twice what is known of it, for compactions copy."""
    held = 0.0 if run.counters is None else float(run.counters.db_used_bytes or 0)
    return 2 * max(held, run.total.flush_bytes)


def replayed(
    results: Sequence[Measurement | TrialFailure], variants: Sequence[Variant]
) -> list[Replayed | TrialFailure]:
    """What replays of these variants came to, as predictions take it."""
    return [
        Replayed.of(one, variant.tails) if isinstance(one, Measurement) else one
        for one, variant in zip(results, variants, strict=True)
    ]


def trial_of(variant: Variant, options: OptionSet, engine: EngineChoice, work_dir: Path | None) -> Trial:
    """The replay of a variant under a set of options. Raises InputError for options that cannot stand together."""
    stream = DeclaredStream(variant.workload, in_batches=SETTLED_BATCHES, most_reads=MOST_READS)
    scaled = options if variant.scale == 1 else options.scaled(variant.scale)
    return Trial(
        stream=stream,
        options=scaled.resolve(stream.families, engine.version),
        engine=engine,
        scale=variant.scale,
        seed=variant.seed,
        compaction_seconds=variant.compaction_seconds,
        work_dir=work_dir,
    )


def refuse_if_all_failed(results: Sequence[Replayed | TrialFailure], name: str) -> None:
    """Raises InputError with the first reason if no replay of the log's own options reached its end."""
    failures = [one for one in results if isinstance(one, TrialFailure)]
    if len(failures) == len(results):
        raise InputError(
            name,
            f"no replay of the fitted workload finished: {failures[0].reason}",
            "a larger --scale needs less memory and disk; --engine rocksdict needs no library",
        )
