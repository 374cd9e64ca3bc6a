"""R15 on the one log whose OSD was kept busy, on others, and on part of its lines."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, Severity
from lsmlens.analyzer.rules.kv_thread import KvThread


@pytest.fixture(scope="module")
def busy(fixtures: Path) -> RunAnalysis:
    return analyze([str(fixtures / "osd-slow")]).runs[0]


def test_busy(busy: RunAnalysis) -> None:
    (found,) = KvThread().check(busy, ())
    assert isinstance(found, Finding)
    assert found.severity is Severity.WARNING
    assert found.value == "busy 93.4 % of 1 min 1 s on end"


def test_a_line_that_is_idle_ends_the_stretch(busy: RunAnalysis) -> None:
    idle, *rest = busy.run.kv_thread  # the first line is the idle one
    assert idle.busy_share == pytest.approx(0.101, abs=0.001)
    run = replace(busy.run, kv_thread=[*rest[:3], idle, *rest[3:]])
    assert list(KvThread().check(replace(busy, run=run), ())) == []


@pytest.mark.parametrize("bundle", ["osd-stock", "osd-reef", "osd-noisy"])
def test_what_it_lacks(bundle: str, fixtures: Path) -> None:
    osd = next(one for one in analyze([str(fixtures / bundle)]).runs if not one.run.is_monitor)
    (lacking,) = KvThread().check(osd, ())
    assert isinstance(lacking, NotAssessed)
    assert "debug_bluestore 5" in lacking.needs


def test_nothing_for_others(fixtures: Path) -> None:
    runs = analyze([str(fixtures / "osd-stock"), str(fixtures / "rocksdb-7.8")]).runs
    others = [one for one in runs if one.run.is_monitor or not one.run.ceph_version]
    assert len(others) == 2
    assert [said for one in others for said in KvThread().check(one, ())] == []
