"""R13 against real logs; counts of the tables checked against the events themselves."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Confidence, Finding, NotAssessed, OptionChange
from lsmlens.analyzer.rules.tombstones import Tombstones

RULE = Tombstones()


def test_tables_of_deletions_only(fixtures: Path) -> None:
    (finding,) = RULE.check(analyze([str(fixtures / "rocksdb-no-filter")]).runs[0], ())
    assert isinstance(finding, Finding)
    assert finding.value.startswith("2 tables, 149\u202f724 tombstones, at most 100.0 %")
    assert finding.confidence is Confidence.LOW  # level 0
    assert (finding.changes, finding.commands) == ((), ())


def test_an_osd_with_compact_on_deletion_off(fixtures: Path) -> None:
    osd = next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)
    findings = [one for one in RULE.check(osd, ()) if isinstance(one, Finding)]
    assert [one.column_family for one in findings] == ["p-0", "p-2"]
    assert (
        findings[1].evidence[0].text == "table 149, written to level 0: 419\u202f122 tombstones in 612\u202f283 entries"
    )
    assert findings[1].evidence[1].text == "rocksdb_cf_compact_on_deletion = false"
    assert findings[1].changes == (OptionChange("rocksdb_cf_compact_on_deletion", "true", is_ceph=True),)
    assert findings[1].commands == ("ceph tell osd.0 compact",)


def test_a_table_below_level_0(fixtures: Path) -> None:
    (finding,) = RULE.check(analyze([str(fixtures / "osd-rotated")]).runs[0], ())
    assert isinstance(finding, Finding)
    assert finding.column_family == "P"
    assert "written to level 1: 33\u202f377 tombstones in 63\u202f240 entries" in finding.evidence[0].text
    assert finding.confidence is Confidence.MEDIUM


@pytest.mark.parametrize("bundle", ["osd-spillover", "osd-reef", "rocksdb-filter", "rocksdb-7.8"])
def test_no_pile(bundle: str, fixtures: Path) -> None:
    assert list(RULE.check(analyze([str(fixtures / bundle)]).runs[0], ())) == []


def test_a_log_without_tables(log_text: Callable[[str], bytes], tmp_path: Path) -> None:
    """The head of a real log, before its first table."""
    text = log_text("rocksdb-filter/LOG.gz")
    file = tmp_path / "LOG"
    file.write_bytes(text[: text.index(b'"event": "flush_started"')].rsplit(b"\n", 1)[0] + b"\n")
    (lacking,) = RULE.check(analyze([str(file)]).runs[0], ())
    assert isinstance(lacking, NotAssessed)
    assert "table_file_creation" in lacking.needs


def test_tables_that_compactions_read_are_gone(fixtures: Path) -> None:
    """These logs tell of no deletion of any table."""
    reef, stock = analyze([str(fixtures / "osd-two-options")]).runs
    assert {run.run.event_counts["table_file_deletion"] for run in (reef, stock)} == {0}
    assert list(RULE.check(reef, ())) == []
    assert [one.value.split(",")[0] for one in RULE.check(stock, ()) if isinstance(one, Finding)] == [
        "2 tables",
        "1 table",
    ]
