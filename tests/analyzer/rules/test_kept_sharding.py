"""R08: a real log of 18.2.7 with the real sharding text of an OSD made by 16.2.15 beside it, as after an upgrade."""

import gzip
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Confidence, Finding, NotAssessed, OptionChange
from lsmlens.analyzer.rules.kept_sharding import KeptSharding

RULE = KeptSharding()
# The opens of the OSD, before the first flush.
OPENS_LINES = 11_324


@pytest.fixture
def opened(fixtures: Path, tmp_path: Path) -> Path:
    """A folder with what the OSD of 18.2.7 logged up to its first flush."""
    text = gzip.decompress((fixtures / "osd-reef" / "ceph-osd.0.log.gz").read_bytes())
    (tmp_path / "ceph-osd.0.log").write_bytes(b"".join(text.splitlines(keepends=True)[:OPENS_LINES]))
    return tmp_path


@pytest.fixture
def upgraded(fixtures: Path, opened: Path) -> RunAnalysis:
    shutil.copy(fixtures / "osd-stock" / "show_sharding.txt", opened)
    (run,) = analyze([str(opened)]).runs
    return run


def test_text_of_pacific_under_reef(upgraded: RunAnalysis) -> None:
    found = [one for one in RULE.check(upgraded, []) if isinstance(one, Finding)]
    assert [(one.column_family, one.value, one.threshold) for one in found] == [
        ("L", "min_write_buffer_number_to_merge 6", "32"),
        ("P", "min_write_buffer_number_to_merge 6", "32"),
    ]
    assert all(one.confidence is Confidence.HIGH for one in found)
    text = (
        "m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru} L=min_write_buffer_number_to_merge=32"
        " P=min_write_buffer_number_to_merge=32"
    )
    assert found[0].changes == (OptionChange("bluestore_rocksdb_cfs", text, is_ceph=True),)


def test_too_few_buffers_come_first(upgraded: RunAnalysis) -> None:
    few = tuple(replace(one, value="4") if one.name == "max_write_buffer_number" else one for one in upgraded.options)
    found = [one for one in RULE.check(replace(upgraded, options=few), []) if isinstance(one, Finding)]
    assert {one.advice.startswith("first let max_write_buffer_number (4) be the release's") for one in found} == {True}
    # and so says the plan, which resharding alone would leave without effect
    assert {one.changes[1:] for one in found} == {(OptionChange("max_write_buffer_number", "64"),)}


def test_flushes_of_32_memtables_prove_the_text(fixtures: Path) -> None:
    (run,) = analyze([str(fixtures / "osd-reef")]).runs
    assert not list(RULE.check(run, []))


def test_not_assessed_before_the_first_flush_without_the_text(opened: Path) -> None:
    (run,) = analyze([str(opened)]).runs
    (lacking,) = RULE.check(run, [])
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs.startswith("show-sharding")


@pytest.mark.parametrize("name", ["osd-stock", "rocksdb-7.8"])
def test_nothing_before_reef_and_without_ceph(fixtures: Path, name: str) -> None:
    assert [list(RULE.check(run, [])) for run in analyze([str(fixtures / name)]).runs if not run.run.is_monitor] == [[]]
