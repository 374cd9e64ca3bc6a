"""What was counted from each perf dump of a real OSD to the next."""

import json
import re
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.counters.counter_intervals import (
    CounterInterval,
    Life,
    Moment,
    Written,
    counter_intervals,
    dump_moments,
    seconds_between,
)
from lsmlens.analyzer.counters.perf_dumps import PerfDump
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.measures.life import last_life
from lsmlens.reports import run_tables
from lsmlens.reports.analysis_json import run_json

PHASES = ("start", "A_radosbench", "B_fio", "C_omap", "D_cleanup", "E_fio", "F_omap", "end")
TAKEN = re.compile(r"^(?P<phase>\w+) start=\S+ end=(?P<end>\S+) wall=(?P<wall>[\d.]+)", re.MULTILINE)


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


def test_the_true_times_lie_within(stock: RunAnalysis, fixtures: Path) -> None:
    """A dump was taken when each phase had ended, so phases are intervals, but for the moments in between."""
    phases = {match["phase"]: match for match in TAKEN.finditer((fixtures / "osd-stock" / "phases.txt").read_text())}
    found = {Path(one.until).name: one.seconds for one in stock.counter_intervals}
    assert found.keys() == {f"perf_dump.{phase}.json" for phase in (*phases, "start", "end")}
    known = [phase for phase in phases if found[f"perf_dump.{phase}.json"] is not None]
    assert known == ["A_radosbench", "B_fio", "C_omap", "D_cleanup", "E_fio"]
    for phase in known:
        seconds = found[f"perf_dump.{phase}.json"]
        assert seconds is not None
        assert seconds[0] - 0.5 < float(phases[phase]["wall"]) < seconds[1]


def test_moments() -> None:
    life = Life(1_000, (Written(2_000, 3_000, 1_000_000), Written(2_500, 6_000, 2_000_000), Written(7_000, 7_000, 10)))
    counts = (0, 8192, 1_010_000, 1_900_000, 3_000_009, 3_030_000, 4_000_000)
    dumps = [PerfDump({"bluefs.bytes_written_sst": count}) for count in counts]
    assert dump_moments(dumps, life) == (
        Moment(1_000, 3_000),  # before the first table
        Moment(1_000, 3_000),  # blocks, but no table yet
        Moment(2_000, 6_000),  # the first one, in whole blocks
        Moment(2_500, 6_000),  # the second is being written
        Moment(2_500, 7_000),
        Moment(2_500, None),  # all of them: at any time since
        Moment(None, None),  # more than the log tells of
    )
    assert dump_moments(dumps[:1], None) == (Moment(None, None),)
    assert dump_moments([PerfDump({})], life) == (Moment(None, None),)


def test_seconds_between() -> None:
    assert seconds_between(Moment(1_000_000, 2_000_000), Moment(5_000_000, 9_000_000)) == (3.0, 8.0)
    assert seconds_between(Moment(1_000_000, 2_000_000), Moment(1_500_000, 2_000_000)) == (0.0, 1.0)
    assert seconds_between(Moment(None, 2_000_000), Moment(5_000_000, 9_000_000)) is None
    assert seconds_between(Moment(1_000_000, 2_000_000), Moment(5_000_000, None)) is None


def test_rates_need_a_time_that_is_known_well(stock: RunAnalysis) -> None:
    counted = stock.counter_intervals[0].counted
    assert CounterInterval(1, "a", "b", counted, (10.0, 12.5)).per_second(1000) == (80.0, 100.0)
    assert CounterInterval(1, "a", "b", counted, (10.0, 12.5)).per_second(None) is None
    for seconds in ((10.0, 20.0), (0.0, 1.0), (0.0, 0.0), None):
        assert CounterInterval(1, "a", "b", counted, seconds).per_second(1000) is None


def test_clocks(stock: RunAnalysis, fixtures: Path) -> None:
    """The moments themselves, not only what lies between them."""
    life = last_life(stock.run)
    text = (fixtures / "osd-stock" / "phases.txt").read_text()
    for match in TAKEN.finditer(text):
        dump = next(one for one in stock.beside.perf_dumps if match["phase"] in one.source)
        ((earliest, latest),) = dump_moments([dump], life)
        taken = datetime.fromisoformat(match["end"]).timestamp() * 1e6
        assert earliest is not None
        assert earliest < taken + 1e6
        assert latest is None or taken < latest


def test_a_log_in_local_time(log_text: Callable[[str], bytes], tmp_path: Path, stock: RunAnalysis) -> None:
    """Stamps of +02:00 for the same moments: a life begins when it began."""
    there = log_text("osd-stock/ceph-osd.0.log.gz")
    shifted = re.sub(rb"(?m)^2026-11-20T2([23])(:\S+)\+0000", rb"2026-11-21T0\1\2+0200", there)
    shifted = shifted.replace(b"2026-11-21T02:", b"2026-11-21T00:").replace(b"2026-11-21T03:", b"2026-11-21T01:")
    (tmp_path / "ceph-osd.0.log").write_bytes(shifted)
    (local,) = analyze([str(tmp_path)]).runs
    assert local.run.utc_offset_seconds == 7200
    assert last_life(local.run) == last_life(stock.run)
