"""R14 on compactions of real databases."""

from pathlib import Path

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, OptionChange
from lsmlens.analyzer.rules.marked_compactions import MarkedCompactions

RULE = MarkedCompactions()


def test_compaction_on_deletion_of_reef(fixtures: Path) -> None:
    (finding,) = RULE.check(_osd(fixtures / "osd-reef"), ())
    assert isinstance(finding, Finding)
    assert finding.value == "30.4 % of 1002.8 MiB"
    assert "(p-1 46.0 %, p-0 43.6 %, P 10.4 %)" in finding.meaning
    assert finding.changes == (OptionChange("rocksdb_cf_compact_on_deletion_trigger", "24576", is_ceph=True),)


def test_pacific_marks_nothing(fixtures: Path) -> None:
    assert list(RULE.check(_osd(fixtures / "osd-rotated"), ())) == []


def test_no_compactions(fixtures: Path) -> None:
    monitor = next(run for run in analyze([str(fixtures / "osd-stock")]).runs if run.run.is_monitor)
    (lacking,) = RULE.check(monitor, ())
    assert isinstance(lacking, NotAssessed)


def _osd(bundle: Path) -> RunAnalysis:
    return next(run for run in analyze([str(bundle)]).runs if not run.run.is_monitor)
