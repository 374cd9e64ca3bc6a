"""What was counted from each perf dump of a real OSD to the next."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.counters.counter_intervals import counter_intervals
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.reports import run_tables
from lsmlens.reports.analysis_json import run_json

PHASES = ("start", "A_radosbench", "B_fio", "C_omap", "D_cleanup", "E_fio", "F_omap", "end")


@pytest.fixture(scope="module")
def stock(fixtures: Path) -> RunAnalysis:
    return next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)


@pytest.fixture(scope="module")
def dumps(fixtures: Path) -> list[dict[str, Any]]:
    return [json.loads((fixtures / f"osd-stock/perf_dump.{phase}.json").read_text()) for phase in PHASES]


def test_in_the_order_of_the_phases(stock: RunAnalysis) -> None:
    names = [Path(one.until).name for one in stock.counter_intervals]
    assert names == [f"perf_dump.{phase}.json" for phase in PHASES]
    assert stock.counter_intervals[0].since is None
    assert all(later.since == earlier.until for earlier, later in pairwise(stock.counter_intervals))
    assert {one.life for one in stock.counter_intervals} == {1}


def test_differences(stock: RunAnalysis, dumps: list[dict[str, Any]]) -> None:
    for (before, after), interval in zip(pairwise(dumps), stock.counter_intervals[1:], strict=True):
        counted = interval.counted
        for name in ("wal", "sst"):
            said = getattr(counted, f"bluefs_{name}_bytes_written")
            assert said == after["bluefs"][f"bytes_written_{name}"] - before["bluefs"][f"bytes_written_{name}"]
        old, new = (dump["bluestore"]["kv_commit_lat"] for dump in (before, after))
        rounds = new["avgcount"] - old["avgcount"]
        if rounds:
            assert counted.kv_commit_seconds == pytest.approx((new["sum"] - old["sum"]) / rounds)


def test_reports_show_them(stock: RunAnalysis) -> None:
    table = run_tables.counter_intervals(stock)
    assert table is not None
    assert [row[0] for row in table.rows] == [f"perf_dump.{phase}.json" for phase in PHASES]
    said = run_json(stock).counter_intervals
    assert [one.kv_syncs for one in said] == [one.counted.kv_syncs for one in stock.counter_intervals]


def test_none_and_one(fixtures: Path, stock: RunAnalysis) -> None:
    (reef,) = analyze([str(fixtures / "osd-reef")]).runs
    assert reef.counter_intervals == ()
    assert run_tables.counter_intervals(reef) is None
    (only,) = counter_intervals(stock.beside.perf_dumps[:1])
    assert only.since is None
