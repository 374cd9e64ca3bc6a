"""The one run of a bundle that a command is about: an OSD's or another database's, not a monitor's."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import InputError
from lsmlens.cli.streams import note

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis


def read_run(paths: Sequence[str], name: str | None, quiet: bool) -> "RunAnalysis":
    """Read everything under `paths` and choose the run called `name`, or the only one there is to choose.

    Raises InputError where there is none, or several and no name.
    """
    runs = _read(paths, quiet)
    if name is not None:
        return _called(name, runs, paths)
    databases = [one for one in runs if not one.run.is_monitor] or runs
    written = [one for one in databases if one.families] or databases
    if not written:
        raise _no_database(paths)
    if len(written) > 1:
        raise InputError(_source(paths), f"{len(written)} runs", f"say which with --run: {_names(written)}")
    if len(runs) > 1 and not quiet:
        note(f"of {len(runs)} runs this is about {written[0].run.name}")
    return written[0]


def read_heaviest_run(paths: Sequence[str], name: str | None, quiet: bool) -> "RunAnalysis":
    """Read everything under `paths` and choose the run called `name`, or the one that flushes and compacts most bytes.

    Says which it is where there are others. Raises InputError where no run flushed or compacted, or none is called so.
    """
    runs = _read(paths, quiet)
    if name is not None:
        return _called(name, runs, paths)
    written = [one for one in runs if one.families]
    databases = [one for one in written if not one.run.is_monitor] or written
    if not databases:
        raise _no_database(paths)
    heaviest = max(databases, key=lambda one: one.total.flush_bytes + one.total.compaction_output_bytes)
    if len(databases) > 1:
        note(f"of {len(databases)} runs this is about {heaviest.run.name}, which writes most; --run chooses another")
    return heaviest


def _read(paths: Sequence[str], quiet: bool) -> "list[RunAnalysis]":
    from lsmlens.analyzer.diagnosis import analyze
    from lsmlens.cli.progress import Progress

    with Progress(quiet) as progress:
        return list(analyze(paths, None, None, progress.reading(paths)).runs)


def _called(name: str, runs: "Sequence[RunAnalysis]", paths: Sequence[str]) -> "RunAnalysis":
    """The run of this name: `osd.3`, or whole, `host/osd.3`."""
    chosen = [one for one in runs if name in (one.run.name, one.run.name.rsplit("/", 1)[-1])]
    if not chosen:
        raise InputError(_source(paths), f"no run called {name}", f"there are {_names(runs)}")
    if len(chosen) > 1:
        raise InputError(_source(paths), f"{len(chosen)} runs called {name}", f"there are {_names(chosen)}")
    return chosen[0]


def _no_database(paths: Sequence[str]) -> InputError:
    return InputError(_source(paths), "no run of a database was found", "lsmlens analyze says what was read")


def _source(paths: Sequence[str]) -> str:
    return " ".join(paths)


def _names(runs: "Sequence[RunAnalysis]") -> str:
    return ", ".join(one.run.name for one in runs)
