"""R06 on flushes of real databases."""

from pathlib import Path

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.rules.wal_bound_flushes import WalBoundFlushes

RULE = WalBoundFlushes()


def test_the_wal_of_a_stock_osd(fixtures: Path) -> None:
    (finding,) = RULE.check(_osd(fixtures / "osd-stock"), ())
    assert isinstance(finding, Finding)
    assert finding.severity is Severity.WARNING
    assert finding.meaning.startswith("max_total_wal_size binds for O-0, O-1, O-2, P:")
    assert finding.value.startswith("67.3 % of all flushes")
    assert finding.changes == (OptionChange("max_total_wal_size", "2147483648"),)


def test_merging_many_memtables_does_not_help_some_families(fixtures: Path) -> None:
    """P merges up to 32, and its WAL flushes come at some 24."""
    (finding,) = RULE.check(_osd(fixtures / "osd-reef"), ())
    assert isinstance(finding, Finding)
    assert finding.severity is Severity.INFO
    assert finding.value.endswith("up to 95.2 % (P)")


def test_flushes_of_full_write_buffers(fixtures: Path) -> None:
    assert list(RULE.check(_osd(fixtures / "rocksdb-7.8"), ())) == []


def test_no_options(fixtures: Path) -> None:
    (lacking,) = RULE.check(_osd(fixtures / "osd-noisy"), ())
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs.startswith("options")


def test_no_flushes(fixtures: Path) -> None:
    monitor = next(run for run in analyze([str(fixtures / "osd-stock")]).runs if run.run.is_monitor)
    (lacking,) = RULE.check(monitor, ())
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs.startswith("flushes")


def _osd(bundle: Path) -> RunAnalysis:
    return next(run for run in analyze([str(bundle)]).runs if not run.run.is_monitor)
