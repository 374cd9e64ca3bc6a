"""Progress of simulations on standard error: candidates that were played."""

import sys
import time
from types import TracebackType

from lsmlens.cli.progress import CLEAR_LINE, QUIET_SECONDS


class PlayProgress:
    """One line that is written anew; nothing at all where no person looks."""

    def __init__(self, quiet: bool = False) -> None:
        self._enabled = not quiet and sys.stderr.isatty()
        self._shown = False
        self._begin = time.monotonic() + QUIET_SECONDS

    def __enter__(self) -> "PlayProgress":
        self._write("simulating")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write(CLEAR_LINE)
            sys.stderr.flush()

    def tell(self, name: str, done: int, total: int) -> None:
        """Say which candidate was played, and how many of how many were."""
        if time.monotonic() >= self._begin:
            self._write(f"simulating {done} of {total}  {name}")

    def _write(self, line: str) -> None:
        if self._enabled:
            self._shown = True
            sys.stderr.write(CLEAR_LINE + line)
            sys.stderr.flush()
