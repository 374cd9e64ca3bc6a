"""The files that `lsmlens replay -o` writes, by suffix."""

from lsmlens.reports.output_files import Output, Writer
from lsmlens.reports.replay_tables import ReplayReport


def _json(report: ReplayReport, output: Output) -> None:
    from lsmlens.reports.replay_json import to_json

    output.path.write_text(to_json(report), encoding="utf-8")


def _text(report: ReplayReport, output: Output) -> None:
    from lsmlens.reports.replay_text import render

    output.path.write_text(render(report), encoding="utf-8")


def _csv(report: ReplayReport, output: Output) -> None:
    from lsmlens.reports.replay_csv import write_runs

    write_runs(report, output.path)


WRITERS: dict[str, Writer[ReplayReport]] = {".json": _json, ".txt": _text, ".csv": _csv}
