"""The files that `lsmlens qos -o` writes, by suffix."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsmlens.analyzer.findings import Severity
from lsmlens.reports.output_files import Output, Writer, picture_writers
from lsmlens.tuners.qos.assessment import QosAssessment

if TYPE_CHECKING:
    from lsmlens.reports.html.charts import Chart


@dataclass(frozen=True, slots=True)
class QosReport:
    """What there is to report, and the severity that fails, if one was asked for."""

    assessment: QosAssessment
    fail_on: Severity | None = None


def _json(report: QosReport, output: Output) -> None:
    from lsmlens.reports.qos_json import to_json

    output.path.write_text(to_json(report.assessment), encoding="utf-8")


def _text(report: QosReport, output: Output) -> None:
    from lsmlens.reports.qos_text import render

    output.path.write_text(render(report.assessment), encoding="utf-8")


def _markdown(report: QosReport, output: Output) -> None:
    from lsmlens.reports.qos_markdown import render

    output.path.write_text(render(report.assessment), encoding="utf-8")


def _junit(report: QosReport, output: Output) -> None:
    from lsmlens.reports.qos_junit import to_junit

    output.path.write_text(to_junit(report.assessment, report.fail_on), encoding="utf-8")


def _html(report: QosReport, output: Output) -> None:
    from lsmlens.reports.html.page import render
    from lsmlens.reports.html.qos_page import qos_page

    output.path.write_text(render(qos_page(report.assessment)), encoding="utf-8")


def _charts(report: QosReport, name: str) -> "list[tuple[str, Chart]]":
    from lsmlens.reports.html.qos_charts import qos_charts

    return [(of, block.drawn()) for of, block in qos_charts(report.assessment) if block.drawn().name == name]


CHARTS = ("allocation", "front", "course", "recovery")
WRITERS: dict[str, Writer[QosReport]] = {
    ".html": _html,
    ".md": _markdown,
    ".json": _json,
    ".junit.xml": _junit,
    ".txt": _text,
    **picture_writers(_charts, "it needs mClock, or the simulation"),
}
