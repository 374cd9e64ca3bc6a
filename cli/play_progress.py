"""Progress of simulations on standard error: candidates that were played."""

from typing import Self

from lsmlens.cli.progress_line import ProgressLine


class PlayProgress(ProgressLine):
    """Says that something is simulated from the start on, then each candidate, for many may come at once."""

    def __init__(self, quiet: bool = False) -> None:
        super().__init__(quiet, interval_seconds=0.0)

    def __enter__(self) -> Self:
        self._draw("simulating")
        return self

    def tell(self, name: str, done: int, total: int) -> None:
        """Say which candidate was played, and how many of how many were."""
        if self._is_due():
            self._draw(f"simulating {done} of {total}  {name}")
