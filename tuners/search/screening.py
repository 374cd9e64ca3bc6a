"""Screening: many candidates, each replayed once with the best fit of the workload, small.

In order: the presets of Ceph's releases and candidates that were given; what the findings advise and shapes that have
helped elsewhere; draws, until the trials or their share of the budget are spent; at last the best is made simpler: what
it changes without effect is left as it is.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.search import seeds as seeding
from lsmlens.tuners.search.bounds import Bounds
from lsmlens.tuners.search.evaluation import Evaluated, Evaluator, Reference
from lsmlens.tuners.search.request import Budget, Request
from lsmlens.tuners.search.scores import Scores, cost
from lsmlens.tuners.search.space import Space
from lsmlens.tuners.search.study import Study, Tried

# Of the budget, until when candidates are drawn, and until when the best is made simpler.
DRAWING_SHARE, SIMPLIFYING_SHARE = 0.5, 0.65
# A choice goes back to the present one if the cost does not rise by more than this; a column's, that needs a reshard,
# may cost more.
TOLERANCE, COLUMN_TOLERANCE = 0.004, 0.012

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Fixed:
    """An option set that is tried as it is: its cost, or why it has none."""

    options: OptionSet
    origin: str
    cost: float | None
    problem: str | None


@dataclass(slots=True)
class Screening:
    """The screening of one study. `own` are the scores of the present options, from `reference`."""

    study: Study
    space: Space
    bounds: Bounds
    evaluator: Evaluator
    reference: Reference
    own: Scores
    request: Request
    budget: Budget
    say: Say
    seconds: list[float] = field(default_factory=list)

    def fixed(self) -> list[Fixed]:
        """The given candidates and the presets, replayed or refused."""
        is_ceph = self.evaluator.fitted.evidence.run.run.ceph_version is not None
        every = [(one, "given") for one in self.request.candidates]
        every += [(one, "a preset") for one in (seeding.presets() if is_ceph else ())]
        problems = {one.name: self.bounds.problem(one) for one, _ in every}
        fitting = [one for one, _ in every if problems[one.name] is None]
        costs: dict[str, float] = {}
        for one, result in zip(fitting, self._evaluate(fitting, "presets and given candidates"), strict=True):
            if result is None or result.scores is None:
                problems[one.name] = "the budget was spent" if result is None else result.problem
            else:
                costs[one.name] = cost(result.scores, self.own, self.request.objective)
        return [Fixed(one, origin, costs.get(one.name), problems[one.name]) for one, origin in every]

    def search(self) -> None:
        """Seeds, draws, and the simpler best."""
        proposed = [
            self.study.propose(name, origin, choices, self._problem)
            for name, origin, choices in seeding.seeds(self.evaluator.fitted.evidence.run, self.space)
        ]
        waiting = [one for one in proposed if one.is_waiting]
        while waiting and self._goes_on(DRAWING_SHARE):
            self._try(waiting[: self.request.batch])
            waiting = waiting[self.request.batch :]
        while self._goes_on(DRAWING_SHARE):
            batch = self.study.next_batch(self.request.batch, self._problem)
            if not batch:
                break
            self._try(batch)
        self._simplify()

    def _goes_on(self, share: float) -> bool:
        trials = self.request.trials
        done = sum(one.scores is not None and one.origin != SIMPLER for one in self.study.tried)
        return self.budget.has(share, time.monotonic()) and (trials is None or done < trials)

    def _problem(self, one: Tried) -> str | None:
        return self.bounds.problem(self.space.candidate(one.choices, one.name))

    def _simplify(self) -> None:
        """Put each change of the best back alone, then all together whose absence does no harm."""
        best = min((one for one in self.study.tried if one.cost is not None), key=_cost, default=None)
        present = self.space.present
        if best is None or best.origin == SIMPLER:
            return
        changed = [one for one in self.space.dimensions if best.choices[one.name] != present[one.name]]
        alone = {
            one.name: self.study.propose(
                f"{best.name} without {one.name}",
                SIMPLER,
                {**best.choices, one.name: present[one.name]},
                self._problem,
            )
            for one in changed
        }
        self._try_all([one for one in alone.values() if one.is_waiting])
        found = {one.number: one for one in self.study.tried}
        idle = {}
        for one in changed:
            without = found[alone[one.name].number].cost
            tolerance = TOLERANCE if one.column is None else COLUMN_TOLERANCE
            if without is not None and without <= _cost(best) * (1 + tolerance):
                idle[one.name] = present[one.name]
        if len(idle) > 1:
            simpler = self.study.propose(f"{best.name}, simpler", SIMPLER, {**best.choices, **idle}, self._problem)
            self._try_all([simpler] if simpler.is_waiting else [])

    def _try_all(self, some: Sequence[Tried]) -> None:
        while some and self.budget.has(SIMPLIFYING_SHARE, time.monotonic()):
            self._try(some[: self.request.batch])
            some = some[self.request.batch :]

    def _try(self, batch: Sequence[Tried]) -> None:
        best = min((one.cost for one in self.study.tried if one.cost is not None), default=1.0)
        options = [self.space.candidate(one.choices, one.name) for one in batch]
        words = f"screening {', '.join(one.name for one in batch)}; the best so far costs {best:.3f} of the current"
        self.say(words)
        for one, result in zip(batch, self.evaluator.evaluate(self.reference, options), strict=True):
            if result.scores is None:
                self.study.refuse(one, result.problem or "no scores")
            else:
                memory = result.scores.memory_bytes / self.own.memory_bytes if self.own.memory_bytes else 1.0
                self.study.record(one, result.scores, cost(result.scores, self.own, self.request.objective), memory)
                self.seconds.append(result.seconds)

    def _evaluate(self, options: Sequence[OptionSet], what: str) -> list[Evaluated | None]:
        found: list[Evaluated | None] = []
        while len(found) < len(options) and self.budget.has(DRAWING_SHARE, time.monotonic()):
            some = options[len(found) : len(found) + self.request.batch]
            self.say(f"screening {what}: {', '.join(one.name for one in some)}")
            found += self.evaluator.evaluate(self.reference, some)
        return [*found, *[None] * (len(options) - len(found))]


SIMPLER = "simpler"


def _cost(one: Tried) -> float:
    return float("inf") if one.cost is None else one.cost


def ranked(
    study: Study, space: Space, fixed: Sequence[Fixed], present: Mapping[str, str]
) -> list[tuple[str, str, OptionSet, float]]:
    """All that has a cost, cheapest first: name, origin, options, cost; of equal ones what changes least first."""
    found = []
    for one in study.tried:
        if one.cost is not None:
            changed = [name for name, value in one.choices.items() if value != present[name]]
            if changed:
                columns = sum("." in name for name in changed)
                order = (round(one.cost, 3), columns, len(changed), one.number)
                found.append((order, (one.name, one.origin, space.candidate(one.choices, one.name), one.cost)))
    found += [
        ((round(one.cost, 3), 0, 99, place), (one.options.name, one.origin, one.options, one.cost))
        for place, one in enumerate(fixed)
        if one.cost is not None
    ]
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]
