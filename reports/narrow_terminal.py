"""A terminal report for a terminal narrower than it: wide tables are folded, long lines wrapped.

Only for a terminal: in a file or a pipe, lines stay whole for the tools that read them.
"""

import itertools
import re
from collections.abc import Sequence
from textwrap import wrap

# ─────────────  ───────  ─────────
_RULE = re.compile(r" *─+(?:  ─+)*")
_COLUMN = re.compile(r"─+")
# What is indented so far is a command to paste.
COMMAND_INDENT = 8
LEAST_WIDTH = 40

Span = tuple[int, int]


def fitted(text: str, width: int) -> str:
    """The report with no line longer than `width`, but for commands, and for what has no place to break."""
    width = max(width, LEAST_WIDTH)
    lines = text.split("\n")
    said: list[str] = []
    at = 0
    while at < len(lines):
        rule = lines[at + 1] if at + 1 < len(lines) else ""
        if len(rule) > width and _RULE.fullmatch(rule):
            spans = [match.span() for match in _COLUMN.finditer(rule)]
            stop = at + 1
            while stop < len(lines) and _is_row(lines[stop], spans):
                stop += 1
            said += _folded(lines[at:stop], spans, width)
            at = stop
        else:
            said += _wrapped(lines[at], width)
            at += 1
    return "\n".join(said)


def _is_row(line: str, spans: Sequence[Span]) -> bool:
    """Whether a line keeps to a table's columns."""
    gaps = ((end, start) for (_, end), (start, _) in itertools.pairwise(spans))
    return bool(line) and len(line) <= spans[-1][1] and all(not line[end:start].strip() for end, start in gaps)


def _folded(rows: Sequence[str], spans: Sequence[Span], width: int) -> list[str]:
    """The table in parts one below the other, each with the first column and as many others as there is room for."""
    first, *others = spans
    parts: list[list[Span]] = []
    room = 0
    for span in others:
        needed = span[1] - span[0] + 2
        if not parts or needed > room:
            parts.append([first])
            room = width - first[1]
        parts[-1].append(span)
        room -= needed
    said: list[str] = []
    for part in parts:
        said += [""] if said else []
        said += ["  ".join(row[start:end].ljust(end - start) for start, end in part).rstrip() for row in rows]
    return said


def _wrapped(line: str, width: int) -> list[str]:
    indent = len(line) - len(line.lstrip())
    if len(line) <= width or indent >= COMMAND_INDENT or "\x1b" in line:
        return [line]
    hanging = " " * (indent + 2)
    return wrap(line, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)
