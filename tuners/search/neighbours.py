"""Candidates near the best so far: a few of their choices moved along their ladders, or mixed with another's."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from lsmlens.tuners.search.space import Space

PARENTS = 4
# How many choices move, and how likely that many.
MOVES = {1: 0.3, 2: 0.4, 3: 0.2, 4: 0.1}
# How likely a choice of another parent is taken over before anything moves.
MIXED = 0.3
TWO_STEPS = 0.3


class Scored(Protocol):
    """A candidate with its cost."""

    @property
    def cost(self) -> float | None:
        """The cost against the present options."""

    @property
    def choices(self) -> Mapping[str, str]:
        """The value of each dimension."""


def neighbour(space: Space, scored: Sequence[Scored], seed: int) -> dict[str, str]:
    """Choices near those of one of the cheapest, the same for the same seed."""
    rng = np.random.default_rng(seed)
    best = sorted((one for one in scored if one.cost is not None), key=lambda one: one.cost or 0.0)[:PARENTS]
    chances = np.array([1.0 / (1 + place) for place in range(len(best))])
    one, other = rng.choice(len(best), size=2, p=chances / chances.sum())
    choices = dict(best[one].choices)
    for dimension in space.dimensions:
        if rng.random() < MIXED:
            choices[dimension.name] = best[other].choices[dimension.name]
    count = min(len(space.dimensions), int(rng.choice(list(MOVES), p=list(MOVES.values()))))
    for place in rng.choice(len(space.dimensions), size=count, replace=False):
        dimension = space.dimensions[place]
        steps = (2 if rng.random() < TWO_STEPS else 1) * (1 if rng.random() < 0.5 else -1)
        at = dimension.values.index(choices[dimension.name])
        moved = min(len(dimension.values) - 1, max(0, at + steps))
        if moved == at:  # at an end of the ladder: one step inward
            moved = min(1, len(dimension.values) - 1) if at == 0 else at - 1
        choices[dimension.name] = dimension.values[moved]
    return choices
