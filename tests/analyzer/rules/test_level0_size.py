"""R04 on options and flushes of real databases."""

from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Confidence, Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.rules.level0_size import Level0Size

RULE = Level0Size()


def test_a_quarter_of_level_0(fixtures: Path) -> None:
    """Most flushes of this OSD were for full write buffers."""
    (finding,) = RULE.check(_osd(fixtures / "osd-crash"), ())
    assert isinstance(finding, Finding)
    assert (finding.severity, finding.confidence) == (Severity.WARNING, Confidence.MEDIUM)
    assert finding.value == "level 1 is 0.25 of level 0: 16 MiB to 64 MiB nominal"
    assert finding.changes == (OptionChange("max_bytes_for_level_base", "67108864"),)


@pytest.mark.parametrize(("bundle", "families"), [("osd-stock", "L, O-0, O-1, O-2, P, "), ("osd-reef", "L, P:")])
def test_a_size_that_flushes_do_not_reach(bundle: str, families: str, fixtures: Path) -> None:
    """Most flushes were for the WAL's limit; in Reef P and L alone have a larger level 0."""
    (finding,) = RULE.check(_osd(fixtures / bundle), ())
    assert isinstance(finding, Finding)
    assert (finding.severity, finding.confidence) == (Severity.INFO, Confidence.LOW)
    assert finding.column_family is None
    assert finding.meaning.startswith(families)
    assert finding.changes == ()


@pytest.mark.parametrize("bundle", ["rocksdb-7.8", "rocksdb-current"])
def test_levels_alike(bundle: str, fixtures: Path) -> None:
    assert list(RULE.check(_osd(fixtures / bundle), ())) == []


def test_no_options(fixtures: Path) -> None:
    (lacking,) = RULE.check(_osd(fixtures / "osd-noisy"), ())
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs == "options in the log or config show"


def _osd(bundle: Path) -> RunAnalysis:
    return next(run for run in analyze([str(bundle)]).runs if not run.run.is_monitor)
