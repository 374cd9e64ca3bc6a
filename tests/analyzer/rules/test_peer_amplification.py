"""R18: real OSDs of unlike options against each other."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed
from lsmlens.analyzer.rules.peer_amplification import PeerAmplification

RULE = PeerAmplification()
OSDS = ("osd-reef", "osd-rotated", "osd-spillover", "osd-stock")


@pytest.fixture(scope="module")
def run_named(fixtures: Path) -> Callable[[str], RunAnalysis]:
    known = {
        name: next(one for one in analyze([str(fixtures / name)]).runs if not one.run.is_monitor)
        for name in (*OSDS, "rocksdb-7.8")
    }
    return known.__getitem__


def test_small_buffers_against_stock_ones(run_named: Callable[[str], RunAnalysis]) -> None:
    peers = [run_named(name) for name in OSDS if name != "osd-rotated"]
    findings = [one for one in RULE.check(run_named("osd-rotated"), peers) if isinstance(one, Finding)]
    assert [(one.column_family, one.value) for one in findings] == [
        ("p-0", "4.45, peers' median 1.63"),
        ("p-1", "5.27, peers' median 1.59"),
        ("p-2", "4.95, peers' median 1.62"),
    ]
    assert [one.source for one in findings[0].evidence] == ["osd.0"] * 4


@pytest.mark.parametrize("name", ["osd-reef", "osd-spillover", "osd-stock"])
def test_at_or_below_the_others(name: str, run_named: Callable[[str], RunAnalysis]) -> None:
    assert list(RULE.check(run_named(name), [run_named(other) for other in OSDS if other != name])) == []


def test_too_few_peers_of_its_kind(run_named: Callable[[str], RunAnalysis]) -> None:
    (lacking,) = RULE.check(run_named("osd-rotated"), [run_named(name) for name in ("osd-stock", "rocksdb-7.8")])
    assert isinstance(lacking, NotAssessed)
    assert "peers of its kind here: 1" in lacking.needs


def test_nothing_for_monitors(fixtures: Path) -> None:
    monitor = next(one for one in analyze([str(fixtures / "osd-stock")]).runs if one.run.is_monitor)
    assert list(RULE.check(monitor, ())) == []
