"""A study: every candidate tried for one log, kept in a database file so that nothing is lost or tried twice.

Candidates are either proposed, or drawn: in turn by Optuna's multi-objective TPE, and near one of the best so far.
Draws come in batches, which are drawn as a whole before any of them is tried; each is seeded by its number and knows
the batches before its own. So a study that was interrupted anywhere goes on to the candidates it would have come to.
"""

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.search.neighbours import neighbour
from lsmlens.tuners.search.scores import Scores
from lsmlens.tuners.search.space import Space
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState, create_trial

NAME = "lsmlens"
# The cost by the objective, and the memory, both as ratios to the present options.
DIRECTIONS = (StudyDirection.MINIMIZE,) * 2
# Draws refused by the bounds in a row before a batch is left short: then what is left of the space is hardly any.
REFUSED_IN_A_ROW = 200
RANDOM_AT_FIRST = 8

Problem = Callable[["Tried"], str | None]


@dataclass(frozen=True, slots=True)
class Tried:
    """One candidate of a study. `problem` says why it was not tried, or has no scores; both None while it waits.

    `batch` is that of a draw, None for a proposal; `is_out` tells a candidate that the bounds refused.
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

    @property
    def is_waiting(self) -> bool:
        """Whether it is still to be tried."""
        return self.scores is None and self.problem is None


class Study:
    """The candidates of one log; `about` says of which log, options and bounds they are, and must stay the same.

    Raises InputError for a file that holds another log's study, or none.
    """

    def __init__(self, path: Path, space: Space, about: Mapping[str, str], seed: int = 1) -> None:
        optuna.logging.set_verbosity(logging.ERROR)
        self._space = space
        self._seed = seed
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

    def propose(self, name: str, origin: str, choices: Mapping[str, str], problem_of: Problem) -> Tried:
        """The candidate of these choices: the one that is there, whatever it is called, or a new one."""
        known = next((one for one in self.tried if _key(one.choices) == _key(choices)), None)
        return known or self._add(name, origin, dict(choices), None, problem_of)

    def next_batch(self, size: int, problem_of: Problem) -> list[Tried]:
        """The draws to try next: those of a batch that was not finished, else a new batch of `size`.

        Those that `problem_of` has something against are kept with it and not returned.
        """
        every = self.tried
        number = max((one.batch for one in every if one.batch is not None), default=0)
        batch = [one for one in every if one.batch == number and not one.is_out]
        is_begun = any(not one.is_waiting for one in batch)
        if batch and (is_begun or len(batch) >= size):
            waiting = [one for one in batch if one.is_waiting]
            if waiting:
                return waiting
            number, batch = number + 1, []
        elif not number:
            number = 1
        return [*batch, *self._drawn(number, size - len(batch), problem_of)]

    def _drawn(self, batch: int, count: int, problem_of: Problem) -> Iterator[Tried]:
        refused = 0
        while count and refused < REFUSED_IN_A_ROW:
            every = self.tried
            draws = sum(one.batch is not None for one in every)
            origin, choices = self._draw(draws, [one for one in every if one.batch != batch])
            seen = {_key(one.choices) for one in every}
            again = (lambda _: "tried before") if _key(choices) in seen else problem_of
            one = self._add(f"candidate {len(every)}", origin, choices, batch, again)
            refused = refused + 1 if one.is_out else 0
            if not one.is_out:
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

    def _add(self, name: str, origin: str, choices: dict[str, str], batch: int | None, problem_of: Problem) -> Tried:
        """Keep a new candidate, in one step; one that is out is kept as such."""
        number = len(self._study.get_trials(deepcopy=False))
        said: dict[str, Any] = {"name": name, "origin": origin, "batch": batch}
        problem = problem_of(Tried(number, name, origin, choices))
        if problem is not None:
            said |= {"problem": problem, "is_out": True}
        self._study.add_trial(
            create_trial(
                state=TrialState.RUNNING if problem is None else TrialState.FAIL,
                params=choices,
                distributions=self._distributions,
                user_attrs=said,
            )
        )
        return Tried(number, name, origin, choices, batch, None, problem, problem is not None)

    def _draw(self, number: int, before: Sequence[Tried]) -> tuple[str, dict[str, str]]:
        """How the draw of a number is made, and its choices."""
        seed = self._seed * 1_000_003 + number
        scored = [one for one in before if one.cost is not None]
        if number % 2 and scored:
            return "near the best", neighbour(self._space, scored, seed)
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
    )


def _key(choices: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(choices.items()))
