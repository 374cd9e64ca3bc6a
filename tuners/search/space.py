"""The space that is searched: which options may change, for whom, and to what.

Every option has a ladder of values around the one in force; sizes go in powers of two, as their effect does. A column
that carries much of the bytes (Ceph's O, P, L, m, p; any family elsewhere) has memtables of its own to choose, which
are as all others have them unless chosen otherwise: in Ceph, options of a column cost a reshard.

Near a candidate are those with a few of its choices moved along their ladders, or mixed with another's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.option_catalogue import find_option
from lsmlens.tuners.options.option_set import CHANGED, OptionSet, column_of
from lsmlens.tuners.predictions.scales import largest_scale

# A column is chosen for by itself from this share of the bytes that flushes and compactions write.
OWN_SHARE = 0.03
DOUBLINGS = {
    "write_buffer_size": range(-3, 3),
    "max_bytes_for_level_base": range(-2, 5),
    "target_file_size_base": range(-2, 3),
    "max_total_wal_size": range(-2, 3),
}
# Smaller write buffers than this are not tried, unless the present ones are: no memory is worth saving there.
LEAST_BUFFER_BYTES = 1 << 20
LADDERS = {
    "max_write_buffer_number": ("2", "4", "8", "16", "32", "64"),
    "min_write_buffer_number_to_merge": ("1", "2", "3", "4", "6", "8", "12", "16", "32"),
    "level0_file_num_compaction_trigger": ("2", "4", "6", "8", "12", "16"),
    "max_bytes_for_level_multiplier": ("4", "6", "8", "10", "12", "16"),
    "max_background_jobs": ("2", "4", "6", "8"),
    "ttl": ("0", "21600", "2592000"),
    "compression": ("kNoCompression", "kLZ4Compression"),
}
LEAST_BYTES, MOST_BYTES = 1 << 16, 1 << 36
OF_COLUMNS = ("write_buffer_size", "min_write_buffer_number_to_merge")
SHARED = (*DOUBLINGS, *LADDERS)
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

    option: str
    column: str | None
    values: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it is called in a trial and after --freeze: `write_buffer_size`, `P.write_buffer_size`."""
        return self.option if self.column is None else f"{self.column}.{self.option}"


@dataclass(frozen=True, slots=True)
class Space:
    """The dimensions around one option set, which is `base`."""

    base: OptionSet
    dimensions: tuple[Dimension, ...]

    def candidate(self, choices: Mapping[str, str], name: str) -> OptionSet:
        """The option set of these choices; what is not chosen stays. Its validity is not looked at."""
        options, present = self.base, self.present
        for dimension in self.dimensions:  # what all share stands first
            value = choices.get(dimension.name, present[dimension.name])
            if value == AS_ALL:
                value = _value(options, dimension.option, None)
            if value != _value(options, dimension.option, dimension.column):
                options = options.changed(dimension.option, value, dimension.column)
        return options.named(name)

    @property
    def present(self) -> dict[str, str]:
        """The choices that change nothing."""
        return self.choices_of(self.base)

    def largest_scale(self, families: Sequence[str]) -> float:
        """The largest scale at which no write buffer that can be chosen gets too small, at least 1."""
        chosen = [
            self.base.changed(one.option, one.values[0], one.column)
            for one in self.dimensions
            if one.option == "write_buffer_size" and one.values[0] != AS_ALL
        ]
        return largest_scale([self.base, *chosen], families)

    def choices_of(self, options: OptionSet) -> dict[str, str]:
        """Where another option set stands in this space: the nearest value of each ladder."""
        found = {}
        for dimension in self.dimensions:
            value = _value(options, dimension.option, dimension.column)
            is_as_all = dimension.column is not None and value == _value(options, dimension.option, None)
            found[dimension.name] = AS_ALL if is_as_all else _nearest(dimension.values, value)
        return found


def space_of(base: OptionSet, bytes_by_family: Mapping[str, float], frozen: Iterable[str] = ()) -> Space:
    """The space around an option set, with columns of their own for the families that carry the bytes.

    `frozen` names dimensions that keep their value: an option, which freezes it for columns too, or `COLUMN.option`.
    Raises InputError for a name that is no dimension.
    """
    dimensions = tuple(_dimensions(base, _heavy_columns(bytes_by_family)))
    names = {one.name for one in dimensions} | {one.option for one in dimensions}
    held = frozenset(frozen)
    for name in sorted(held - names):
        known = ", ".join(sorted(names))
        raise InputError(f"--freeze {name}", "nothing of that name is searched", f"there are {known}")
    return Space(base, tuple(one for one in dimensions if held.isdisjoint((one.name, one.option))))


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


def _dimensions(base: OptionSet, columns: Iterable[str]) -> Iterator[Dimension]:
    for option in SHARED:
        known = find_option(option)
        if known is not None and base.value_of(option) is not None:
            yield Dimension(option, None, _ladder(option, _value(base, option, None)))
    for column in columns:
        for option in OF_COLUMNS:
            present = _value(base, option, column)
            values = _ladder(option, present)
            place = values.index(present) + 1
            yield Dimension(option, column, (*values[:place], AS_ALL, *values[place:]))


def _ladder(option: str, present: str) -> tuple[str, ...]:
    if option in DOUBLINGS:
        size = int(present)
        if size <= 0:  # RocksDB chooses: that stays one of the choices
            return (present, *(str(1 << power) for power in range(28, 32)))
        least = LEAST_BUFFER_BYTES if option == "write_buffer_size" else LEAST_BYTES
        values = {max(least, min(MOST_BYTES, int(size * 2.0**power))) for power in DOUBLINGS[option]}
        return tuple(str(value) for value in sorted({*values, size}))
    values_of = LADDERS[option]
    return values_of if present in values_of else tuple(sorted((*values_of, present), key=_order))


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


def _value(options: OptionSet, option: str, column: str | None) -> str:
    """The value in force, as text; of a column that of its first family."""
    value = options.value_of(option, column)
    return "0" if value is None else value.removesuffix(".000000")


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
