"""Tables as reports hold them, and as aligned text: the first column to the left, the others to the right."""

from collections.abc import Sequence
from dataclasses import dataclass

GAP = "  "


@dataclass(frozen=True, slots=True)
class Table:
    """What a table says, whatever it is printed as: a header, rows as wide, perhaps a total.

    Columns whose numbers are in `left` hold words and stand to the left; the first cell of a row names it.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...] | None = None
    left: tuple[int, ...] = (0,)

    def lines(self) -> list[str]:
        """The table as aligned text."""
        return table(self.header, self.rows, self.total, self.left)


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    total: Sequence[str] | None = None,
    left: Sequence[int] = (0,),
) -> list[str]:
    """The lines of a table; `total` is set off below a rule, the columns `left` stand to the left."""
    every = [header, *rows] + ([total] if total else [])
    widths = [max(len(row[column]) for row in every) for column in range(len(header))]
    rule = GAP.join("─" * width for width in widths)
    lines = [_line(header, widths, left), rule, *(_line(row, widths, left) for row in rows)]
    return [*lines, rule, _line(total, widths, left)] if total else lines


def _line(cells: Sequence[str], widths: Sequence[int], left: Sequence[int]) -> str:
    return GAP.join(
        cell.ljust(width) if column in left else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ).rstrip()
