"""R17: a database with a rate limit against others of its release, and OSDs against each other."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed
from lsmlens.analyzer.rules.compaction_speed import CompactionSpeed

RULE = CompactionSpeed()
NATIVE = ("rocksdb-filter", "rocksdb-no-filter", "rocksdb-weak-filter")
OSDS = ("osd-container", "osd-crash", "osd-reef", "osd-rotated", "osd-spillover", "osd-stock")


@pytest.fixture(scope="module")
def run_named(fixtures: Path) -> Callable[[str], RunAnalysis]:
    known = {
        name: next(one for one in analyze([str(fixtures / name)]).runs if not one.run.is_monitor)
        for name in (*NATIVE, *OSDS, "rocksdb-7.8")
    }
    return known.__getitem__


def test_a_rate_limit(run_named: Callable[[str], RunAnalysis]) -> None:
    """Made with 6 MiB/s; one of the peers compresses with zlib, two with LZ4."""
    (finding,) = RULE.check(run_named("rocksdb-7.8"), [run_named(name) for name in NATIVE])
    assert isinstance(finding, Finding)
    assert finding.value == "4.3 MiB/s per job, peers' median 42.5 MiB/s"
    assert finding.evidence[0].text == "25 MiB in 5.82 s of 35 compactions"
    assert len(finding.evidence) == 4


@pytest.mark.parametrize("name", OSDS)
def test_osds_alike(name: str, run_named: Callable[[str], RunAnalysis]) -> None:
    assert list(RULE.check(run_named(name), [run_named(other) for other in OSDS if other != name])) == []


def test_too_few_peers(run_named: Callable[[str], RunAnalysis]) -> None:
    """Two of its kind; OSDs are none."""
    peers = [run_named(name) for name in (*NATIVE[:2], *OSDS)]
    (lacking,) = RULE.check(run_named("rocksdb-7.8"), peers)
    assert isinstance(lacking, NotAssessed)
    assert "3 peers (here 2)" in lacking.needs


def test_too_little_compaction(fixtures: Path, run_named: Callable[[str], RunAnalysis]) -> None:
    small = analyze([str(fixtures / "rocksdb-current")]).runs[0]
    (lacking,) = RULE.check(small, [run_named(name) for name in NATIVE])
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs.endswith("in this log")
