"""Progress of replays on standard error: runs that are done, the share of the work, time left."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from lsmlens.cli.progress import CLEAR_LINE, INTERVAL_SECONDS, QUIET_SECONDS

if TYPE_CHECKING:
    from lsmlens.tuners.replays.runner import Progress


class TrialProgress:
    """One line that is written anew; nothing at all where no person looks."""

    def __init__(self, quiet: bool = False) -> None:
        self._enabled = not quiet and sys.stderr.isatty()
        self._shown = False
        self._next = time.monotonic() + QUIET_SECONDS

    def __enter__(self) -> "TrialProgress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write(CLEAR_LINE)
            sys.stderr.flush()

    def show(self, progress: "Progress") -> None:
        """Say how far the runs are."""
        if not self._enabled or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + INTERVAL_SECONDS
        self._shown = True
        failed = f", {progress.failed} failed" if progress.failed else ""
        left = progress.seconds_left
        line = f"replaying {100 * progress.share:3.0f} %  {progress.done} of {progress.runs} runs done{failed}"
        sys.stderr.write(CLEAR_LINE + line + (f"  {duration(left)} left" if left is not None else ""))
        sys.stderr.flush()


def duration(seconds: float) -> str:
    """A time span as people say it, to its largest unit or two."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
