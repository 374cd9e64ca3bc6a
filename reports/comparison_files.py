"""The files that `lsmlens compare -o` writes, by suffix."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsmlens.analyzer.comparison.comparison import Comparison
from lsmlens.analyzer.comparison.gates import GateResult
from lsmlens.reports.output_files import Output, Writer, picture_writers

if TYPE_CHECKING:
    from lsmlens.reports.html.charts import Chart


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """What there is to report: the comparison, and what gates said of it."""

    comparison: Comparison
    gates: tuple[GateResult, ...] = ()


def _json(report: ComparisonReport, output: Output) -> None:
    from lsmlens.reports.comparison_json import to_json

    output.path.write_text(to_json(report.comparison, report.gates), encoding="utf-8")


def _text(report: ComparisonReport, output: Output) -> None:
    from lsmlens.reports.comparison_text import render

    output.path.write_text(render(report.comparison, report.gates), encoding="utf-8")


def _csv(report: ComparisonReport, output: Output) -> None:
    from lsmlens.reports.comparison_csv import to_csv

    output.path.write_text(to_csv(report.comparison), encoding="utf-8")


def _html(report: ComparisonReport, output: Output) -> None:
    from lsmlens.reports.html.comparison_page import comparison_page
    from lsmlens.reports.html.page import render

    output.path.write_text(render(comparison_page(report)), encoding="utf-8")


def _markdown(report: ComparisonReport, output: Output) -> None:
    from lsmlens.reports.comparison_markdown import render

    output.path.write_text(render(report), encoding="utf-8")


def _junit(report: ComparisonReport, output: Output) -> None:
    from lsmlens.reports.comparison_junit import to_junit

    output.path.write_text(to_junit(report), encoding="utf-8")


def _benchmark(report: ComparisonReport, output: Output) -> None:
    from lsmlens.reports.benchmark import to_benchmark
    from lsmlens.reports.comparison_benchmark import measurements

    output.path.write_text(to_benchmark(measurements(report.comparison)), encoding="utf-8")


def _parquet(report: ComparisonReport, output: Output) -> None:
    from lsmlens.reports.comparison_parquet import write_metrics

    write_metrics(report.comparison, output.path)


def _charts(report: ComparisonReport, name: str) -> "list[tuple[str, Chart]]":
    from lsmlens.reports.html.comparison_page import comparison_charts

    return comparison_charts(report.comparison, name)


CHARTS = (
    "changes",
    "amplification",
    "written",
    "families",
    "timeline",
    "levels",
    "latency",
    "kvthread",
    "level0",
    "memtables",
)
WRITERS: dict[str, Writer[ComparisonReport]] = {
    ".html": _html,
    ".md": _markdown,
    ".json": _json,
    ".junit.xml": _junit,
    ".benchmark.json": _benchmark,
    ".txt": _text,
    ".csv": _csv,
    ".parquet": _parquet,
    **picture_writers(_charts, "the HTML report shows those there are"),
}
