"""Refinement: a family that its replay does not bring out is given another structure, if one comes nearer."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.estimation.structures import rounds, structures
from lsmlens.tuners.predictions.figures import by_family
from lsmlens.tuners.predictions.refinement import MOST_ROUNDS, refined, tails_of
from lsmlens.tuners.predictions.replays import Replayed, Variant
from lsmlens.tuners.replays.measurement import FailureKind, TrialFailure


class Replays:
    """Replays that show the log's figures times the factors given, one for each replay in turn."""

    def __init__(self, fitted: FittedWorkload, *factors: float | None) -> None:
        self.seen = by_family(fitted.evidence.run.families)
        self.factors = list(factors)
        self.asked: list[int] = []
        self.variants: list[Variant] = []

    def __call__(self, variants: Sequence[Variant]) -> list[Replayed | TrialFailure]:
        self.asked.append(len(variants))
        self.variants += variants
        return [self._one(self.factors.pop(0)) for _ in variants]

    def _one(self, factor: float | None) -> Replayed | TrialFailure:
        if factor is None:
            return TrialFailure(1, FailureKind.CRASHED, "killed")
        return Replayed({name: one.times(factor) for name, one in self.seen.items()}, {}, ())


def test_a_fit_that_does_what_the_log_shows_stays(learned: FittedWorkload) -> None:
    replays = Replays(learned, 1.05, 1.06)
    assert refined(learned, replays, 4.0) is learned
    assert replays.asked == [2]


def test_another_structure_is_taken_where_it_comes_nearer(learned: FittedWorkload) -> None:
    tried = rounds(learned.families)[:MOST_ROUNDS]
    replays = Replays(learned, 1.5, 1.6, *[1.02] * len(tried))
    found = refined(learned, replays, 4.0)
    assert replays.asked == [2, len(tried)]
    assert not found.compaction_seconds
    open_ones = [pair for pair in zip(learned.families, found.families, strict=True) if structures(pair[0])]
    assert open_ones
    for before, after in open_ones:
        assert after.variation == structures(before)[0]
        assert after.evidence is before.evidence


def test_bytes_at_the_wrong_levels_call_for_another_structure(learned: FittedWorkload) -> None:
    tried = rounds(learned.families)[:MOST_ROUNDS]
    replays = Replays(learned, 1.0, 1.0, *[1.0] * len(tried))
    right = replays.seen
    replays.seen = {name: replace(one, level0_output_bytes=0.5 * one.output_bytes) for name, one in right.items()}
    found = refined(learned, replays, 4.0)
    assert any(one.level0_output_bytes for one in right.values())
    assert replays.asked == [2, len(tried)]
    assert found.families == learned.families  # no structure put them right, so none was taken


@pytest.mark.parametrize("lasting", [1.02, 1.05])
def test_compactions_last_unless_that_is_farther(lasting: float, learned: FittedWorkload) -> None:
    replays = Replays(learned, 1.05, lasting)
    found = refined(learned, replays, 4.0)
    assert [dict(one.compaction_seconds) for one in replays.variants] == [{}, found.compaction_seconds]
    assert found.compaction_seconds == learned.timed().compaction_seconds
    assert found.families == learned.families


def test_structures_are_tried_with_compactions_that_last(learned: FittedWorkload) -> None:
    tried = rounds(learned.families)[:MOST_ROUNDS]
    replays = Replays(learned, 2.0, 1.3, *[1.02] * len(tried))
    found = refined(learned, replays, 4.0)
    assert found.compaction_seconds
    assert found.families != learned.families
    assert all(one.compaction_seconds for one in replays.variants[1:])


def test_one_that_is_hardly_nearer_is_not(learned: FittedWorkload) -> None:
    replays = Replays(learned, 1.5, 1.505, *[1.4] * MOST_ROUNDS)
    assert refined(learned, replays, 4.0) is learned


def test_replays_that_fail_change_nothing(learned: FittedWorkload) -> None:
    assert refined(learned, Replays(learned, None, None), 4.0) is learned
    assert refined(learned, Replays(learned, 1.5, None, *[None] * MOST_ROUNDS), 4.0) is learned


def test_half_a_flush_is_left_in_memory(learned: FittedWorkload) -> None:
    tails = tails_of(learned)
    for one in learned.families:
        flushed = [interval.operations for interval in one.evidence.intervals if interval.flush is not None]
        assert tails[one.column_family.name] == pytest.approx(sum(flushed) / len(flushed) / 2)
