"""Evaluation: candidates replayed with the workload of a log, and what the log would have shown under them.

The replays are put together exactly as `lsmlens predict` does it, so that both say the same of the same options.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_catalogue import COMPACT_ON_DELETION, find_option
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.option_values import fields_of
from lsmlens.tuners.predictions.anchor import Anchor, anchor_from
from lsmlens.tuners.predictions.prediction import OptionsPrediction, Predicted, prediction_of
from lsmlens.tuners.predictions.refinement import refined, variant_of
from lsmlens.tuners.predictions.replays import Replayed, Variant, replay_all, replayed
from lsmlens.tuners.replays.measurement import Measurement, TrialFailure
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.search.bounds import memtable_bytes
from lsmlens.tuners.search.scores import Scores
from lsmlens.tuners.workloads.document import Workload

Results = Sequence[Measurement | TrialFailure]


def not_taken(options: OptionSet, present: OptionSet, result: Measurement) -> str | None:
    """An option that these change and the replay's RocksDB did not take; None where it took all.

    One that it takes, but writes into no OPTIONS file, counts as taken.
    """
    effective = result.options
    sections = (effective.database, *effective.families.values(), *effective.tables.values())
    for one in options.differences(present):
        known = find_option(one.option)
        is_unwritten = known is not None and known.is_unwritten(result.rocksdb_version)
        if one.option == COMPACT_ON_DELETION:
            is_unwritten = fields_of(one.value or "{}").get("trigger", "0") == "0"
        if not is_unwritten and not any(one.option in section for section in sections):
            return f"the RocksDB {result.rocksdb_version} of the replays does not take {one.option}"
    return None


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
    """Replays option sets with the workload learned from a run."""

    fitted: FittedWorkload
    present: OptionSet
    replayer: Replayer

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
        return replayed(results, variants)

    def reference(self, variants: Sequence[Variant]) -> Reference:
        """The present options under these variants. Raises InputError where no replay of them reached its end."""
        (results,) = self._replays(variants, [self.present])
        own = replayed(results, variants)
        anchor = anchor_from(self.fitted, self.present, self.replayer.engine, variants, own)
        singles = tuple(
            anchor_from(self.fitted, self.present, self.replayer.engine, [variant], [one])
            if isinstance(one, Replayed)
            else None
            for variant, one in zip(variants, own, strict=True)
        )
        return Reference(tuple(variants), anchor, singles, tuple(results))

    def evaluate(self, reference: Reference, options: Sequence[OptionSet]) -> list[Evaluated]:
        """What each option set comes to, in their order. Raises InputError for one that cannot stand."""
        every = self._replays(reference.variants, options)
        return [self._evaluated(reference, one, results) for one, results in zip(options, every, strict=True)]

    def own_scores(self, reference: Reference) -> Scores:
        """The scores of the present options in the very replays that are the reference."""
        (own,) = self.evaluate(reference, [self.present])
        assert own.scores is not None
        return own.scores

    def _evaluated(self, reference: Reference, options: OptionSet, results: Results) -> Evaluated:
        found = replayed(results, reference.variants)
        # the anchor holds just those variants whose replay under the present options ended
        common = [one for one, single in zip(found, reference.singles, strict=True) if single is not None]
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
            for single, one in zip(reference.singles, found, strict=True)
        )
        predicted: Predicted = prediction.predicted
        value, low, high = (
            Scores.of(one, cpu, memory, space, **prediction.reads.named(end))
            for end, one in (("value", predicted.value), ("low", predicted.low), ("high", predicted.high))
        )
        return Evaluated(options, prediction, value, low, high, cases, None, seconds, tuple(results))

    def _case(
        self, anchor: Anchor, options: OptionSet, result: Replayed | TrialFailure, memory: float
    ) -> Scores | None:
        prediction = prediction_of(anchor, options, [result])
        if prediction.predicted is None:
            return None
        return Scores.of(prediction.predicted.value, 0.0, memory, 0.0, **prediction.reads.named())

    def _replays(self, variants: Sequence[Variant], options: Sequence[OptionSet]) -> list[Results]:
        return [*replay_all(variants, options, self.fitted.evidence.run, self.replayer)]
