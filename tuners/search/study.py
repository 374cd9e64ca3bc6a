"""A study: every candidate tried for one log, kept in a database file so that nothing is lost or tried twice.

Candidates are either proposed, or drawn: what is planned first, and then in turn near one of the best so far, as the
best with one option changed that only a replay tells of, and by Optuna's multi-objective TPE. Draws come in batches,
which are drawn as a whole before any of them is tried; each is seeded by its number and knows the batches before its
own. So a study that was interrupted anywhere goes on to the candidates it would have come to.
"""

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import optuna
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.search.scores import Scores
from lsmlens.tuners.search.space import Dimension, Space, neighbour, probes
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState, create_trial

NAME = "lsmlens"
# Where the present options are from.
PRESENT = "the log"
# The cost by the objective, and the memory, both as ratios to the present options.
DIRECTIONS = (StudyDirection.MINIMIZE,) * 2
# Draws refused by the bounds in a row before a batch is left short: then what is left of the space is hardly any.
REFUSED_IN_A_ROW = 200
RANDOM_AT_FIRST = 8


class Prospect(NamedTuple):
    """What is said of a candidate before it is tried: why not, and the cost it is estimated at, where there is one.

    `is_pruned` tells a candidate that is not worth a replay from one that the bounds refuse.
    """

    problem: str | None = None
    estimate: float | None = None
    is_pruned: bool = False


class Planned(NamedTuple):
    """A candidate that is tried before any is drawn."""

    name: str
    origin: str
    choices: dict[str, str]


Judge = Callable[["Tried"], Prospect]
# Of so many neighbours of the best, the one that is estimated to cost least is drawn.
NEIGHBOURS = 8
Estimate = Callable[[Mapping[str, str]], float | None]


@dataclass(frozen=True, slots=True)
class Tried:
    """One candidate of a study. `problem` says why it was not tried, or has no scores; both None while it waits.

    `batch` is that of a draw, None for a proposal; `is_out` tells a candidate that the bounds refused, `is_pruned` one
    that was not worth a replay. `estimate` is the cost it was estimated at.
    """

    number: int
    name: str
    origin: str
    choices: Mapping[str, str]
    batch: int | None = None
    scores: Scores | None = None
    problem: str | None = None
    is_out: bool = False
    cost: float | None = None
    estimate: float | None = None
    is_pruned: bool = False

    @property
    def is_waiting(self) -> bool:
        """Whether it is still to be tried."""
        return self.scores is None and self.problem is None


class Study:
    """The candidates of one log; `about` says of which log, options and bounds they are, and must stay the same.

    `estimate` tells the cost of choices before they are tried, where it can; `probed` are dimensions that only
    replays tell of.

    Raises InputError for a file that holds another log's study, or none.
    """

    def __init__(
        self,
        path: Path,
        space: Space,
        about: Mapping[str, str],
        seed: int = 1,
        estimate: Estimate = lambda _: None,
        probed: Sequence[Dimension] = (),
    ) -> None:
        optuna.logging.set_verbosity(logging.ERROR)
        self._space = space
        self._seed = seed
        self._estimate = estimate
        self._probed = probed
        try:
            self._study = optuna.create_study(
                storage=f"sqlite:///{path}", study_name=NAME, directions=DIRECTIONS, load_if_exists=True
            )
        except Exception as error:  # of the database, whichever of its layers says so
            reason = str(error).splitlines()[0]
            raise InputError(str(path), f"no study can be kept there: {reason}", "give another --study FILE") from error
        known = self._study.user_attrs.get("about")
        if known is None:
            self._study.set_user_attr("about", dict(about))
        elif known != dict(about):
            differing = ", ".join(sorted(name for name in {*known, *about} if known.get(name) != about.get(name)))
            raise InputError(str(path), f"holds a study of another {differing}", "give another --study FILE")
        self._distributions: dict[str, BaseDistribution] = {
            one.name: CategoricalDistribution(one.values) for one in space.dimensions
        }

    @property
    def tried(self) -> list[Tried]:
        """All candidates so far, in order, those that wait included."""
        return [_tried(one) for one in self._study.get_trials(deepcopy=False)]

    def propose(self, name: str, origin: str, choices: Mapping[str, str], judge: Judge) -> Tried:
        """The candidate of these choices: the one that is there, whatever it is called, or a new one."""
        known = next((one for one in self.tried if _key(one.choices) == _key(choices)), None)
        return known or self._add(name, origin, dict(choices), None, judge)

    def next_batch(self, size: int, judge: Judge, plan: Sequence[Planned] = ()) -> list[Tried]:
        """The draws to try next: those of a batch that was not finished, else a new batch of `size`.

        What is planned comes in place of the first draws; the plan must always be the same.

        Those that `judge` has something against are kept with it and not returned.
        """
        every = self.tried
        number = max((one.batch for one in every if one.batch is not None), default=0)
        batch = [one for one in every if one.batch == number and not one.is_out and not one.is_pruned]
        is_begun = any(not one.is_waiting for one in batch)
        if batch and (is_begun or len(batch) >= size):
            waiting = [one for one in batch if one.is_waiting]
            if waiting:
                return waiting
            number, batch = number + 1, []
        elif not number:
            number = 1
        return [*batch, *self._drawn(number, size - len(batch), judge, plan)]

    def _drawn(self, batch: int, count: int, judge: Judge, plan: Sequence[Planned]) -> Iterator[Tried]:
        refused = 0
        while count and refused < REFUSED_IN_A_ROW:
            every = self.tried
            draws = sum(one.batch is not None for one in every)
            if draws < len(plan):
                name, origin, choices = plan[draws]
            else:
                name = f"candidate {len(every)}"
                origin, choices = self._draw(draws, [one for one in every if one.batch != batch])
            seen = {_key(one.choices) for one in every}
            is_seen = _key(choices) in seen
            one = self._add(name, origin, choices, batch, _tried_before if is_seen else judge)
            refused = refused + 1 if one.problem is not None else 0
            if one.problem is None:
                count -= 1
                yield one

    def record(self, one: Tried, scores: Scores, cost: float, memory: float) -> None:
        """Keep the scores of a candidate; `cost` and `memory`, as ratios to the present options, lead the search."""
        trial = self._study.get_trials(deepcopy=False)[one.number]
        self._study._storage.set_trial_user_attr(trial._trial_id, "scores", scores._asdict())
        self._study.tell(one.number, [cost, memory], skip_if_finished=True)

    def refuse(self, one: Tried, problem: str) -> None:
        """Keep why a candidate has no scores."""
        trial = self._study.get_trials(deepcopy=False)[one.number]
        self._study._storage.set_trial_user_attr(trial._trial_id, "problem", problem)
        self._study.tell(one.number, state=TrialState.FAIL, skip_if_finished=True)

    def _add(self, name: str, origin: str, choices: dict[str, str], batch: int | None, judge: Judge) -> Tried:
        """Keep a new candidate, in one step; one that is out is kept as such."""
        number = len(self._study.get_trials(deepcopy=False))
        judgement = judge(Tried(number, name, origin, choices))
        problem, is_pruned = judgement.problem, judgement.is_pruned
        said: dict[str, Any] = {"name": name, "origin": origin, "batch": batch, "estimate": judgement.estimate}
        if problem is not None:
            said |= {"problem": problem, "is_pruned": is_pruned, "is_out": not is_pruned}
        self._study.add_trial(
            create_trial(
                state=TrialState.RUNNING if problem is None else TrialState.FAIL,
                params=choices,
                distributions=self._distributions,
                user_attrs=said,
            )
        )
        is_out = problem is not None and not is_pruned
        return Tried(number, name, origin, choices, batch, None, problem, is_out, None, judgement.estimate, is_pruned)

    def _draw(self, number: int, before: Sequence[Tried]) -> tuple[str, dict[str, str]]:
        """How the draw of a number is made, and its choices."""
        seed = self._seed * 1_000_003 + number
        scored = [one for one in before if one.cost is not None]
        seen = {_key(one.choices) for one in before}
        if number % 4 == 2 and scored:
            best = min(scored, key=lambda one: (one.cost or 0.0, one.number))
            probe = next((one for one in probes(self._probed, best.choices) if _key(one) not in seen), None)
            if probe is not None:
                return "one option of the best", probe
        if number % 2 and scored:
            near = [neighbour(self._space, scored, seed * NEIGHBOURS + place) for place in range(NEIGHBOURS)]
            fresh = [one for one in near if _key(one) not in seen] or near
            # where nothing is estimated, the first
            return "near the best", min(fresh, key=lambda one: self._estimate(one) or 0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=RANDOM_AT_FIRST, multivariate=True)
        memory = optuna.create_study(directions=DIRECTIONS, sampler=sampler)
        done = {one.number for one in scored}
        memory.add_trials([one for one in self._study.get_trials(deepcopy=False) if one.number in done])
        return "TPE", dict(memory.ask(self._distributions).params)


def _tried(one: FrozenTrial) -> Tried:
    said = one.user_attrs
    is_done = one.state is TrialState.COMPLETE
    scores = said.get("scores")
    return Tried(
        number=one.number,
        name=said["name"],
        origin=said["origin"],
        choices=dict(one.params),
        batch=said["batch"],
        scores=Scores(**scores) if is_done and scores is not None else None,
        problem=said.get("problem") if one.state is TrialState.FAIL else None,
        is_out=bool(said.get("is_out")),
        cost=one.values[0] if is_done and one.values else None,
        estimate=said.get("estimate"),
        is_pruned=bool(said.get("is_pruned")),
    )


def _tried_before(_: Tried) -> Prospect:
    return Prospect("tried before")


def _key(choices: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(choices.items()))
