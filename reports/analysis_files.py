"""The files that `lsmlens analyze -o` writes, by suffix."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.findings import Severity
from lsmlens.reports.output_files import Output, Writer, picture_writers

if TYPE_CHECKING:
    from lsmlens.reports.html.charts import Chart


@dataclass(frozen=True, slots=True)
class AnalysisReport:
    """What there is to report: the analysis, and from which severity on a finding is a failure, if that was asked."""

    analysis: Analysis
    fail_on: Severity | None = None


def _json(report: AnalysisReport, output: Output) -> None:
    from lsmlens.reports.json_document import to_json

    output.path.write_text(to_json(report.analysis), encoding="utf-8")


def _text(report: AnalysisReport, output: Output) -> None:
    from lsmlens.reports.text import render

    output.path.write_text(render(report.analysis), encoding="utf-8")


def _csv(report: AnalysisReport, output: Output) -> None:
    from lsmlens.reports.jobs_csv import write_jobs

    write_jobs(report.analysis, output.path)


def _parquet(report: AnalysisReport, output: Output) -> None:
    from lsmlens.reports.events_parquet import write_events

    write_events(report.analysis, output.path)


def _html(report: AnalysisReport, output: Output) -> None:
    from lsmlens.reports.html.analysis_page import analysis_page
    from lsmlens.reports.html.page import render

    output.path.write_text(render(analysis_page(report.analysis)), encoding="utf-8")


def _markdown(report: AnalysisReport, output: Output) -> None:
    from lsmlens.reports.analysis_markdown import render

    output.path.write_text(render(report.analysis), encoding="utf-8")


def _junit(report: AnalysisReport, output: Output) -> None:
    from lsmlens.reports.analysis_junit import to_junit

    output.path.write_text(to_junit(report.analysis, report.fail_on), encoding="utf-8")


def _benchmark(report: AnalysisReport, output: Output) -> None:
    from lsmlens.reports.analysis_benchmark import measurements
    from lsmlens.reports.benchmark import to_benchmark

    output.path.write_text(to_benchmark(measurements(report.analysis)), encoding="utf-8")


def _charts(report: AnalysisReport, name: str) -> "list[tuple[str, Chart]]":
    from lsmlens.reports.html.analysis_page import analysis_charts

    return analysis_charts(report.analysis, name)


CHARTS = ("timeline", "levels", "amplification", "latency", "kvthread", "level0", "memtables", "families", "waterfall")
WRITERS: dict[str, Writer[AnalysisReport]] = {
    ".html": _html,
    ".md": _markdown,
    ".json": _json,
    ".junit.xml": _junit,
    ".benchmark.json": _benchmark,
    ".txt": _text,
    ".csv": _csv,
    ".parquet": _parquet,
    **picture_writers(_charts, "the HTML report shows which charts there are"),
}
