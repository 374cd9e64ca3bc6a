"""R15: it says what it lacks, to OSDs only."""

from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import analyze
from lsmlens.analyzer.findings import NotAssessed
from lsmlens.analyzer.rules.kv_thread import KvThread


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
