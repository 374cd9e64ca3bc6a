"""The space that is searched: which options may change, for whom, and to what.

Which options can be tuned, and over which values, is declared in `tunables`. Every option has a ladder of values around
the one in force, and on it what the presets and given sets have; sizes go in powers of two, as their effect does. A
column that carries much of the bytes (Ceph's O, P, L, m, p; any family elsewhere) has memtables of its own to choose,
which are as all others have them unless chosen otherwise: in Ceph, options of a column cost a reshard.

Near a candidate are those with a few of its choices moved along their ladders, or mixed with another's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple, Protocol

import numpy as np
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.option_set import CHANGED, OptionSet, column_of
from lsmlens.tuners.options.tunables import TUNABLES, Surroundings, Tunable, find_tunable
from lsmlens.tuners.predictions.scales import largest_scale

# A column is chosen for by itself from this share of the bytes that flushes and compactions write.
OWN_SHARE = 0.03
MOST_BYTES = 1 << 36
AS_ALL = "as all"
PARENTS = 4
# How many choices move, and how likely that many.
MOVES = {1: 0.3, 2: 0.4, 3: 0.2, 4: 0.1}
# How likely a choice of another parent is taken over before anything moves.
MIXED = 0.3
TWO_STEPS = 0.3


class Dimension(NamedTuple):
    """One thing to choose: an option, of all (`column` None) or of one column, and its values, the present one in.

    One of a column's values is AS_ALL: what all have.
    """

    tunable: Tunable
    column: str | None
    values: tuple[str, ...]

    @property
    def option(self) -> str:
        """What is declared tunable, by its name."""
        return self.tunable.name

    @property
    def name(self) -> str:
        """What it is called in a trial and after --freeze: `write_buffer_size`, `P.write_buffer_size`."""
        return self.option if self.column is None else f"{self.column}.{self.option}"


@dataclass(frozen=True, slots=True)
class Space:
    """The dimensions around one option set, which is `base`.

    `left_out` says of other options that can be tuned why they are not searched here.
    """

    base: OptionSet
    dimensions: tuple[Dimension, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def candidate(self, choices: Mapping[str, str], name: str) -> OptionSet:
        """The option set of these choices; what is not chosen stays. Its validity is not looked at."""
        options, present = self.base, self.present
        changed = []
        for dimension in self.dimensions:  # what all share stands first
            tunable, value = dimension.tunable, choices.get(dimension.name, present[dimension.name])
            if value == AS_ALL:
                value = _value(options, tunable, None)
            if value != _value(options, tunable, dimension.column):
                options = tunable.set_in(options, value, dimension.column)
                changed.append((tunable, value))
        for tunable, value in changed:
            options = tunable.with_beside(options, value)
        return options.named(name)

    @property
    def present(self) -> dict[str, str]:
        """The choices that change nothing."""
        return self.choices_of(self.base)

    def largest_scale(self, families: Sequence[str]) -> float:
        """The largest scale at which no write buffer that can be chosen gets too small, at least 1."""
        chosen = [
            one.tunable.set_in(self.base, one.values[0], one.column)
            for one in self.dimensions
            if one.option == "write_buffer_size" and one.values[0] != AS_ALL
        ]
        return largest_scale([self.base, *chosen], families)

    def choices_of(self, options: OptionSet) -> dict[str, str]:
        """Where another option set stands in this space: the nearest value of each ladder."""
        found = {}
        for dimension in self.dimensions:
            value = _value(options, dimension.tunable, dimension.column)
            is_as_all = dimension.column is not None and value == _value(options, dimension.tunable, None)
            found[dimension.name] = AS_ALL if is_as_all else _nearest(dimension.values, value)
        return found


def space_of(
    base: OptionSet,
    bytes_by_family: Mapping[str, float],
    frozen: Iterable[str] = (),
    where: Surroundings | None = None,
    others: Sequence[OptionSet] = (),
) -> Space:
    """The space around an option set, with columns of their own for the families that carry the bytes.

    `frozen` names dimensions that keep their value: an option, which freezes it for columns too, or `COLUMN.option`.
    `where` decides which options can be tuned at all, and what `others` have stands on the ladders. Raises InputError
    for a name that is no dimension, and none elsewhere.
    """
    where = where or Surroundings()
    left_out = {one.name: why for one in TUNABLES if (why := one.left_out(base, where)) is not None}
    tunables = [one for one in TUNABLES if one.name not in left_out]
    dimensions = tuple(_dimensions(base, tunables, _heavy_columns(bytes_by_family), others))
    names = {one.name for one in dimensions} | {one.option for one in dimensions}
    held = frozenset(frozen)
    for name in sorted(held - names):
        if find_tunable(name) is None:
            known = ", ".join(sorted(names))
            raise InputError(f"--freeze {name}", "nothing of that name is searched", f"there are {known}")
    return Space(base, tuple(one for one in dimensions if held.isdisjoint((one.name, one.option))), left_out)


def has_own_columns(options: OptionSet) -> bool:
    """Whether options of single columns were changed, which takes a reshard in Ceph."""
    return any(one.origin == CHANGED for settings in options.overrides.values() for one in settings.values())


def _heavy_columns(bytes_by_family: Mapping[str, float]) -> list[str]:
    columns: dict[str, float] = {}
    for family, size in bytes_by_family.items():
        columns[column_of(family)] = columns.get(column_of(family), 0.0) + size
    whole = sum(columns.values())
    heavy = [column for column, size in columns.items() if whole and size >= OWN_SHARE * whole]
    return sorted(heavy) if len(columns) > 1 else []


def _dimensions(
    base: OptionSet, tunables: Sequence[Tunable], columns: Sequence[str], others: Sequence[OptionSet]
) -> Iterator[Dimension]:
    for one in tunables:
        yield Dimension(one, None, _ladder(one, _value(base, one, None), _others(others, one, None)))
    for column in columns:
        for one in tunables:
            if one.of_columns:
                present = _value(base, one, column)
                values = _ladder(one, present, _others(others, one, column))
                place = values.index(present) + 1
                yield Dimension(one, column, (*values[:place], AS_ALL, *values[place:]))


def _others(others: Sequence[OptionSet], tunable: Tunable, column: str | None) -> list[str]:
    return [value for one in others if (value := tunable.value_in(one, column)) is not None]


def _ladder(tunable: Tunable, present: str, others: Sequence[str]) -> tuple[str, ...]:
    if tunable.doublings is None:
        others = sorted({present, *others} - {*tunable.values})
        return tuple(sorted((*tunable.values, *others), key=_order)) if others else tunable.values
    size = int(present)
    if size <= 0:  # RocksDB chooses: that stays one of the choices
        return (present, *(str(1 << power) for power in range(28, 32)))
    doubled = {max(tunable.least, min(MOST_BYTES, int(size * 2.0**power))) for power in tunable.doublings}
    # smaller ones than these would keep every replay at a larger scale
    more = {int(one) for one in others if one.isdecimal() and int(one) > max(doubled)}
    return tuple(str(value) for value in sorted({*doubled, *more, size}))


def _order(value: str) -> tuple[float, str]:
    try:
        return float(value), value
    except ValueError:
        return float("inf"), value


def _nearest(values: tuple[str, ...], wanted: str) -> str:
    if wanted in values:
        return wanted
    try:
        return min((one for one in values if one != AS_ALL), key=lambda one: abs(float(one) - float(wanted)))
    except ValueError:
        return values[0]


def _value(options: OptionSet, tunable: Tunable, column: str | None) -> str:
    """The value in force, as text; of a column that of its first family."""
    value = tunable.value_in(options, column)
    return "0" if value is None else value


def probes(dimensions: Sequence[Dimension], best: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The choices of `best` with one of these dimensions at another of its values: of each a first, then the second."""
    others = [[(one.name, value) for value in one.values if value != best[one.name]] for one in dimensions]
    for row in zip_longest(*others):
        for pair in row:
            if pair is not None:
                yield {**best, pair[0]: pair[1]}


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
