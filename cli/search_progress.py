"""Progress of a search on standard error: what is done now; and for people who look, how far its replays are."""

import sys
import time
from typing import TYPE_CHECKING

from lsmlens.cli.progress_line import ProgressLine, duration

if TYPE_CHECKING:
    from lsmlens.tuners.replays.replayer import Progress


class SearchProgress(ProgressLine):
    """Says the stage and its replays in one line on a terminal, in a line for each stage elsewhere."""

    def __init__(self, quiet: bool = False) -> None:
        super().__init__(quiet, quiet_seconds=0.0)
        self._quiet = quiet
        self._stage = ""
        self._began = time.monotonic()

    def say(self, stage: str) -> None:
        """Say what is done now."""
        self._stage = stage
        if self._enabled:
            self._draw(self._told())
        elif not self._quiet:
            print(self._told(), file=sys.stderr, flush=True)

    def show(self, progress: "Progress") -> None:
        """Say how far the stage's replays are."""
        if self._is_due():
            left = progress.seconds_left
            line = f"{self._told()}  {100 * progress.share:.0f} %"
            self._draw(line + (f", {duration(left)} left" if left is not None else ""))

    def _told(self) -> str:
        return f"{duration(time.monotonic() - self._began)}: {self._stage}"
