"""How far a download is, on standard error."""

import os
import sys
import time
from types import TracebackType

from lsmlens.cli.progress import CLEAR_LINE, INTERVAL_SECONDS, QUIET_SECONDS


class DownloadProgress:
    """One line that says what is fetched and how far it is; nothing at all where no person looks."""

    def __init__(self, what: str, quiet: bool = False) -> None:
        self._what = what
        self._shown = False
        self._enabled = not quiet and sys.stderr.isatty()
        self._next = time.monotonic() + QUIET_SECONDS

    def __enter__(self) -> "DownloadProgress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write(CLEAR_LINE)
            sys.stderr.flush()

    def advance(self, here: int, total: int) -> None:
        """Note that `here` of `total` bytes have come."""
        if not self._enabled or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + INTERVAL_SECONDS
        self._shown = True
        line = f"fetching {self._what} {100 * here // max(total, 1):3d} %  {here >> 20} of {total >> 20} MiB"
        width = os.get_terminal_size(sys.stderr.fileno()).columns
        sys.stderr.write(CLEAR_LINE + line[: max(width - 1, 20)])
        sys.stderr.flush()
