"""Files a person asked for: by their suffix, written whole or not at all.

A command has a table of writers, by suffix. A picture (`.svg`, `.png`) holds one chart: the one that its name says
(`timeline.svg`), or that is said before it (`timeline=out/osd-0.svg`).
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lsmlens.analyzer.errors import LsmlensError

if TYPE_CHECKING:
    from lsmlens.reports.html.charts import Chart

PICTURES = (".svg", ".png")

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Output:
    """One file that was asked for: where, the suffix that says its format, and of a picture which chart."""

    path: Path
    suffix: str
    chart: str = ""


Writer = Callable[[ResultT, Output], None]
Charts = Callable[[ResultT, str], "Sequence[tuple[str, Chart]]"]


def picture_writers(charts: Charts[ResultT], hint: str) -> dict[str, Writer[ResultT]]:
    """The writers of pictures, by suffix.

    `charts` gives the charts of a name, each with its subject; `hint` says why there may be none, which the writers
    raise LsmlensError for.
    """

    def drawn(result: ResultT, output: Output) -> "Sequence[tuple[str, Chart]]":
        found = charts(result, output.chart)
        if not found:
            raise LsmlensError(f"nothing to draw in the chart {output.chart}", hint)
        return found

    def svg(result: ResultT, output: Output) -> None:
        from lsmlens.reports.html.pictures import to_svg

        output.path.write_text(to_svg(drawn(result, output)), encoding="utf-8")

    def png(result: ResultT, output: Output) -> None:
        from lsmlens.reports.html.pictures import to_png

        output.path.write_bytes(to_png(drawn(result, output)))

    return dict(zip(PICTURES, (svg, png), strict=True))


def parse_outputs(
    names: Sequence[str], writers: Mapping[str, Writer[ResultT]], charts: Sequence[str] = ()
) -> list[Output]:
    """What `-o` names, in their order.

    Raises LsmlensError for a name whose suffix says no format, whose folder is not there, or, of a picture, that is
    not of one of the `charts`.
    """
    return [_parse(name, writers, charts) for name in names]


def _parse(name: str, writers: Mapping[str, Writer[ResultT]], charts: Sequence[str]) -> Output:
    chosen, _, rest = name.partition("=")
    is_chosen = bool(rest) and chosen in charts
    path = Path(rest if is_chosen else name)
    suffix = next((one for one in sorted(writers, key=len, reverse=True) if _has_suffix(path, one)), None)
    if suffix is None:
        raise LsmlensError(f"{name}: no format for this suffix", f"use one of {' '.join(writers)}")
    if not path.parent.is_dir():
        raise LsmlensError(f"{path.parent}: no such folder", "make it first")
    if suffix not in PICTURES:
        return Output(path, suffix)
    chart = chosen if is_chosen else path.name[: -len(suffix)]
    if chart not in charts:
        known = ", ".join(charts)
        raise LsmlensError(f"{name}: no chart called {chart}", f"name the file after one, or say CHART=FILE: {known}")
    return Output(path, suffix, chart)


def _has_suffix(path: Path, suffix: str) -> bool:
    return path.name.lower().endswith(suffix) and len(path.name) > len(suffix)


def write(output: Output, result: ResultT, writers: Mapping[str, Writer[ResultT]]) -> None:
    """Write a result in the format that the output's suffix says. Raises LsmlensError where it cannot."""
    try:
        with whole_file(output.path) as temporary:
            writers[output.suffix](result, replace(output, path=temporary))
    except OSError as error:
        raise LsmlensError(f"{output.path}: {error.strerror or error}", "choose another place") from error


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
