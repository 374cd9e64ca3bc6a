"""Progress of reading on standard error, for whatever takes longer than a second."""

import os
from collections.abc import Sequence
from pathlib import Path

from lsmlens.cli.progress_line import ProgressLine


class Progress(ProgressLine):
    """Says what is being read and how far it is."""

    def __init__(self, paths: Sequence[str], quiet: bool = False) -> None:
        super().__init__(quiet)
        self._total = sum(map(_size, paths)) if self._enabled else 0
        self._read = 0

    def advance(self, member: str, count: int) -> None:
        """Note that `count` more bytes were read, now of `member`."""
        self._read += count
        if self._is_due():
            share = f"{100 * self._read / self._total:3.0f} %" if self._total >= self._read > 0 else ""
            self._draw(f"reading {share} {self._read >> 20} MiB  {member}")


def _size(path: str) -> int:
    """Bytes under `path`, 0 where they cannot be known."""
    root = Path(path)
    try:
        if root.is_file():
            return root.stat().st_size
        return sum((Path(folder) / name).stat().st_size for folder, _, names in os.walk(root) for name in names)
    except OSError:
        return 0
