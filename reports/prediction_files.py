"""The files that `lsmlens predict -o` writes, by suffix."""

from lsmlens.reports.output_files import Output, Writer
from lsmlens.reports.prediction_report import PredictionReport


def _json(report: PredictionReport, output: Output) -> None:
    from lsmlens.reports.prediction_json import to_json

    output.path.write_text(to_json(report), encoding="utf-8")


def _text(report: PredictionReport, output: Output) -> None:
    from lsmlens.reports.prediction_text import render

    output.path.write_text(render(report), encoding="utf-8")


WRITERS: dict[str, Writer[PredictionReport]] = {".json": _json, ".txt": _text}
