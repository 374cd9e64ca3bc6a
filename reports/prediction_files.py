"""The files that `lsmlens predict -o` writes, by suffix."""

from typing import TYPE_CHECKING

from lsmlens.reports.output_files import Output, Writer, picture_writers
from lsmlens.reports.prediction_report import PredictionReport

if TYPE_CHECKING:
    from lsmlens.reports.html.charts import Chart


def _json(report: PredictionReport, output: Output) -> None:
    from lsmlens.reports.prediction_json import to_json

    output.path.write_text(to_json(report), encoding="utf-8")


def _text(report: PredictionReport, output: Output) -> None:
    from lsmlens.reports.prediction_text import render

    output.path.write_text(render(report), encoding="utf-8")


def _markdown(report: PredictionReport, output: Output) -> None:
    from lsmlens.reports.prediction_markdown import render

    output.path.write_text(render(report), encoding="utf-8")


def _html(report: PredictionReport, output: Output) -> None:
    from lsmlens.reports.html.page import render
    from lsmlens.reports.html.prediction_page import prediction_page

    output.path.write_text(render(prediction_page(report)), encoding="utf-8")


def _charts(report: PredictionReport, name: str) -> "list[tuple[str, Chart]]":
    from lsmlens.reports.html.prediction_charts import families_charts, figures_chart

    if name == "families":
        return [(one.name, chart) for one, chart in families_charts(report)]
    chart = figures_chart(report)
    return [] if chart is None or name != "figures" else [(report.prediction.anchor.fitted.name, chart)]


CHARTS = ("figures", "families")
WRITERS: dict[str, Writer[PredictionReport]] = {
    ".html": _html,
    ".md": _markdown,
    ".json": _json,
    ".txt": _text,
    **picture_writers(_charts, "no replay reached its end"),
}
