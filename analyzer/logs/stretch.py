"""A stretch of a log in memory, and the lines that hold a position in it."""

import re
from collections.abc import Callable

from lsmlens.analyzer.bundles.transports import SOURCE, SOURCE_LINE
from lsmlens.analyzer.findings import Evidence
from lsmlens.analyzer.logs.stamps import STAMP
from lsmlens.analyzer.printable import printable
from stringzilla import find, rfind

LINE_START_LIMIT = 1 << 16
SAMPLE_BYTES = 160


class Stretch:
    """Whole lines: `view[begin:end]`, of which `view[0]` is byte `offset` of the log.

    What stands before `begin` in the view was in the stretch before, and may be looked at. In a `shared` log lines of
    several daemons stand, each with its source.
    """

    __slots__ = ("_line_number", "begin", "end", "member", "offset", "shared", "view")

    def __init__(
        self,
        view: memoryview,
        begin: int,
        end: int,
        offset: int = 0,
        *,
        member: str = "",
        shared: bool = False,
        line_number: Callable[[int], int] | None = None,
    ) -> None:
        self.view = view
        self.begin = begin
        self.end = end
        self.offset = offset
        self.member = member
        self.shared = shared
        self._line_number = line_number

    def line_start(self, position: int) -> int:
        """Where the line that holds `position` begins."""
        limit = max(0, position - LINE_START_LIMIT)
        return max(limit, int(rfind(self.view, b"\n", limit, position)) + 1)

    def line_number(self, position: int) -> int | None:
        """Its number in the log, from 1; None where lines are not counted."""
        return self._line_number(self.offset + position) if self._line_number else None

    def stamp(self, position: int) -> re.Match[bytes] | None:
        """The daemon's own stamp on the line that holds `position`; what carried the line may have put one before."""
        begin = self.line_start(position)
        if self.shared and (source := SOURCE_LINE.match(self.view, begin, position)):
            begin = source.end()
        return STAMP.search(self.view, begin, position)

    def source(self, position: int) -> str:
        """Who wrote the line that holds `position`; empty in a log of one daemon."""
        if not self.shared:
            return ""
        line = bytes(self.view[max(self.begin, self.line_start(position)) : position])
        match = SOURCE.search(line)
        return match[1].decode("utf-8", "replace") if match else ""

    def evidence(self, position: int, after: int) -> Evidence:
        """The line that holds an anchor at `position`, as evidence."""
        end = find(self.view, b"\n", after, min(after + SAMPLE_BYTES, self.end))
        text = bytes(self.view[self.line_start(position) : end if end >= 0 else after]).decode("utf-8", "replace")
        return Evidence(self.member, printable(text.rstrip()), self.line_number(position))

    def sample(self, start: int, stop: int) -> str:
        """The beginning of what was not understood, fit to be printed."""
        text = bytes(self.view[start : min(stop, start + SAMPLE_BYTES)]).decode("utf-8", "replace")
        return printable(text.rstrip())
