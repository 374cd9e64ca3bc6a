"""Progress on standard error, for whatever takes longer than a second."""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

QUIET_SECONDS = 1.0
INTERVAL_SECONDS = 0.2
CLEAR_LINE = "\r\x1b[K"


class Progress:
    """One line that says what is being read and how far it is; nothing at all where no person looks."""

    def __init__(self, paths: Sequence[str], quiet: bool = False) -> None:
        self._shown = False
        self._enabled = not quiet and sys.stderr.isatty()
        self._total = sum(map(_size, paths)) if self._enabled else 0
        self._read = 0
        self._next = time.monotonic() + QUIET_SECONDS

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write(CLEAR_LINE)
            sys.stderr.flush()

    def advance(self, member: str, count: int) -> None:
        """Note that `count` more bytes were read, now of `member`."""
        self._read += count
        if not self._enabled or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + INTERVAL_SECONDS
        self._shown = True
        share = f"{100 * self._read / self._total:3.0f} %" if self._total >= self._read > 0 else ""
        width = os.get_terminal_size(sys.stderr.fileno()).columns if sys.stderr.isatty() else 80
        line = f"reading {share} {self._read >> 20} MiB  {member}"
        sys.stderr.write(CLEAR_LINE + line[: max(width - 1, 20)])
        sys.stderr.flush()


def _size(path: str) -> int:
    """Bytes under `path`, 0 where they cannot be known."""
    root = Path(path)
    try:
        if root.is_file():
            return root.stat().st_size
        return sum((Path(folder) / name).stat().st_size for folder, _, names in os.walk(root) for name in names)
    except OSError:
        return 0
