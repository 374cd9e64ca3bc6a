"""The one run of a bundle that a command is about: an OSD's or another database's, not a monitor's."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import InputError

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis


def read_run(paths: Sequence[str], name: str | None, quiet: bool) -> "RunAnalysis":
    """Read everything under `paths` and choose the run called `name`, or the only one there is to choose.

    Raises InputError where there is none, or several and no name.
    """
    from lsmlens.analyzer.analysis import analyze
    from lsmlens.cli.progress import Progress

    with Progress(paths, quiet=quiet) as progress:
        analysis = analyze(paths, None, None, progress.advance)
    runs = list(analysis.runs)
    source = " ".join(paths)
    if name is not None:
        chosen = [one for one in runs if name in (one.run.name, one.run.name.rsplit("/", 1)[-1])]
        if not chosen:
            raise InputError(source, f"no run called {name}", f"there are {_names(runs)}")
        if len(chosen) > 1:
            raise InputError(source, f"{len(chosen)} runs called {name}", f"there are {_names(chosen)}")
        return chosen[0]
    databases = [one for one in runs if not one.run.is_monitor] or runs
    written = [one for one in databases if one.families] or databases
    if not written:
        raise InputError(source, "no run of a database was found", "lsmlens analyze says what was read")
    if len(written) > 1:
        raise InputError(source, f"{len(written)} runs", f"say which with --run: {_names(written)}")
    if len(runs) > 1 and not quiet:
        print(f"note: of {len(runs)} runs this is about {written[0].run.name}", file=sys.stderr)
    return written[0]


def _names(runs: "Sequence[RunAnalysis]") -> str:
    return ", ".join(one.run.name for one in runs)
