"""Promising candidates: many are drawn and estimated, and the best of them that differ are worth a replay.

Only options that an estimate goes by are drawn; the rest stays as it is. What an estimate finds without effect goes
back to what it is now, so that a promising candidate changes little.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median, stdev
from typing import NamedTuple

import numpy as np
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.tunables import Effect
from lsmlens.tuners.search.bounds import Bounds
from lsmlens.tuners.search.estimate import OF_SHAPE, Estimator
from lsmlens.tuners.search.scores import Objective, Scores, cost
from lsmlens.tuners.search.space import Dimension, Space, neighbour
from lsmlens.tuners.search.study import PRESENT, Tried

# Drawn at large, and then near the best of them, so many times.
DRAWN, NEAR, GENERATIONS = 1000, 120, 4
PARENTS = 8
# How likely an option stays as it is in a draw; one of a column, which costs a reshard, stays more often.
STAYS, COLUMN_STAYS = 0.4, 0.7
# What changes the estimate by less has no effect.
NO_EFFECT = 0.003
# Candidates are much the same if neither what they write nor what of it flushes do is further apart.
SAME = 0.015
# An estimate is wrong by about this much (logarithm) until replays tell, and is trusted that far.
USUAL_ERROR, LEAST_ERROR, TRUSTED_ERRORS = 0.12, 0.06, 2.5
ENOUGH_REPLAYS = 4
UNSHOWN = "{} would not be compacted within the log's time: what that costs later does not show"
ESTIMATED = frozenset({*OF_SHAPE, "max_total_wal_size"})
DRAWN_OPTIONS = ESTIMATED - {"target_file_size_base"}


class Promise(NamedTuple):
    """A candidate that was not replayed: its choices, and its scores and cost as estimated."""

    choices: Mapping[str, str]
    scores: Scores
    cost: float


@dataclass(slots=True)
class Promising:
    """Estimated costs of candidates of one space, against its present options. `starts` are drawn near as well."""

    space: Space
    bounds: Bounds
    estimator: Estimator
    objective: Objective
    seed: int = 1
    starts: Sequence[Mapping[str, str]] = ()
    _present: Scores | None = field(init=False)

    def __post_init__(self) -> None:
        base = self.space.base
        self._present = self.estimator.scores(base) if self.estimator.covers(base) else None

    def cost(self, choices: Mapping[str, str]) -> float | None:
        """The estimated cost; None where nothing can be estimated."""
        return self.cost_of(self.space.candidate(choices, "estimated"))

    def cost_of(self, options: OptionSet) -> float | None:
        """The estimated cost of options, of this space or not; None where nothing can be estimated."""
        if self._present is None or not self.estimator.covers(options):
            return None
        return cost(self.estimator.scores(options), self._present, self.objective)

    def is_probed(self, one: Dimension) -> bool:
        """Whether only replays tell what the dimension does, and do."""
        return one.column is None and one.tunable.effect is not Effect.STALLS and one.option not in ESTIMATED

    def unshown(self, options: OptionSet) -> str | None:
        """Why the log cannot tell what these options cost, as far as that is estimated; None if it can."""
        is_known = self._present is not None and self.estimator.covers(options)
        family = self.estimator.unshown(options) if is_known else None
        return None if family is None else UNSHOWN.format(family)

    def _estimated(self, choices: Mapping[str, str], present: Scores) -> Promise:
        scores = self.estimator.scores(self.space.candidate(choices, "estimated"))
        return Promise(choices, scores, cost(scores, present, self.objective))

    def best(self, count: int) -> list[Promise]:
        """The most promising candidates that differ, likeliest first; none where nothing can be estimated."""
        free = [one for one in self.space.dimensions if one.option in DRAWN_OPTIONS]
        if self._present is None or not free:
            return []
        rng = np.random.default_rng(self.seed)
        estimated = replace(self.space, dimensions=tuple(free))
        drawn = (_drawn(self.space, free, rng) for _ in range(DRAWN))
        pool = self._fitting((*self._starts(free), *drawn), self._present)
        for _ in range(GENERATIONS):
            parents = self._valid(pool)
            if not parents:
                break
            near = (neighbour(estimated, parents, seed) for seed in rng.integers(0, 1 << 31, NEAR).tolist())
            pool = _by_cost([*pool, *self._fitting(near, self._present)])
        return self._different(pool, count, self._present)

    def _starts(self, free: Sequence[Dimension]) -> Iterator[dict[str, str]]:
        """The starts in what can be estimated; what takes too much memory with fewer buffers as well."""
        present = self.space.present
        for start in self.starts:
            choices = {**present, **{one.name: start[one.name] for one in free}}
            yield choices
            for one in free:
                if one.option == "max_write_buffer_number":
                    yield from ({**choices, one.name: fewer} for fewer in one.values)

    def _different(self, pool: Sequence[Promise], count: int, present: Scores) -> list[Promise]:
        found: list[Promise] = []
        seen: list[Promise] = []
        for one in pool:
            if len(found) >= count or one.cost >= 1:
                break
            if any(_is_same(one.scores, other.scores) for other in seen) or not self._is_valid(one):
                continue
            simple = self._simpler(one, present)
            if simple.choices not in [other.choices for other in found]:
                found.append(simple)
            seen += [one, simple]
        return _by_cost(found)

    def _fitting(self, drawn: Iterable[Mapping[str, str]], present: Scores) -> list[Promise]:
        """Those within the limit on memory, cheapest first; other bounds are looked at where it matters."""
        different = {tuple(sorted(one.items())): one for one in drawn}.values()
        found = [self._estimated(one, present) for one in different]
        return _by_cost(one for one in found if one.scores.memory_bytes <= self.bounds.memory_bytes)

    def _valid(self, pool: Sequence[Promise]) -> list[Promise]:
        found: list[Promise] = []
        for one in pool:
            if len(found) >= PARENTS:
                break
            if self._is_valid(one):
                found.append(one)
        return found

    def _is_valid(self, one: Promise) -> bool:
        options = self.space.candidate(one.choices, "estimated")
        return self.unshown(options) is None and self.bounds.problem(options) is None

    def _simpler(self, one: Promise, present: Scores) -> Promise:
        """Without what has no effect; what concerns single columns goes first."""
        now = self.space.present
        for dimension in sorted(self.space.dimensions, key=lambda each: each.column is None):
            if one.choices[dimension.name] == now[dimension.name]:
                continue
            without = self._estimated({**one.choices, dimension.name: now[dimension.name]}, present)
            if without.cost <= one.cost * (1 + NO_EFFECT) and self._is_valid(without):
                one = without
        return one


def far_worse(estimated: float, tried: Iterable[Tried]) -> str | None:
    """Why a candidate of that estimated cost is not worth a replay; None if it may be.

    Replays so far tell by how much estimates are off, and which way.
    """
    known = [(one.cost, one.estimate, one.origin) for one in tried if one.cost is not None and one.estimate]
    if not known:
        return None
    # the present options cost 1 by both, and tell nothing of what estimates are worth
    ratios = [measured / guessed for measured, guessed, origin in known if origin != PRESENT]
    logs = [float(np.log(ratio)) for ratio in ratios]
    error = max(LEAST_ERROR, stdev(logs)) if len(logs) >= ENOUGH_REPLAYS else USUAL_ERROR
    best = min(measured for measured, _, _ in known)
    expected = estimated * median(ratios or [1.0])
    if expected <= best * float(np.exp(TRUSTED_ERRORS * error)):
        return None
    return f"not replayed: by the workload's curves it costs {expected:.2f} of the current, the best so far {best:.2f}"


def estimate_error(tried: Iterable[Tried]) -> float | None:
    """By how much estimated costs differ from replayed ones, relatively, on median; None for fewer than three."""
    errors = [
        abs(one.cost / one.estimate - 1)
        for one in tried
        if one.cost is not None and one.estimate and one.origin != PRESENT
    ]
    return median(errors) if len(errors) >= 3 else None


def _drawn(space: Space, free: Sequence[Dimension], rng: np.random.Generator) -> dict[str, str]:
    choices = space.present
    for one in free:
        if rng.random() >= (STAYS if one.column is None else COLUMN_STAYS):
            choices[one.name] = one.values[int(rng.integers(len(one.values)))]
    return choices


def _is_same(one: Scores, other: Scores) -> bool:
    pairs = ((one.written_bytes, other.written_bytes), (one.flush_bytes, other.flush_bytes))
    return all(abs(mine - theirs) <= SAME * theirs for mine, theirs in pairs)


def _by_cost(found: Iterable[Promise]) -> list[Promise]:
    return sorted(found, key=lambda one: (round(one.cost, 4), tuple(sorted(one.choices.items()))))
