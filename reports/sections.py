"""Sections of a terminal report: a title and its lines, an empty line between two."""

from collections.abc import Iterable

from lsmlens.analyzer.printable import printable

BOLD, RESET = "\x1b[1m", "\x1b[0m"


def lay_out(sections: Iterable[tuple[str, Iterable[str]]], colour: bool = False) -> str:
    """The text of all sections, ending in a newline; titles have terminal emphasis where `colour` is set.

    What a terminal would take for a command is made printable in titles and lines.
    """
    lines: list[str] = []
    for title, body in sections:
        if lines:
            lines.append("")
        title = printable(title)
        lines.append(f"{BOLD}{title}{RESET}" if colour else title)
        lines += map(printable, body)
    return "\n".join(lines) + "\n"
