"""Progress of replays on standard error: runs that are done, the share of the work, time left."""

from typing import TYPE_CHECKING

from lsmlens.cli.progress_line import ProgressLine, duration

if TYPE_CHECKING:
    from lsmlens.tuners.replays.replayer import Progress


class TrialProgress(ProgressLine):
    """Says how many runs are done, and how long the others take."""

    def show(self, progress: "Progress") -> None:
        """Say how far the runs are."""
        if not self._is_due():
            return
        failed = f", {progress.failed} failed" if progress.failed else ""
        left = progress.seconds_left
        line = f"replaying {100 * progress.share:3.0f} %  {progress.done} of {progress.runs} runs done{failed}"
        self._draw(line + (f"  {duration(left)} left" if left is not None else ""))
