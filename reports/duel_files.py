"""The files that `lsmlens tune --ab -o` writes, by suffix."""

from lsmlens.reports.duel_report import render, to_json
from lsmlens.reports.output_files import Output, Writer
from lsmlens.tuners.search.duel import Duel


def _json(duel: Duel, output: Output) -> None:
    output.path.write_text(to_json(duel), encoding="utf-8")


def _text(duel: Duel, output: Output) -> None:
    output.path.write_text(render(duel), encoding="utf-8")


WRITERS: dict[str, Writer[Duel]] = {".json": _json, ".txt": _text}
