"""R02 on logs of real databases."""

import gzip
from pathlib import Path

from lsmlens.analyzer.analysis import RunAnalysis, analyze
from lsmlens.analyzer.findings import Finding, NotAssessed, Severity
from lsmlens.analyzer.rules.write_slowdowns import WriteSlowdowns

RULE = WriteSlowdowns()


def test_stalls_of_most_of_the_time(fixtures: Path) -> None:
    (run,) = analyze([str(fixtures / "rocksdb-7.8")]).runs
    found = [one for one in RULE.check(run, ()) if isinstance(one, Finding)]
    assert len(found) == 6
    first = found[0]
    assert (first.column_family, first.severity) == ("column_family_name_000001", Severity.CRITICAL)
    assert first.value == "2 line(s), stalled up to 93.8% of the time"
    assert first.evidence[0].line is not None
    assert "Stalling writes because we have 6 level-0 files" in first.evidence[0].text
    assert first.commands == ("max_background_jobs=4",)


def test_lines_without_dumps(fixtures: Path, tmp_path: Path) -> None:
    """The slowdown lines and the events of a log, without its options and dumps."""
    text = gzip.decompress((fixtures / "rocksdb-backlog" / "LOG.gz").read_bytes()).decode()
    lines = [line for line in text.splitlines() if "Stalling writes because" in line or "EVENT_LOG_v1" in line]
    (tmp_path / "LOG").write_text("\n".join(lines) + "\n")
    (run,) = analyze([str(tmp_path)]).runs
    found = [one for one in RULE.check(run, ()) if isinstance(one, Finding)]
    assert {one.severity for one in found} == {Severity.WARNING}
    assert all("not known" in one.value for one in found)
    assert {one.commands for one in found} == {("max_background_jobs=N",), ("max_write_buffer_number=N",)}


def test_no_slowdown(fixtures: Path) -> None:
    assert list(RULE.check(_osd(fixtures / "osd-stock"), ())) == []


def test_stops_are_another_rules(fixtures: Path) -> None:
    assert list(RULE.check(_osd(fixtures / "rocksdb-current"), ())) == []


def test_no_dumps(fixtures: Path) -> None:
    (lacking,) = RULE.check(_osd(fixtures / "osd-noisy"), ())
    assert isinstance(lacking, NotAssessed)
    assert lacking.needs == "statistics dumps"


def _osd(bundle: Path) -> RunAnalysis:
    return next(run for run in analyze([str(bundle)]).runs if not run.run.is_monitor)
