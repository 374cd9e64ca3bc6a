"""R23 on compactions of real databases."""

from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, OptionChange
from lsmlens.analyzer.rules.background_jobs import compaction_threads, more_threads
from lsmlens.analyzer.rules.compaction_threads import CompactionThreads

RULE = CompactionThreads()


def test_three_families_and_one_thread(fixtures: Path) -> None:
    (finding,) = RULE.check(_osd(fixtures / "rocksdb-backlog"), ())
    assert isinstance(finding, Finding)
    assert finding.value == "2 min 36 s with 1 thread busy, all there are, and 3 families waiting"
    assert finding.evidence[0].text.endswith(
        "column_family_name_000001 4.1, column_family_name_000002 2.3, default 3.2"
    )
    assert finding.changes == (OptionChange("max_background_jobs", "4"),)


@pytest.mark.parametrize("bundle", ["osd-stock", "osd-rotated", "osd-reef", "rocksdb-7.8"])
def test_busy_for_less(bundle: str, fixtures: Path) -> None:
    assert list(RULE.check(_osd(fixtures / bundle), ())) == []


@pytest.mark.parametrize(
    ("bundle", "threads", "more"),
    [
        ("osd-stock", 2, (OptionChange("max_background_compactions", "4"),)),
        ("osd-reef", 3, (OptionChange("max_background_jobs", "8"),)),
        ("rocksdb-7.8", 1, (OptionChange("max_background_jobs", "4"),)),
        ("osd-noisy", None, ()),
    ],
)
def test_threads(bundle: str, threads: int | None, more: tuple[OptionChange, ...], fixtures: Path) -> None:
    run = _osd(fixtures / bundle)
    assert (compaction_threads(run), more_threads(run)) == (threads, more)


def test_no_options(fixtures: Path) -> None:
    (lacking,) = RULE.check(_osd(fixtures / "osd-noisy"), ())
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs.startswith("options")


def test_no_compactions(fixtures: Path) -> None:
    monitor = next(run for run in analyze([str(fixtures / "osd-stock")]).runs if run.run.is_monitor)
    (lacking,) = RULE.check(monitor, ())
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs.startswith("compactions")


def _osd(bundle: Path) -> RunAnalysis:
    return next(run for run in analyze([str(bundle)]).runs if not run.run.is_monitor)
