"""Screening: many candidates, each replayed once with the best fit of the workload, small.

In order: what estimates promise most; the presets of Ceph's releases and candidates that were given, as they are, and
the best of them as far as this space has them, to go on from; more that is promising, and between it what the findings
advise and shapes that have helped elsewhere; draws, until the trials or their share of the budget are spent; at last
the best is made simpler: what it changes without effect is left as it is. What is estimated to be far worse than the
best so far is not replayed.

Candidates to begin with: what the findings of an analysis advise, and what Ceph's releases run with.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.presets import preset, preset_names
from lsmlens.tuners.options.tunables import durability_changed
from lsmlens.tuners.predictions.figures import total
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.search.bounds import Bounds
from lsmlens.tuners.search.estimate import WEIGHTY_SHARE
from lsmlens.tuners.search.evaluation import Evaluated, Evaluator, Reference, not_taken
from lsmlens.tuners.search.other_logs import LogCost, OtherLog, together
from lsmlens.tuners.search.promising import UNSHOWN, Promising, far_worse
from lsmlens.tuners.search.request import Budget, TuningRequest
from lsmlens.tuners.search.scores import Scores, cost
from lsmlens.tuners.search.space import Dimension, Space
from lsmlens.tuners.search.study import PRESENT, Planned, Prospect, Study, Tried

# Of the budget, until when candidates are drawn, and until when the best is made simpler.
DRAWING_SHARE, SIMPLIFYING_SHARE = 0.4, 0.5
# So many presets and given sets are gone on from.
STARTS = 2
# So many candidates that estimates promise, after every two of them one that is advised or has helped elsewhere.
PROMISED, BETWEEN = 12, 2
# A choice goes back to the present one if the cost does not rise by more than this; a column's, that needs a reshard,
# may cost more.
TOLERANCE, COLUMN_TOLERANCE = 0.004, 0.012

Say = Callable[[str], None]
Seed = tuple[str, str, dict[str, str]]
# What rules advise in words, as steps on the ladders: rule, option, whether for the column it speaks of, steps.
ADVICE: Mapping[str, tuple[tuple[str, bool, int], ...]] = {
    "R01": (("max_background_jobs", False, 1), ("max_write_buffer_number", False, 1)),
    "R02": (("max_background_jobs", False, 1),),
    "R03": (("max_background_jobs", False, 1),),
    "R04": (("max_bytes_for_level_base", False, 2),),
    "R05": (("min_write_buffer_number_to_merge", True, 3), ("max_write_buffer_number", False, 2)),
    "R06": (("max_total_wal_size", False, 1),),
    "R23": (("max_background_jobs", False, 1),),
}
# Shapes that have helped elsewhere, from the present values: fewer and larger flushes, or a larger level 1.
SHAPES: Mapping[str, Mapping[str, int]] = {
    "larger level 1": {"max_bytes_for_level_base": 2},
    "much larger level 1": {"max_bytes_for_level_base": 4},
    "much larger level 1, later level 0": {"max_bytes_for_level_base": 4, "level0_file_num_compaction_trigger": 2},
    "merged memtables": {"write_buffer_size": -2, "min_write_buffer_number_to_merge": 4, "max_write_buffer_number": 4},
    "merged memtables, larger level 1": {
        "write_buffer_size": -2,
        "min_write_buffer_number_to_merge": 4,
        "max_write_buffer_number": 4,
        "max_bytes_for_level_base": 2,
        "level0_file_num_compaction_trigger": 2,
    },
    "later level 0": {"level0_file_num_compaction_trigger": 2, "max_bytes_for_level_base": 1},
    "less WAL, less memory": {"max_total_wal_size": -1},
}


@dataclass(frozen=True, slots=True)
class Fixed:
    """An option set that is tried as it is: its cost, or why it has none."""

    options: OptionSet
    origin: str
    cost: float | None
    problem: str | None


class _Cost(NamedTuple):
    """What a candidate costs on the logs so far, and its scores on the first; why there are none.

    `weight` is that of the logs so far, None for the first alone.
    """

    scores: Scores | None
    cost: float | None
    problem: str | None
    seconds: float
    weight: float | None = None

    def and_on(self, other: LogCost, first: float) -> "_Cost":
        """The same with another log's; `first` is the weight of the first log."""
        if self.cost is None or other.cost is None:
            return self._replace(scores=None, cost=None, problem=f"{other.log}: {other.problem}")
        weight = first if self.weight is None else self.weight
        both = together([(self.cost, weight), (other.cost, other.weight)])
        return self._replace(cost=both, weight=weight + other.weight)


@dataclass(slots=True)
class Screening:
    """The screening of one study. `own` are the scores of the present options, from `reference`.

    What a candidate costs is that on this log and on `others` together.
    """

    study: Study
    space: Space
    bounds: Bounds
    evaluator: Evaluator
    reference: Reference
    own: Scores
    request: TuningRequest
    budget: Budget
    say: Say
    promising: Promising
    others: Sequence[OtherLog] = ()
    seconds: list[float] = field(default_factory=list)

    def begin(self) -> None:
        """The first batch, whatever is left of the budget: something must be found."""
        if self.evaluator.replayer.ledger.fact("plan") is None:
            self.say("estimating candidates by the workload's curves")
            self.evaluator.replayer.ledger.keep_fact("plan", self._plan())
        present = self.study.propose("current", PRESENT, self.space.present, self._judge)
        self._try([present] if present.is_waiting else [])
        first = [one for one in self.study.tried if one.batch == 1 and one.problem is None]
        if not first or any(one.is_waiting for one in first):
            self._try(self._next_batch())

    def fixed(self) -> list[Fixed]:
        """The given candidates and the presets, replayed or refused; not presets that are far worse than the best."""
        is_ceph = self.evaluator.fitted.evidence.run.ceph_version is not None
        every = [(one, "given") for one in self.request.candidates]
        every += [(one, "a preset") for one in (presets() if is_ceph else ())]
        problems = {one.name: self._problem(one) or self._far_worse(one, origin) for one, origin in every}
        # judged by what was known when they were first looked at
        problems = self.evaluator.replayer.ledger.decided("option sets", problems)
        fitting = [one for one, _ in every if problems[one.name] is None]
        costs: dict[str, float] = {}
        for one, found in zip(fitting, self._evaluate(fitting), strict=True):
            if found is None or found.cost is None:
                problems[one.name] = "the budget was spent" if found is None else found.problem
            else:
                costs[one.name] = found.cost
        return [Fixed(one, origin, costs.get(one.name), problems[one.name]) for one, origin in every]

    def search(self, fixed: Sequence[Fixed]) -> None:
        """The best of the presets and given sets, what is planned, draws, and the simpler best."""
        better = [one for one in fixed if one.cost is not None and one.cost < 1]
        for one in sorted(better, key=lambda one: one.cost or 0.0)[:STARTS]:
            choices = self.space.choices_of(one.options)
            self._try_all([self.study.propose(f"as {one.options.name}", one.origin, choices, self._judge_start)])
        while self._goes_on():
            batch = self._next_batch()
            if not batch:
                break
            self._try(batch)
        self._simplify()

    def _next_batch(self) -> list[Tried]:
        plan = [Planned(*one) for one in self.evaluator.replayer.ledger.fact("plan")]
        return self.study.next_batch(self._batch_size(), self._judge, plan)

    def _far_worse(self, options: OptionSet, origin: str) -> str | None:
        estimate = self.promising.cost_of(options)
        return None if origin == "given" or estimate is None else far_worse(estimate, self.study.tried)

    def _goes_on(self) -> bool:
        trials = self.request.trials
        return self.budget.has(DRAWING_SHARE, time.monotonic()) and (trials is None or self._done() < trials)

    def _batch_size(self) -> int:
        """Never more than there are trials left, so that where a batch was cut off changes nothing."""
        trials = self.request.trials
        return self.request.batch if trials is None else min(self.request.batch, trials - self._done())

    def _done(self) -> int:
        return sum(one.scores is not None and one.batch is not None for one in self.study.tried)

    def _plan(self) -> list[Planned]:
        """What is tried before anything is drawn."""
        found = [
            Planned(f"promising {number}", PROMISED_BY, dict(one.choices))
            for number, one in enumerate(self.promising.best(PROMISED), 1)
        ]
        seeds = [Planned(*one) for one in seed_candidates(self.evaluator.fitted.evidence.run, self.space)]
        seeds.sort(key=lambda one: self.promising.cost(one.choices) or 0.0)
        for number, one in enumerate(seeds, 1):
            found.insert(min(len(found), number * (BETWEEN + 1) - 1), one)
        return found

    def _judge_start(self, one: Tried) -> Prospect:
        """What was replayed already needs no estimate to be worth it."""
        return Prospect(self._problem(self.space.candidate(one.choices, one.name)), self.promising.cost(one.choices))

    def _judge(self, one: Tried) -> Prospect:
        options = self.space.candidate(one.choices, one.name)
        problem = self._problem(options) or self.promising.unshown(options)
        if problem is not None:
            return Prospect(problem)
        estimate = self.promising.cost(one.choices)
        if estimate is None or one.origin == SIMPLER:
            return Prospect(None, estimate)
        problem = far_worse(estimate, self.study.tried)
        return Prospect(problem, estimate, problem is not None)

    def _problem(self, options: OptionSet) -> str | None:
        """Why options are out, whatever they cost."""
        problem = durability_changed(options, self.space.base) or self.bounds.problem(options)
        elsewhere = (one.problem(options, self.space.base) for one in self.others)
        return problem or next((one for one in elsewhere if one is not None), None)

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
                self._judge,
            )
            for one in changed
        }
        self._try_all(list(alone.values()))
        found = {one.number: one for one in self.study.tried}
        idle = {}
        for one in changed:
            without = found[alone[one.name].number].cost
            tolerance = TOLERANCE if one.column is None else COLUMN_TOLERANCE
            if without is not None and without <= _cost(best) * (1 + tolerance):
                idle[one.name] = present[one.name]
        if len(idle) > 1:
            simpler = self.study.propose(f"{best.name}, simpler", SIMPLER, {**best.choices, **idle}, self._judge)
            self._try_all([simpler])

    def _try_all(self, some: Sequence[Tried]) -> None:
        some = [one for one in some if one.is_waiting]
        while some and self.budget.has(SIMPLIFYING_SHARE, time.monotonic()):
            self._try(some[: self.request.batch])
            some = some[self.request.batch :]

    def _try(self, batch: Sequence[Tried]) -> None:
        if not batch:
            return
        best = min((one.cost for one in self.study.tried if one.cost is not None), default=1.0)
        options = [self.space.candidate(one.choices, one.name) for one in batch]
        words = f"screening {', '.join(one.name for one in batch)}; the best so far costs {best:.3f} of the current"
        self.say(words)
        for one, found in zip(batch, self._costs(options), strict=True):
            if found.scores is None or found.cost is None:
                self.study.refuse(one, found.problem or "no scores")
            else:
                memory = found.scores.memory_bytes / self.own.memory_bytes if self.own.memory_bytes else 1.0
                self.study.record(one, found.scores, found.cost, memory)
                self.seconds.append(found.seconds)

    def _costs(self, options: Sequence[OptionSet]) -> "list[_Cost]":
        """What each costs on all logs together; nothing is replayed on another log that has no figures on this one."""
        found = []
        for result in self.evaluator.evaluate(self.reference, options):
            problem = result.problem or self._unshown(result)
            is_known = problem is None and result.scores is not None
            own = cost(result.scores, self.own, self.request.objective) if is_known and result.scores else None
            found.append(_Cost(result.scores if is_known else None, own, problem, result.seconds))
        for other in self.others:
            places = [place for place, one in enumerate(found) if one.cost is not None]
            elsewhere = other.costs([options[place] for place in places], self.space.base)
            for place, one in zip(places, elsewhere, strict=True):
                found[place] = found[place].and_on(one, self.request.weight)
        return found

    def _unshown(self, result: Evaluated) -> str | None:
        """Why a replay's figures do not count: it failed, was of other options, or a family did not compact in it."""
        if result.problem is not None:
            return result.problem
        measured = (one for one in result.results if isinstance(one, Measurement))
        not_replayed = [why for one in measured if (why := not_taken(result.options, self.space.base, one))]
        if not_replayed:
            return not_replayed[0]
        observed = self.reference.anchor.observed
        least = WEIGHTY_SHARE * total(observed).written_bytes
        for one in result.prediction.families:
            seen = observed[one.name]
            if seen.compactions and seen.written_bytes >= least and not one.predicted.value.compactions:
                return UNSHOWN.format(one.name)
        return None

    def _evaluate(self, options: Sequence[OptionSet]) -> "list[_Cost | None]":
        found: list[_Cost | None] = []
        while len(found) < len(options) and self.budget.has(DRAWING_SHARE, time.monotonic()):
            some = options[len(found) : len(found) + self.request.batch]
            self.say(f"screening presets and given candidates: {', '.join(one.name for one in some)}")
            found += self._costs(some)
        return [*found, *[None] * (len(options) - len(found))]


SIMPLER, PROMISED_BY = "simpler", "the workload's curves"


def _cost(one: Tried) -> float:
    return float("inf") if one.cost is None else one.cost


def ranked(
    study: Study, space: Space, fixed: Sequence[Fixed], present: Mapping[str, str]
) -> list[tuple[str, str, OptionSet, float]]:
    """All that has a cost, cheapest first: name, origin, options, cost; of equal ones what changes least first."""
    found = []
    for one in study.tried:
        if one.cost is not None:
            changed = [each for each in space.dimensions if one.choices[each.name] != present[each.name]]
            if changed:
                columns = sum(each.column is not None for each in changed)
                order = (round(one.cost, 3), columns, len(changed), one.number)
                found.append((order, (one.name, one.origin, space.candidate(one.choices, one.name), one.cost)))
    found += [
        ((round(one.cost, 3), 0, 99, place), (one.options.name, one.origin, one.options, one.cost))
        for place, one in enumerate(fixed)
        if one.cost is not None
    ]
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def seed_candidates(run: RunAnalysis, space: Space) -> list[Seed]:
    """Name, origin and choices of each that is not as the present settings."""
    present = space.present
    found = [(f"{code}'s advice", f"finding {code}", choices) for code, choices in _advised(run, space, present)]
    for name, steps in SHAPES.items():
        wanted = [(one, steps[one.option]) for one in space.dimensions if one.column is None and one.option in steps]
        found.append((name, "a shape", _moved(present, wanted)))
    earlier = [present, *(one[2] for one in found)]
    return [one for place, one in enumerate(found, 1) if one[2] not in earlier[:place]]


def presets() -> Iterator[OptionSet]:
    """The options of Ceph's releases, each once though two releases share them."""
    seen: list[tuple[object, object]] = []
    for name in preset_names():
        options = preset(name)
        if (options.values, options.overrides) not in seen and name.startswith("ceph:"):
            seen.append((options.values, options.overrides))
            yield options


def _advised(run: RunAnalysis, space: Space, present: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    together: dict[str, str] = dict(present)
    codes: list[str] = []
    for code in dict.fromkeys(one.code for one in run.findings if one.code in ADVICE):
        columns = {
            one.column_family.partition("-")[0] for one in run.findings if one.code == code and one.column_family
        }
        wanted: list[tuple[Dimension, int]] = []
        for option, is_of_column, steps in ADVICE[code]:
            own = [one for one in space.dimensions if one.option == option and one.column in columns]
            shared = [one for one in space.dimensions if one.option == option and one.column is None]
            wanted += [(one, steps) for one in (own if is_of_column and own else shared)]
        if wanted:
            codes.append(code)
            yield code, _moved(present, wanted)
            together = _moved(together, wanted)
    if len(codes) > 1:
        yield " and ".join(codes), together


def _moved(choices: Mapping[str, str], steps: list[tuple[Dimension, int]]) -> dict[str, str]:
    moved = dict(choices)
    for dimension, count in steps:
        place = dimension.values.index(moved[dimension.name]) + count
        moved[dimension.name] = dimension.values[max(0, min(len(dimension.values) - 1, place))]
    return moved
