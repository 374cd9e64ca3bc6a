"""R07: an OSD made with one family, others, and one of these with its other families left out."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.companions import Beside
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Confidence, Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.rules.missing_families import MissingFamilies

RULE = MissingFamilies()


@pytest.fixture(scope="module")
def stock(fixtures: Path) -> RunAnalysis:
    return next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)


@pytest.fixture(scope="module")
def constructed(stock: RunAnalysis) -> RunAnalysis:
    """As if this OSD had been made before Pacific: only what is said of the default family."""
    return replace(
        stock,
        options=tuple(one for one in stock.options if one.family in (None, "default")),
        families=tuple(one for one in stock.families if one.name == "default"),
        beside=Beside(),
    )


def test_constructed_osd_with_one_family(constructed: RunAnalysis) -> None:
    (found,) = RULE.check(constructed, [])
    assert isinstance(found, Finding)
    assert (found.severity, found.confidence) == (Severity.WARNING, Confidence.HIGH)
    text = "m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru} L P"
    assert found.changes == (OptionChange("bluestore_rocksdb_cfs", text, is_ceph=True),)


def test_constructed_osd_of_an_older_release(constructed: RunAnalysis) -> None:
    assert not list(RULE.check(replace(constructed, run=replace(constructed.run, ceph_version="15.2.17")), []))


@pytest.mark.parametrize("name", ["osd-stock", "osd-reef", "osd-crash", "osd-container", "osd-rotated", "rocksdb-7.8"])
def test_nothing_on_real_bundles(fixtures: Path, name: str) -> None:
    for run in analyze([str(fixtures / name)]).runs:
        assert not list(RULE.check(run, []))


def test_not_assessed_where_the_log_says_too_little(fixtures: Path, constructed: RunAnalysis) -> None:
    (noisy,) = analyze([str(fixtures / "osd-noisy")]).runs
    assert list(RULE.check(noisy, [])) == [NotAssessed("R07", RULE.title, "a log with Ceph's version")]
    (lacking,) = RULE.check(replace(constructed, options=()), [])
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs == "an OSD log that goes back to an open, or show-sharding"


def test_a_real_osd_with_one_family(fixtures: Path) -> None:
    """Made with bluestore_rocksdb_cf = false."""
    (run,) = analyze([str(fixtures / "osd-unsharded")]).runs
    (found,) = RULE.check(run, [])
    assert isinstance(found, Finding)
    assert (found.severity, found.value) == (Severity.WARNING, "1 column family")
