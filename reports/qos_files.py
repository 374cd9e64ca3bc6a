"""The files that `lsmlens qos -o` writes, by suffix."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import LsmlensError
from lsmlens.reports.output_files import Output, Writer
from lsmlens.tuners.qos.assessment import QosAssessment

if TYPE_CHECKING:
    from lsmlens.reports.html.charts import Chart


@dataclass(frozen=True, slots=True)
class QosReport:
    """What there is to report."""

    assessment: QosAssessment


def _json(report: QosReport, output: Output) -> None:
    from lsmlens.reports.qos_json import to_json

    output.path.write_text(to_json(report.assessment), encoding="utf-8")


def _text(report: QosReport, output: Output) -> None:
    from lsmlens.reports.qos_text import render

    output.path.write_text(render(report.assessment), encoding="utf-8")


def _markdown(report: QosReport, output: Output) -> None:
    from lsmlens.reports.qos_markdown import render

    output.path.write_text(render(report.assessment), encoding="utf-8")


def _html(report: QosReport, output: Output) -> None:
    from lsmlens.reports.html.page import render
    from lsmlens.reports.html.qos_page import qos_page

    output.path.write_text(render(qos_page(report.assessment)), encoding="utf-8")


def _svg(report: QosReport, output: Output) -> None:
    from lsmlens.reports.html.pictures import to_svg

    output.path.write_text(to_svg(_charts(report, output)), encoding="utf-8")


def _png(report: QosReport, output: Output) -> None:
    from lsmlens.reports.html.pictures import to_png

    output.path.write_bytes(to_png(_charts(report, output)))


def _charts(report: QosReport, output: Output) -> "list[tuple[str, Chart]]":
    from lsmlens.reports.html.qos_charts import qos_charts

    drawn = [(name, block.chart) for name, block in qos_charts(report.assessment) if block.chart.name == output.chart]
    if not drawn:
        raise LsmlensError(f"nothing to draw in the chart {output.chart}", "it needs mClock, or the simulation")
    return drawn


CHARTS = ("allocation", "front", "course", "recovery")
WRITERS: dict[str, Writer[QosReport]] = {
    ".html": _html,
    ".md": _markdown,
    ".json": _json,
    ".txt": _text,
    ".svg": _svg,
    ".png": _png,
}
