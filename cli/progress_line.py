"""One line on standard error that says how far something is: written anew on a terminal, cleared at the end."""

import os
import sys
import time
from types import TracebackType
from typing import Self

QUIET_SECONDS = 1.0
INTERVAL_SECONDS = 0.2
CLEAR_LINE = "\r\x1b[K"
LEAST_WIDTH = 20
USUAL_WIDTH = 80  # of a terminal that does not say its own


class ProgressLine:
    """The line of one piece of work; nothing at all where no person looks, or `quiet` is asked for.

    It is first due after `quiet_seconds`, so that fast work says nothing, then every `interval_seconds`.
    """

    def __init__(
        self, quiet: bool = False, quiet_seconds: float = QUIET_SECONDS, interval_seconds: float = INTERVAL_SECONDS
    ) -> None:
        self._enabled = not quiet and sys.stderr.isatty()
        self._shown = False
        self._interval = interval_seconds
        self._next = time.monotonic() + quiet_seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write(CLEAR_LINE)
            sys.stderr.flush()

    def _is_due(self) -> bool:
        """Whether it is time to write the line anew; then it is not, for the interval."""
        now = time.monotonic()
        if not self._enabled or now < self._next:
            return False
        self._next = now + self._interval
        return True

    def _draw(self, line: str) -> None:
        """Write the line anew, as much of it as the terminal has room for."""
        if not self._enabled:
            return
        self._shown = True
        width = os.get_terminal_size(sys.stderr.fileno()).columns or USUAL_WIDTH
        sys.stderr.write(CLEAR_LINE + line[: max(width - 1, LEAST_WIDTH)])
        sys.stderr.flush()


def duration(seconds: float) -> str:
    """A time span as people say it, to its largest unit or two."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
