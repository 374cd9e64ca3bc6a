"""Progress of a search on standard error: what is done now; and for people who look, how far its replays are."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from lsmlens.cli.progress import CLEAR_LINE, INTERVAL_SECONDS
from lsmlens.cli.trial_progress import duration

if TYPE_CHECKING:
    from lsmlens.tuners.replays.runner import Progress


class SearchProgress:
    """One line that is written anew on a terminal, a line for each stage elsewhere."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._redraws = sys.stderr.isatty()
        self._stage = ""
        self._began = time.monotonic()
        self._next = 0.0

    def __enter__(self) -> "SearchProgress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._redraws and not self._quiet:
            sys.stderr.write(CLEAR_LINE)
            sys.stderr.flush()

    def say(self, stage: str) -> None:
        """Say what is done now."""
        self._stage = stage
        if self._quiet:
            return
        if self._redraws:
            self._draw("")
        else:
            print(f"{duration(time.monotonic() - self._began)}: {stage}", file=sys.stderr, flush=True)

    def show(self, progress: "Progress") -> None:
        """Say how far the stage's replays are."""
        if self._quiet or not self._redraws or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + INTERVAL_SECONDS
        left = progress.seconds_left
        self._draw(f"  {100 * progress.share:.0f} %" + (f", {duration(left)} left" if left is not None else ""))

    def _draw(self, words: str) -> None:
        line = f"{duration(time.monotonic() - self._began)}: {self._stage}{words}"
        sys.stderr.write(CLEAR_LINE + line[:118])
        sys.stderr.flush()
