"""Charts: their data is right, Vega-Lite takes their specifications, and pictures are made of them."""

import json
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.reports.analysis import charts_called
from lsmlens.reports.html import time_charts
from lsmlens.reports.html.charts import Chart
from lsmlens.reports.html.pictures import to_png, to_svg
from lsmlens.reports.html.time_charts import STALLED, TimeAxis
from lsmlens.reports.outputs import ANALYSIS
from lsmlens.reports.timeline import measure_timeline

CHARTS = ANALYSIS.charts.names if ANALYSIS.charts else ()


@pytest.fixture(scope="module")
def stock(fixtures: Path) -> Analysis:
    return analyze([str(fixtures / "osd-stock")])


@pytest.fixture(scope="module")
def slow(fixtures: Path) -> Analysis:
    return analyze([str(fixtures / "osd-slow")])


@pytest.fixture
def drawn(request: pytest.FixtureRequest, stock: Analysis, slow: Analysis) -> Analysis:
    """A run that has the chart of the test's name."""
    return slow if request.node.callspec.params["name"] == "kvthread" else stock


@pytest.fixture(scope="module")
def backlog(fixtures: Path) -> Analysis:
    return analyze([str(fixtures / "rocksdb-backlog")])


def chart_of(analysis: Analysis, name: str) -> Chart:
    (found,) = charts_called(analysis, name)
    return found[1]


def names_of_data(spec: Any) -> set[str]:
    if isinstance(spec, list):
        return set().union(*map(names_of_data, spec)) if spec else set()
    if not isinstance(spec, dict):
        return set()
    own = {spec["data"]["name"]} if isinstance(spec.get("data"), dict) else set()
    return own | names_of_data(list(spec.values()))


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_has_its_data_apart(name: str, drawn: Analysis) -> None:
    chart = chart_of(drawn, name)
    assert chart.name == name
    assert names_of_data(chart.spec) == chart.datasets.keys()
    assert '"values": [{' not in json.dumps(chart.spec)
    for dataset in chart.datasets.values():
        assert dataset.rows
        assert all(len(row) == len(dataset.fields) for row in dataset.rows)


def fields_used(spec: Any) -> set[str]:
    if isinstance(spec, list):
        return set().union(*map(fields_used, spec)) if spec else set()
    if not isinstance(spec, dict):
        return set()
    own = {spec["field"]} if isinstance(spec.get("field"), str) else set()
    return own | fields_used(list(spec.values()))


@pytest.mark.parametrize("name", CHARTS)
def test_fields_that_are_drawn_are_in_the_data(name: str, drawn: Analysis) -> None:
    chart = chart_of(drawn, name)
    calculated = {"since", "until"}
    fields = {field for dataset in chart.datasets.values() for field in dataset.fields}
    assert fields_used(chart.spec) - calculated <= fields


def bounds_of_time(spec: Any) -> set[tuple[int, int]]:
    if isinstance(spec, list):
        return set().union(*map(bounds_of_time, spec)) if spec else set()
    if not isinstance(spec, dict):
        return set()
    own = {(spec["domainMin"], spec["domainMax"])} if spec.get("type") == "utc" and "domainMax" in spec else set()
    return own | bounds_of_time(list(spec.values()))


def test_charts_over_time_have_one_axis(slow: Analysis) -> None:
    bounds = [
        bounds_of_time(chart_of(slow, name).spec) for name in CHARTS if name not in ("families", "latency", "waterfall")
    ]
    assert all(one == bounds[0] for one in bounds)
    assert len(bounds[0]) == 1


def test_stalls_have_their_lane(backlog: Analysis) -> None:
    chart = chart_of(backlog, "timeline")
    stalls = next(dataset for name, dataset in chart.datasets.items() if name.endswith("stalls"))
    kinds = {row[stalls.fields.index("kind")] for row in stalls.rows}
    assert kinds == {kind for _, kind, _ in backlog.runs[0].run.stall_lines}
    assert STALLED in json.dumps(chart.spec)


def test_a_run_without_operations_has_no_latencies(backlog: Analysis) -> None:
    assert charts_called(backlog, "latency") == []


def test_bars_stand_upon_each_other(stock: Analysis) -> None:
    (dataset,) = chart_of(stock, "levels").datasets.values()
    start, low, high = (dataset.fields.index(name) for name in ("start", "low", "high"))
    heights: dict[Any, Any] = {}
    for row in dataset.rows:
        assert row[low] == heights.get(row[start], 0.0)
        assert float(row[high] or 0) >= float(row[low] or 0)
        heights[row[start]] = row[high]


@pytest.mark.parametrize("name", ["timeline", "latency", "families", "kvthread", "waterfall"])
def test_a_chart_is_a_picture(name: str, drawn: Analysis) -> None:
    svg = to_svg(charts_called(drawn, name))
    assert svg.startswith("<svg")
    assert svg.count("<path") > 10
    assert "var(" not in svg


def test_a_picture_is_the_same_again(stock: Analysis) -> None:
    assert to_svg(charts_called(stock, "timeline")) == to_svg(charts_called(stock, "timeline"))


def test_a_picture_of_several_runs_names_them(stock: Analysis) -> None:
    chart = chart_of(stock, "families")
    svg = to_svg([("osd.0", chart), ("osd.1", chart)])
    assert "osd.0: Bytes written" in svg
    assert "osd.1: Bytes written" in svg


def test_a_png_is_one(stock: Analysis) -> None:
    png = to_png(charts_called(stock, "families"))
    assert png.startswith(b"\x89PNG")
    assert len(png) > 10_000


def test_hostile_names_do_not_leave_a_picture(stock: Analysis) -> None:
    name = "</svg><script>alert(1)</script>"
    svg = to_svg([(name, chart_of(stock, "families")), ("b", chart_of(stock, "families"))])
    assert "<script" not in svg


def test_vega_lite_takes_every_layer_without_a_warning(backlog: Analysis, capfd: pytest.CaptureFixture[str]) -> None:
    timeline = measure_timeline(backlog.runs[0], Selection())
    assert timeline is not None
    axis = TimeAxis(timeline)
    for draw in (
        *(time_charts.activity, time_charts.levels, time_charts.amplification),
        *(time_charts.level0, time_charts.memtables),
    ):
        chart = draw(axis)
        assert chart is not None
        spec = chart.spec | {"datasets": {name: one.records() for name, one in chart.datasets.items()}, "width": 800}
        assert vl_convert.vegalite_to_vega(spec, show_warnings=True)["marks"]
    assert "WARN" not in capfd.readouterr().err
