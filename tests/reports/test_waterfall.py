"""Waterfalls: real operations kept by an OSD, each stage where it lies in the operation's time."""

from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis, analyze
from lsmlens.reports.waterfall import BAR_WIDTH, BLOCK, waterfall_values, waterfalls


@pytest.fixture(scope="module")
def stock(fixtures: Path) -> RunAnalysis:
    return next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)


def test_stages_leave_no_gap_and_come_in_turn(stock: RunAnalysis) -> None:
    values = waterfall_values(stock)
    assert len(values) == 10
    durations = [one["duration_seconds"] for one in values]
    assert durations == sorted(durations, reverse=True)
    for one in values:
        at = 0.0
        for stage in one["stages"]:
            assert stage["start_seconds"] == pytest.approx(at, abs=1e-9)
            at += stage["seconds"]
        assert at == pytest.approx(one["duration_seconds"], rel=0.02)


def test_lines_show_a_moment_once(stock: RunAnalysis) -> None:
    """The twenty operations kept all waited for the same thing."""
    lines = waterfalls(stock)
    (slowest,) = (one for one in waterfall_values(stock)[:1])
    assert lines[0].startswith(f"  {1000 * slowest['duration_seconds']:.3g} ms at 20")
    bars = lines[2:]
    assert 1 <= len(bars) <= len(slowest["stages"])
    ends = 0
    for line in bars:
        bar = line[16 : 16 + BAR_WIDTH]
        assert set(bar) <= {BLOCK, "·"}
        assert bar.index(BLOCK) >= ends - 1
        ends = bar.rindex(BLOCK)
    assert all(len(line) <= 120 for line in lines)


def test_without_operations(fixtures: Path) -> None:
    (reef,) = analyze([str(fixtures / "osd-reef")]).runs
    assert not waterfalls(reef)
    assert not waterfall_values(reef)
