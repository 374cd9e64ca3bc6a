"""What a log that lacks a part cannot show, and what no other program's log is told."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, Severity
from lsmlens.analyzer.measures.data_quality import bounded
from lsmlens.analyzer.runs.run import Quality
from lsmlens.analyzer.runs.selection import Selection

OSDS = ["osd-stock", "osd-reef", "osd-crash", "osd-unsharded", "osd-spillover", "osd-tuned"]


@pytest.mark.parametrize("bundle", OSDS)
@pytest.mark.parametrize("size", [5_000, 60_000])
def test_the_beginning_of_a_log_gives_no_advice(bundle: str, size: int, fixtures: Path, tmp_path: Path) -> None:
    """Neither column families nor events are missing where the log was cut before they could be told."""
    whole = next((fixtures / bundle).glob("*osd*.log*")).read_bytes()
    text = gzip.decompress(whole) if whole[:2] == b"\x1f\x8b" else whole
    (tmp_path / "ceph-osd.0.log.gz").write_bytes(gzip.compress(text[:size])[: 5_000 if size > 5_000 else None])
    (run,) = analyze([str(tmp_path)]).runs
    if not run.run.event_counts:
        assert not {"R07", "R19"} & {one.code for one in run.findings}
    for one in run.findings:
        assert one.confidence is not Confidence.HIGH or any(place.line is not None for place in one.evidence)


def test_a_damaged_member_is_told(fixtures: Path, tmp_path: Path) -> None:
    (tmp_path / "ceph-osd.0.log.gz").write_bytes((fixtures / "osd-stock" / "ceph-osd.0.log.gz").read_bytes()[:50_000])
    (run,) = analyze([str(tmp_path)]).runs
    assert any("a part of the log is missing" in note for note in run.notes)


def test_confidence_is_bounded_unless_a_line_proves_it(fixtures: Path) -> None:
    run = analyze([str(fixtures / "rocksdb-7.8")]).runs[0].run
    counted = Finding("R06", "", Severity.WARNING, Confidence.HIGH, "", "", "", "", (Evidence("LOG", "shares"),))
    proven = replace(counted, evidence=(Evidence("LOG", "line", 7),))
    assert bounded(counted, run).confidence is Confidence.HIGH
    torn = replace(run, quality=Quality(damaged=["the gzip stream ends before its end mark"]))
    assert bounded(counted, torn).confidence is Confidence.MEDIUM
    assert bounded(proven, torn).confidence is Confidence.HIGH
    rejected = replace(run, quality=Quality(events_rejected=1_000_000))
    assert bounded(counted, rejected).confidence is Confidence.MEDIUM


@pytest.mark.parametrize("bundle", ["rocksdb-7.8", "rocksdb-current", "rocksdb-backlog", "rocksdb-no-filter"])
def test_no_words_of_ceph_for_other_programs(bundle: str, fixtures: Path) -> None:
    for run in analyze([str(fixtures / bundle)]).runs:
        said = [*run.notes, *(one.needs for one in run.not_assessed if one.code not in ("R13",))]
        for one in run.findings:
            said += [one.meaning, one.advice, one.risk, one.check, *one.commands]
        for step in run.plan.steps if run.plan is not None else ():
            said += [step.title, *step.commands, *step.notes]
        for text in said:
            assert not {"OSD", "osd", "BlueStore", "Ceph", "ceph", "debug_rocksdb"} & set(
                text.replace("(", " ").split()
            ), text


def test_no_placeholder_where_a_value_is_known(fixtures: Path) -> None:
    for bundle in ("rocksdb-7.8", "rocksdb-backlog", "osd-stock", "osd-reef"):
        for run in analyze([str(fixtures / bundle)]).runs:
            for one in run.findings:
                assert not any(command.endswith("=N") or "BYTES" in command for command in one.commands)
                assert all(change.value not in ("N", "") for change in one.changes)


def test_findings_of_the_selected_families_only(fixtures: Path) -> None:
    whole = analyze([str(fixtures / "osd-rotated")]).runs[0]
    chosen = analyze([str(fixtures / "osd-rotated")], Selection(column_families=frozenset({"p-0"}))).runs[0]
    assert {one.column_family for one in whole.findings} > {"p-0", "p-1"}
    assert {one.column_family for one in chosen.findings} <= {"p-0", None}


def events_alone(fixtures: Path, folder: Path, *without: bytes) -> RunAnalysis:
    """An OSD's log as `grep EVENT_LOG_v1` leaves it, and without some kinds of events."""
    lines = gzip.decompress((fixtures / "osd-crash" / "ceph-osd.0.log.gz").read_bytes()).splitlines(keepends=True)
    kept = [line for line in lines if b"EVENT_LOG_v1" in line and not any(kind in line for kind in without)]
    (folder / "ceph-osd.0.log").write_bytes(b"".join(kept))
    (run,) = analyze([str(folder)]).runs
    return run


def test_events_alone_show_neither_stalls_nor_errors(fixtures: Path, tmp_path: Path) -> None:
    run = events_alone(fixtures, tmp_path)
    lacking = {one.code: one.needs for one in run.not_assessed}
    assert {lacking[code] for code in ("R01", "R11", "R25")} == {"the lines around events: this log holds events alone"}
    assert any(note.startswith("the log holds events alone") for note in run.notes)


def test_a_whole_log_shows_that_there_were_none(fixtures: Path) -> None:
    (run,) = analyze([str(fixtures / "osd-crash")]).runs
    assert {"R01", "R11", "R25"}.isdisjoint(one.code for one in run.not_assessed)


def test_a_finding_of_a_filtered_log_is_no_surer_than_medium(fixtures: Path, tmp_path: Path) -> None:
    """The same events make a finding of high confidence; without the starts of jobs it is of medium confidence."""
    whole = events_alone(fixtures, tmp_path)
    finding = replace(whole.findings[0], confidence=Confidence.HIGH, evidence=(Evidence("osd.0", "by counts"),))
    assert bounded(finding, whole.run) is finding
    filtered = events_alone(fixtures, tmp_path, b"flush_started", b"compaction_started")
    assert bounded(finding, filtered.run).confidence is Confidence.MEDIUM
    of_a_line = replace(finding, evidence=(Evidence("osd.0", "Stopping writes", 7),))
    assert bounded(of_a_line, filtered.run) is of_a_line
