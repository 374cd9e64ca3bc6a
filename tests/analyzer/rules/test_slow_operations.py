"""R11 on an OSD that was held up, and on one that was not."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, Severity
from lsmlens.analyzer.logs.spool import Spool
from lsmlens.analyzer.rules.slow_operations import SlowOperations
from lsmlens.analyzer.runs.run import SlowOperation


@pytest.fixture(scope="module")
def held_up(fixtures: Path) -> RunAnalysis:
    return analyze([str(fixtures / "osd-slow")]).runs[0]


def test_held_up(held_up: RunAnalysis) -> None:
    (found,) = SlowOperations().check(held_up, ())
    assert isinstance(found, Finding)
    assert found.severity is Severity.WARNING
    assert found.value == "61 lines, 61 of 5 s and more, the longest 6.54 s"
    assert "submit_transact (3) waited for RocksDB's write path" in found.meaning
    assert all("slow operation observed for" in line.text and line.line for line in found.evidence)


def test_only_information_below_the_default_age(held_up: RunAnalysis) -> None:
    """The same lines, as if the age had been lowered: each a tenth as long."""
    rows: Spool[SlowOperation] = Spool(SlowOperation)
    rows.extend(SlowOperation(what, seconds / 10, millis) for what, seconds, millis in held_up.run.slow_operations)
    (found,) = SlowOperations().check(replace(held_up, run=replace(held_up.run, slow_operations=rows)), ())
    assert isinstance(found, Finding)
    assert found.severity is Severity.INFO


def test_silent_without_lines(fixtures: Path) -> None:
    for one in analyze([str(fixtures / "osd-stock"), str(fixtures / "rocksdb-7.8")]).runs:
        assert list(SlowOperations().check(one, ())) == []
