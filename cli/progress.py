"""How far a command is: one bar on standard error, with the name of what is done now."""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from lsmlens.cli.streams import note

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis
    from lsmlens.tuners.replays.replayer import ReplayProgress as Runs
    from rich.progress import Progress as Bar

QUIET_SECONDS = 1.0  # reading that is over sooner says nothing
INTERVAL_SECONDS = 0.1
WHOLE = 1000  # steps of the bar


class Progress:
    """The bar of one command; nothing at all where no person looks, or `quiet` is asked for.

    Each phase of the command begins the bar anew under its own name; the end of the command takes it away.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._enabled = not quiet and sys.stderr.isatty()
        self._bar: Bar | None = None
        self._phase = ""
        self._next = 0.0

    def __enter__(self) -> Self:
        # polars, imported by now, has the system go on with a read that an interrupt ended: a wait for a pipe's writer
        # could not be left.
        signal.siginterrupt(signal.SIGINT, True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def reading(self, paths: Sequence[str]) -> Callable[[str, int], None]:
        """The phase in which paths are read: to be told each member that is read, and how many bytes more."""
        self._phase, self._next = "reading", time.monotonic() + QUIET_SECONDS
        total = sum(map(_size, paths)) if self._enabled else 0
        read = 0

        def advance(member: str, count: int) -> None:
            nonlocal read
            read += count
            self._show(read / total if total >= read > 0 else None, f"{read >> 20} MiB  {member}")

        return advance

    def replayed(self, runs: "Runs") -> None:
        """Say how far the replays of a phase are."""
        failed = f", {runs.failed} failed" if runs.failed else ""
        left = "" if runs.seconds_left is None else f"  {duration(runs.seconds_left)} left"
        self._show(runs.share, f"{runs.done} of {runs.runs} runs{failed}{left}")

    def simulating(self) -> Callable[[str, int, int], None]:
        """The phase of simulations: to be told each candidate that was played, and how many of how many were."""
        self.begin("simulating")
        return lambda name, done, total: self._show(done / max(total, 1), f"{done} of {total}  {name}")

    def counting(self, phase: str) -> Callable[[str, int, int], None]:
        """A phase of steps, to be told what was done last, and how many of how many."""
        self.begin(phase)
        return lambda name, done, total: self._show(done / max(total, 1), f"{done} of {total}  {name}")

    def fetching(self, what: str) -> Callable[[int, int], None]:
        """The phase of a download, to be told how many of how many bytes have come."""
        self.begin(f"fetching {what}")
        return lambda here, total: self._show(here / max(total, 1), f"{here >> 20} of {total >> 20} MiB")

    def begin(self, phase: str) -> None:
        """Begin a phase of which it is not known yet how long it takes."""
        self._phase, self._next = phase, 0.0
        self._show(None, "")

    def _show(self, share: float | None, detail: str) -> None:
        """Draw the bar, if it is time to: `share` is what is done of the phase, from 0 to 1."""
        now = time.monotonic()
        if not self._enabled or now < self._next:
            return
        self._next = now + INTERVAL_SECONDS
        if self._bar is None:
            self._bar = _bar()
        for task in self._bar.task_ids:
            self._bar.remove_task(task)
        total = None if share is None else WHOLE
        self._bar.add_task(self._phase, total=total, completed=round(WHOLE * (share or 0.0)), detail=detail)
        self._bar.start()  # nothing, but for the first time


def _bar() -> "Bar":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.table import Column

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[detail]}", markup=False, table_column=Column(ratio=1, no_wrap=True)),  # cut if need be
    )
    # Without a thread of its own: processes are forked while it is shown.
    return Progress(
        *columns, console=Console(stderr=True), auto_refresh=False, expand=True, transient=True, redirect_stdout=False
    )


def duration(seconds: float) -> str:
    """A time span as people say it, to its largest unit or two."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _size(path: str) -> int:
    """Bytes under `path`, 0 where they cannot be known."""
    root = Path(path)
    try:
        if root.is_file():
            return root.stat().st_size
        return sum((Path(folder) / name).stat().st_size for folder, _, names in os.walk(root) for name in names)
    except OSError:
        return 0


def read_run(paths: Sequence[str], name: str | None, quiet: bool, heaviest: bool = False) -> "RunAnalysis":
    """The run called `name`, or the one to choose: see `tuners.api.read_run`."""
    from lsmlens.tuners import api

    with Progress(quiet) as progress:
        advance = progress.reading(paths)
        if quiet and not heaviest:
            return api.read_run(paths, name, on_bytes=advance)
        return api.read_run(paths, name, heaviest=heaviest, on_bytes=advance, on_notice=note)
