"""Logs in, facts out: bundles, scanning, jobs as typed columns, metrics and findings.

    from lsmlens.analyzer import load

    analysis = load("bundle/")
    analysis.run("osd.0").jobs  # a polars DataFrame, one row a flush, compaction or trivial move

Names are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    from lsmlens.analyzer.analysis import Analysis as Analysis
    from lsmlens.analyzer.analysis import RunAnalysis as RunAnalysis
    from lsmlens.analyzer.errors import InputError as InputError
    from lsmlens.analyzer.errors import LsmlensError as LsmlensError
    from lsmlens.analyzer.findings import Finding as Finding
    from lsmlens.analyzer.runs.selection import Selection as Selection

_HOMES = {
    "Analysis": "analysis",
    "RunAnalysis": "analysis",
    "InputError": "errors",
    "LsmlensError": "errors",
    "Finding": "findings",
    "Selection": "runs.selection",
}
__all__ = ["Analysis", "Finding", "InputError", "LsmlensError", "RunAnalysis", "Selection", "__version__", "load"]


def load(
    *paths: "str | PathLike[str]", selection: "Selection | None" = None, window_seconds: float | None = None
) -> "Analysis":
    """Read everything under `paths` (logs, folders, archives), measure and diagnose it.

    `selection` narrows the jobs that count, `window_seconds` asks for sums by time window. Raises InputError for a path
    that does not exist and where there is no log that could be read, ValueError for a time in `selection` that is none.
    """
    from lsmlens.analyzer.diagnosis import analyze

    return analyze([str(path) for path in paths], selection, window_seconds)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("lsmlens")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"lsmlens.analyzer.{_HOMES[name]}"), name)
