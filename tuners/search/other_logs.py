"""Other logs: what settings cost on logs of other days or OSDs than the one a search is around.

Each log has a workload and options of its own. A candidate is what it changes: on another log the same changes are made
to that log's own options, and replayed with that log's workload, beside its own options. What a candidate costs on all
logs together is the weighed geometric mean of its costs. A log that is held out is replayed at the very end: no choice
rests on it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.anchor import usual_variants
from lsmlens.tuners.search.bounds import Bounds, bounds_of
from lsmlens.tuners.search.evaluation import Evaluated, Evaluator, Reference
from lsmlens.tuners.search.scores import Objective, Scores, cost


class LogCost(NamedTuple):
    """What settings cost on one log, against the options that it ran with.

    `cost_high` is the cost where the prediction's interval ends, `written_bytes` what flushes and compactions write,
    `present_bytes` what they write now. All None where no replay came to its end: `problem` says why.
    """

    log: str
    is_held_out: bool
    weight: float
    cost: float | None
    cost_high: float | None = None
    written_bytes: float | None = None
    present_bytes: float | None = None
    problem: str | None = None


@dataclass(slots=True)
class OtherLog:
    """A log beside the one that is searched around. `weight` is what its cost counts."""

    name: str
    evaluator: Evaluator
    objective: Objective
    memory_bytes: int | None = None
    weight: float = 1.0
    is_held_out: bool = False
    bounds: Bounds = field(init=False)
    scale: float = 1.0
    _screened: tuple[Reference, Scores] | None = None

    def __post_init__(self) -> None:
        run = self.evaluator.fitted.evidence.run
        self.evaluator.present = self.evaluator.present.named(f"current of {self.name}")
        self.bounds = bounds_of(run, self.evaluator.present, self.evaluator.families, self.memory_bytes)

    def screen(self, scale: float, *, refine: bool) -> None:
        """Replay the log's own options, at the scale that candidates will be screened at."""
        self.scale = scale
        if refine:
            self.evaluator.refine(scale)
        reference = self.evaluator.reference([self.evaluator.variant(scale)])
        self._screened = reference, self.evaluator.own_scores(reference)

    def with_changes(self, options: OptionSet, base: OptionSet) -> OptionSet:
        """This log's own options with what others change in `base`."""
        found = self.evaluator.present
        for one in options.differences(base):
            if one.value is not None:
                found = found.changed(one.option, one.value, one.family)
        return found.named(options.name)

    def problem(self, options: OptionSet, base: OptionSet) -> str | None:
        """Why the changes are out on this log; None where they are in."""
        try:
            problem = self.bounds.problem(self.with_changes(options, base))
        except InputError as error:
            problem = str(error)
        return None if problem is None else f"{self.name}: {problem}"

    def costs(self, options: Sequence[OptionSet], base: OptionSet) -> list[LogCost]:
        """What each costs, by one replay at the screening's scale."""
        assert self._screened is not None
        return self._costs(options, base, *self._screened)

    def final_costs(self, options: Sequence[OptionSet], base: OptionSet, draws: int) -> list[LogCost]:
        """What each costs, by replays of several workloads that explain the log."""
        changed = [self.with_changes(one, base) for one in options]
        sets = [self.evaluator.present, *changed]
        reference = self.evaluator.reference(usual_variants(self.evaluator.fitted, sets, draws, self.scale))
        return self._costs(options, base, reference, self.evaluator.own_scores(reference))

    def _costs(self, options: Sequence[OptionSet], base: OptionSet, reference: Reference, own: Scores) -> list[LogCost]:
        changed = [self.with_changes(one, base) for one in options]
        return [self._cost(one, own) for one in self.evaluator.evaluate(reference, changed)]

    def _cost(self, result: Evaluated, own: Scores) -> LogCost:
        scores, high = result.scores, result.high
        if scores is None or high is None:
            return LogCost(self.name, self.is_held_out, self.weight, None, problem=result.problem)
        return LogCost(
            self.name,
            self.is_held_out,
            self.weight,
            cost(scores, own, self.objective),
            cost(high, own, self.objective),
            scores.written_bytes,
            own.written_bytes,
        )


def together(costs: Sequence[tuple[float, float]]) -> float:
    """The weighed geometric mean of costs and their weights."""
    whole = sum(weight for _, weight in costs)
    return math.exp(sum(weight * math.log(one) for one, weight in costs) / whole)
