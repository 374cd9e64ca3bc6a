"""GitHub Actions: annotations on standard output, and the step's summary.

    ::warning title=R05 Keys outlive their flush,file=ceph-osd.0.log,line=12::osd.0 p-0: leak 0.94

GitHub shows at most ten errors, ten warnings and ten notices of a step, so the gravest come first.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.printable import printable
from lsmlens.reports.markdown import SUMMARY_BYTES

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


@dataclass(frozen=True, slots=True)
class Annotation:
    """One line of a check: how grave it is, what it says, and the place in a file where one is known."""

    level: str
    title: str
    message: str
    file: str | None = None
    line: int | None = None

    def command(self) -> str:
        """The workflow command that makes it."""
        properties = {"title": self.title, "file": self.file, "line": self.line}
        given = [f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None]
        return f"::{self.level} {','.join(given)}::{_message(self.message)}"


def commands(made: Iterable[Annotation]) -> str:
    """The lines to print; empty without annotations."""
    return "".join(f"{one.command()}\n" for one in made)


def append_summary(markdown: str) -> None:
    """Append a report to the step's summary, where there is one. Raises LsmlensError where it cannot be written."""
    name = os.environ.get(SUMMARY_VARIABLE)
    if not name:
        return
    try:
        with Path(name).open("a", encoding="utf-8") as summary:
            summary.write(markdown)
    except OSError as error:
        raise LsmlensError(f"{SUMMARY_VARIABLE}: {name}: {error.strerror or error}", "set it to a file") from error


def summary_room() -> int:
    """Characters that the step's summary still takes, if they are of two bytes in the mean; its limit is in bytes."""
    name = os.environ.get(SUMMARY_VARIABLE)
    try:
        used = Path(name).stat().st_size if name else 0
    except OSError:
        used = 0
    return max(0, (SUMMARY_BYTES - used) // 2)


def _message(text: str) -> str:
    return "%0A".join(printable(line) for line in text.replace("%", "%25").splitlines())


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
