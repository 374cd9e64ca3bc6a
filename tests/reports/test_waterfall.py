"""Waterfalls: real operations kept by an OSD, each stage where it lies in the operation's time."""

from itertools import pairwise
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.reports import markdown
from lsmlens.reports.analysis import compose
from lsmlens.reports.analysis_json import run_json
from lsmlens.reports.document import ChartBlock
from lsmlens.reports.html.waterfall_chart import waterfall_chart
from lsmlens.reports.waterfall import (
    BAR_WIDTH,
    BLOCK,
    MOMENT_MICROS,
    slowest_apart,
    waterfall_table,
    waterfalls,
)


@pytest.fixture(scope="module")
def stock(fixtures: Path) -> RunAnalysis:
    return next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)


def test_stages_leave_no_gap_and_come_in_turn(stock: RunAnalysis) -> None:
    values = run_json(stock).slowest_operations
    assert len(values) == 10
    durations = [one.duration_seconds or 0.0 for one in values]
    assert durations == sorted(durations, reverse=True)
    for one in values:
        at = 0.0
        for stage in one.stages:
            assert stage.start_seconds == pytest.approx(at, abs=1e-9)
            at += stage.seconds
        assert at == pytest.approx(one.duration_seconds, rel=0.02)


def test_lines_show_a_moment_once(stock: RunAnalysis) -> None:
    """The twenty operations kept all waited for the same thing."""
    lines = waterfalls(stock)
    (slowest,) = (one for one in run_json(stock).slowest_operations[:1])
    assert lines[0].startswith(f"  {1000 * (slowest.duration_seconds or 0.0):.3g} ms at 20")
    bars = lines[2:]
    assert 1 <= len(bars) <= len(slowest.stages)
    ends = 0
    for line in bars:
        bar = line[16 : 16 + BAR_WIDTH]
        assert set(bar) <= {BLOCK, "·"}
        assert bar.index(BLOCK) >= ends - 1
        ends = bar.rindex(BLOCK)
    assert all(len(line) <= 120 for line in lines)


def test_pages_have_one_operation_of_each_moment(fixtures: Path) -> None:
    """Twenty were kept by this OSD, at five moments."""
    analysis = analyze([str(fixtures / "osd-small-db")])
    (one,) = analysis.runs
    shown = slowest_apart(one.beside.operations)
    begun = sorted(operation.initiated_micros or 0 for operation in shown)
    assert len(shown) == 5
    assert all(later - earlier > MOMENT_MICROS for earlier, later in pairwise(begun))
    table = waterfall_table(one)
    assert table is not None
    assert [row[0] for row in table.rows if row[0]] == [f"{number}. client write" for number in range(1, 6)]
    assert ("", "", "kv commit", "1.28 ms", "148 ms", "started to op_commit") in table.rows
    assert "| kv commit | 1.28 ms | 148 ms | started to op_commit |" in markdown.render(compose(analysis))
    blocks = next(one for one in compose(analysis).sections if one.anchor == "clients").blocks
    (block,) = (one for one in blocks if isinstance(one, ChartBlock))
    assert block.drawn().name == "waterfall"
    assert block.table == table


def test_chart_has_every_stage_where_it_lies(stock: RunAnalysis) -> None:
    chart = waterfall_chart(stock)
    assert chart is not None
    drawn = [row for row in chart.datasets["waterfall"].records() if row["operation"] == "1. client write"]
    (slowest,) = run_json(stock).slowest_operations[:1]
    assert len(drawn) == len(slowest.stages)
    for row, stage in zip(drawn, slowest.stages, strict=True):
        assert row["start"] == pytest.approx(1000 * stage.start_seconds, abs=1e-3)
        assert row["millis"] == pytest.approx(1000 * stage.seconds, abs=1e-3)


def test_without_operations(fixtures: Path) -> None:
    (reef,) = analyze([str(fixtures / "osd-reef")]).runs
    assert not waterfalls(reef)
    assert not run_json(reef).slowest_operations
    assert waterfall_table(reef) is None
    assert waterfall_chart(reef) is None
