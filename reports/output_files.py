"""Files a person asked for: by their suffix, written whole or not at all."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.errors import LsmlensError


def _json(analysis: Analysis, path: Path) -> None:
    from lsmlens.reports.json_document import to_json

    path.write_text(to_json(analysis), encoding="utf-8")


def _text(analysis: Analysis, path: Path) -> None:
    from lsmlens.reports.text import render

    path.write_text(render(analysis), encoding="utf-8")


def _csv(analysis: Analysis, path: Path) -> None:
    from lsmlens.reports.jobs_csv import write_jobs

    write_jobs(analysis, path)


def _parquet(analysis: Analysis, path: Path) -> None:
    from lsmlens.reports.events_parquet import write_events

    write_events(analysis, path)


WRITERS: dict[str, Callable[[Analysis, Path], None]] = {
    ".json": _json,
    ".txt": _text,
    ".csv": _csv,
    ".parquet": _parquet,
}


def check_names(names: Sequence[str]) -> None:
    """Raise LsmlensError for a name whose suffix says no format, or whose folder is not there."""
    for name in names:
        path = Path(name)
        if path.suffix.lower() not in WRITERS:
            raise LsmlensError(f"{name}: no format for this suffix", f"use one of {' '.join(WRITERS)}")
        if not path.parent.is_dir():
            raise LsmlensError(f"{path.parent}: no such folder", "make it first")


def write(name: str, analysis: Analysis) -> None:
    """Write an analysis in the format that the name's suffix says. Raises LsmlensError where it cannot."""
    path = Path(name)
    try:
        with whole_file(path) as temporary:
            WRITERS[path.suffix.lower()](analysis, temporary)
    except OSError as error:
        raise LsmlensError(f"{name}: {error.strerror or error}", "choose another place") from error


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its name only once it is complete and on disk."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
