"""R03 on level 0 of real databases."""

from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.rules.level0_backlog import Level0Backlog

RULE = Level0Backlog()


def test_one_slow_compaction_thread(fixtures: Path) -> None:
    (run,) = analyze([str(fixtures / "rocksdb-backlog")]).runs
    found = {one.column_family: one for one in RULE.check(run, ()) if isinstance(one, Finding)}
    assert found["default"].severity is Severity.CRITICAL
    assert found["default"].value == "78 s at 4 files or more, 13 at most"
    assert found["default"].meaning.endswith("writes are slowed down at 9 and stopped at 24")
    assert found["default"].changes == (OptionChange("max_background_jobs", "4"),)


@pytest.mark.parametrize("bundle", ["osd-stock", "osd-reef", "osd-rotated", "rocksdb-7.8"])
def test_compacted_within_seconds(bundle: str, fixtures: Path) -> None:
    assert list(RULE.check(_osd(fixtures / bundle), ())) == []


def test_no_options(fixtures: Path) -> None:
    (lacking,) = RULE.check(_osd(fixtures / "osd-noisy"), ())
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs.startswith("options")


def test_no_events(fixtures: Path) -> None:
    monitor = next(run for run in analyze([str(fixtures / "osd-stock")]).runs if run.run.is_monitor)
    (lacking,) = RULE.check(monitor, ())
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs.startswith("flushes")


def _osd(bundle: Path) -> RunAnalysis:
    return next(run for run in analyze([str(bundle)]).runs if not run.run.is_monitor)
