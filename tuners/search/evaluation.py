"""Evaluation: candidates replayed with the workload of a log, and what the log would have shown under them.

The replays are put together exactly as `lsmlens predict` does it, so that both say the same of the same options.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.anchor import Anchor, anchor_from
from lsmlens.tuners.predictions.prediction import OptionsPrediction, Predicted, prediction_of
from lsmlens.tuners.predictions.refinement import refined, variant_of
from lsmlens.tuners.predictions.replays import Replayed, Variant, trial_of
from lsmlens.tuners.predictions.scratch import scratch_folder
from lsmlens.tuners.replays.measurement import Measurement, TrialFailure
from lsmlens.tuners.replays.runner import Progress, run_trials
from lsmlens.tuners.replays.trial import Trial
from lsmlens.tuners.search.bounds import memtable_bytes
from lsmlens.tuners.search.ledger import Ledger, key_of, key_of_workload
from lsmlens.tuners.search.scores import Scores
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.generator import DeclaredStream

Results = Sequence[Measurement | TrialFailure]


class Evaluated(NamedTuple):
    """One option set under all variants of the workload.

    `scores` are of all variants together, `low` and `high` the ends of the 90 % interval; `cases` are of each variant
    alone, None where its replay failed. Where all did, there are none of these but `problem`. `seconds` is what the
    replays took, one after another.
    """

    options: OptionSet
    prediction: OptionsPrediction
    scores: Scores | None
    low: Scores | None
    high: Scores | None
    cases: tuple[Scores | None, ...]
    problem: str | None
    seconds: float
    results: tuple[Measurement | TrialFailure, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """The run's own options under some variants of the workload: what all else is measured against."""

    variants: tuple[Variant, ...]
    anchor: Anchor
    singles: tuple[Anchor | None, ...]
    results: tuple[Measurement | TrialFailure, ...]


@dataclass(slots=True)
class Evaluator:
    """Replays option sets with the workload learned from a run. `executor`, `jobs` as in `run_trials`.

    `work_dir` is where databases live; None is memory where it has room, else the disk.
    """

    fitted: FittedWorkload
    present: OptionSet
    engine: EngineChoice
    ledger: Ledger
    jobs: int | None = None
    executor: Executor | None = None
    work_dir: Path | None = None
    on_progress: Callable[[Progress], None] | None = None

    @property
    def families(self) -> tuple[str, ...]:
        """The column families of the workload."""
        return self.fitted.stream.families

    def variant(self, scale: float, workload: Workload | None = None) -> Variant:
        """The best fit, or another workload with as many operations, at this scale."""
        return variant_of(self.fitted, scale, workload)

    def refine(self, scale: float) -> None:
        """Take other structures for families that do not do what the log shows, as a prediction does."""
        self.fitted = refined(self.fitted, self._under_present, scale)

    def _under_present(self, variants: Sequence[Variant]) -> list[Replayed | TrialFailure]:
        (results,) = self._replays(variants, [self.present])
        return _replayed(results, variants)

    def reference(self, variants: Sequence[Variant]) -> Reference:
        """The present options under these variants. Raises InputError where no replay of them reached its end."""
        (results,) = self._replays(variants, [self.present])
        replayed = _replayed(results, variants)
        anchor = anchor_from(self.fitted, self.present, self.engine, variants, replayed)
        singles = tuple(
            anchor_from(self.fitted, self.present, self.engine, [variant], [one]) if isinstance(one, Replayed) else None
            for variant, one in zip(variants, replayed, strict=True)
        )
        return Reference(tuple(variants), anchor, singles, tuple(results))

    def evaluate(self, reference: Reference, options: Sequence[OptionSet]) -> list[Evaluated]:
        """What each option set comes to, in their order. Raises InputError for one that cannot stand."""
        every = self._replays(reference.variants, options)
        return [self._evaluated(reference, one, results) for one, results in zip(options, every, strict=True)]

    def _evaluated(self, reference: Reference, options: OptionSet, results: Results) -> Evaluated:
        replayed = _replayed(results, reference.variants)
        # the anchor holds just those variants whose replay under the present options ended
        common = [one for one, single in zip(replayed, reference.singles, strict=True) if single is not None]
        prediction = prediction_of(reference.anchor, options, common)
        measured = [one for one in results if isinstance(one, Measurement)]
        seconds = sum(one.wall_seconds + one.generation_seconds for one in measured)
        if prediction.predicted is None:
            reason = next((one.reason for one in results if isinstance(one, TrialFailure)), "no reason is known")
            problem = f"the replay failed: {reason}"
            return Evaluated(options, prediction, None, None, None, (), problem, seconds, tuple(results))
        memory = memtable_bytes(options, self.families)
        cpu = fmean(one.cpu_seconds * one.scale for one in measured)
        space = max(one.peak_space_bytes * one.scale for one in measured)
        cases = tuple(
            None if single is None else self._case(single, options, one, memory)
            for single, one in zip(reference.singles, replayed, strict=True)
        )
        predicted: Predicted = prediction.predicted
        value, low, high = (
            Scores.of(one, cpu, memory, space) for one in (predicted.value, predicted.low, predicted.high)
        )
        return Evaluated(options, prediction, value, low, high, cases, None, seconds, tuple(results))

    def _case(
        self, anchor: Anchor, options: OptionSet, replayed: Replayed | TrialFailure, memory: float
    ) -> Scores | None:
        predicted = prediction_of(anchor, options, [replayed]).predicted
        return None if predicted is None else Scores.of(predicted.value, 0.0, memory, 0.0)

    def _replays(
        self, variants: Sequence[Variant], options: Sequence[OptionSet]
    ) -> list[list[Measurement | TrialFailure]]:
        """For each option set the results of all variants; the longest are begun first."""
        places = [(place, number) for number in range(len(variants)) for place in range(len(options))]
        places.sort(key=lambda one: variants[one[1]].scale)
        folder = self.work_dir
        if folder is None and self.executor is None:
            folder = scratch_folder(self.fitted.evidence.run, (one.scale for one in variants), self.jobs)
        trials = [trial_of(variants[number], options[place], self.engine, folder) for place, number in places]
        results = dict(zip(places, self.run(trials), strict=True))
        return [[results[place, number] for number in range(len(variants))] for place in range(len(options))]

    def run(self, trials: Sequence[Trial], jobs: int | None = None) -> list[Measurement | TrialFailure]:
        """The results of the trials, in order: those that the ledger knows, and replays of the others, kept there.

        `jobs` is how many at once, by default those of the evaluator.
        """
        workloads: dict[int, str] = {}
        keys = [key_of(one, _workload_key(one, workloads)) for one in trials]
        known = {key: kept for key in dict.fromkeys(keys) if (kept := self.ledger.replay(key)) is not None}
        results: dict[str, Measurement | TrialFailure] = dict(known)
        missing = [place for place, key in enumerate(keys) if key not in results and key not in keys[:place]]

        def keep(place: int, result: Measurement | TrialFailure) -> None:
            if isinstance(result, Measurement):
                self.ledger.keep_replay(keys[missing[place]], result)

        some = [trials[place] for place in missing]
        made = run_trials(some, jobs or self.jobs, self.executor, self.on_progress, keep)
        results |= {keys[place]: result for place, result in zip(missing, made, strict=True)}
        return [results[key] for key in keys]


def _workload_key(trial: Trial, known: dict[int, str]) -> str:
    assert isinstance(trial.stream, DeclaredStream)
    place = id(trial.stream.workload)
    if place not in known:
        known[place] = key_of_workload(trial.stream)
    return known[place]


def _replayed(results: Results, variants: Sequence[Variant]) -> list[Replayed | TrialFailure]:
    return [
        Replayed.of(one, variant.tails) if isinstance(one, Measurement) else one
        for one, variant in zip(results, variants, strict=True)
    ]
