"""The files that `lsmlens tune -o` writes, by suffix."""

from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import LsmlensError
from lsmlens.reports.output_files import Output, Writer, picture_writers
from lsmlens.reports.recommendation_report import RecommendationReport

if TYPE_CHECKING:
    from lsmlens.reports.html.charts import Chart


def _json(report: RecommendationReport, output: Output) -> None:
    from lsmlens.reports.recommendation_json import to_json

    output.path.write_text(to_json(report), encoding="utf-8")


def _text(report: RecommendationReport, output: Output) -> None:
    from lsmlens.reports.recommendation_text import render

    output.path.write_text(render(report), encoding="utf-8")


def _markdown(report: RecommendationReport, output: Output) -> None:
    from lsmlens.reports.recommendation_markdown import render

    output.path.write_text(render(report), encoding="utf-8")


def _options_file(report: RecommendationReport, output: Output) -> None:
    """The options as an OPTIONS file: the recommended ones, or the current ones where nothing is advised."""
    one = report.recommendation
    options = one.present if one.picked is None else one.picked.options
    families, version = one.fitted.stream.families, one.anchor.engine.version
    output.path.write_text(options.to_options_file(families, version), encoding="utf-8")


def _ceph_conf(report: RecommendationReport, output: Output) -> None:
    """The recommended options as a part of ceph.conf, for an OSD that is made with them."""
    one = report.recommendation
    options = one.present if one.picked is None else one.picked.options
    given = options.to_ceph()
    lines = ["[osd]", f"bluestore_rocksdb_options = {given.options}"]
    lines += [f"bluestore_rocksdb_options_annex = {given.annex}"] if given.annex else []
    lines += [f"bluestore_rocksdb_cfs = {given.cfs}"] if given.cfs else []
    if one.fitted.evidence.run.run.ceph_version is None:
        raise LsmlensError("the log is of no Ceph daemon, so there is no ceph.conf", "use -o FILE.ini")
    output.path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _html(report: RecommendationReport, output: Output) -> None:
    from lsmlens.reports.html.page import render
    from lsmlens.reports.html.recommendation_page import recommendation_page

    output.path.write_text(render(recommendation_page(report)), encoding="utf-8")


def _charts(report: RecommendationReport, name: str) -> "list[tuple[str, Chart]]":
    from lsmlens.reports.html.recommendation_charts import recommendation_charts

    run = report.recommendation.fitted.name
    return [(run, block.drawn()) for block in recommendation_charts(report) if block.drawn().name == name]


CHARTS = ("front", "course", "families")
WRITERS: dict[str, Writer[RecommendationReport]] = {
    ".html": _html,
    ".md": _markdown,
    ".json": _json,
    ".txt": _text,
    ".ini": _options_file,
    ".conf": _ceph_conf,
    **picture_writers(_charts, "it needs candidates, or a pick"),
}
