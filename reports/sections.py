"""Sections of a terminal report: a title and its lines, an empty line between two."""

from collections.abc import Iterable
from textwrap import wrap

from lsmlens.analyzer.printable import printable

BOLD, RESET = "\x1b[1m", "\x1b[0m"
WIDTH = 118


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


def indented(lines: Iterable[str]) -> list[str]:
    """Lines as they stand below a title."""
    return ["  " + line for line in lines]


def note_lines(text: str) -> list[str]:
    """A note as lines below a title: what a reader has to know to take the figures for what they are."""
    return wrap(f"! {text}", WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
