"""The one run of a bundle that a command is about, read with its progress shown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsmlens.cli.progress import Progress
from lsmlens.cli.streams import note

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis


def read_run(paths: Sequence[str], name: str | None, quiet: bool, heaviest: bool = False) -> "RunAnalysis":
    """The run called `name`, or the one to choose: see `tuners.api.read_run`."""
    from lsmlens.tuners import api

    with Progress(quiet) as progress:
        advance = progress.reading(paths)
        if quiet and not heaviest:
            return api.read_run(paths, name, on_bytes=advance)
        return api.read_run(paths, name, heaviest=heaviest, on_bytes=advance, on_notice=note)
