"""Tables as reports hold them, whatever they are printed as."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Generic, TypeVar

T = TypeVar("T")
RowT = TypeVar("RowT")

# What spreadsheets take for the beginning of a formula (OWASP, CSV Injection); figures have it, too, and stay.
FORMULA = r"^[=+\-@\t\r]"
_FORMULA = re.compile(rf"{FORMULA}(?!\d*\.?\d+(?:e[+-]?\d+)?$)")


def as_text(value: T) -> T | str:
    """A cell of a CSV file: a text that a spreadsheet would compute stands behind an apostrophe."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


class Importance(IntEnum):
    """What is left out first where a screen is narrow: the minor columns, then the usual ones, never the key ones."""

    MINOR = 0
    USUAL = 1
    KEY = 2


@dataclass(frozen=True)  # without slots, which `Column[Row](...)` cannot be made with
class Column(Generic[RowT]):
    """One column: its heading, its cell of a row, whether words stand in it, and what colour says of a cell."""

    heading: str
    cell: Callable[[RowT], str]
    left: bool = False
    importance: Importance = Importance.KEY
    tone: Callable[[RowT], str | None] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A header, rows as wide, perhaps a total.

    Columns whose numbers are in `left` hold words and stand to the left; the first cell of a row names it. `tones`
    mark cells by (row, column), see `document.Tone`. Without `importance` all columns are key ones.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...] | None = None
    left: tuple[int, ...] = (0,)
    importance: tuple[Importance, ...] = ()
    tones: Mapping[tuple[int, int], str] = field(default_factory=dict)


def tabulate(columns: Sequence[Column[RowT]], rows: Iterable[RowT], total: RowT | None = None) -> Table:
    """The table of these rows; the first column stands to the left and is never left out."""
    every = list(rows)
    return Table(
        tuple(column.heading for column in columns),
        tuple(tuple(column.cell(row) for column in columns) for row in every),
        tuple(column.cell(total) for column in columns) if total is not None else None,
        tuple(place for place, column in enumerate(columns) if column.left or not place),
        tuple(column.importance for column in columns),
        {
            (number, place): tone
            for place, column in enumerate(columns)
            if column.tone is not None
            for number, row in enumerate(every)
            if (tone := column.tone(row))
        },
    )
