"""R25 on the lines that failing databases write."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Finding, Severity
from lsmlens.analyzer.rules.logged_errors import LoggedErrors

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis

RULE = LoggedErrors()
STAMP = "2021-02-12T05:33:51.986+0000 7fafb1be4700"
STATUS = "Corruption: block checksum mismatch: expected 48, got 38  in db/000200.sst offset 61326210 size 840435"
DAMAGED_OSD = f"""\
{STAMP}  4 rocksdb: [db/flush_job.cc:392] [default] [JOB 12] Level-0 flush table #200: 62167512 bytes {STATUS}
{STAMP}  2 rocksdb: [db/db_impl_compaction_flush.cc:2123] Waiting after background flush error: {STATUS}Acc
{STAMP} -1 rocksdb: submit_common error: {STATUS} code = 2 Rocksdb transaction:
--- begin dump of recent events ---
    -7> {STAMP}  2 rocksdb: [db/db_impl_compaction_flush.cc:2123] Waiting after background flush error: {STATUS}Acc
    -2> {STAMP} -1 rocksdb: submit_common error: {STATUS} code = 2 Rocksdb transaction:
--- end dump of recent events ---
"""
NATIVE = "2026/03/30-13:38:50.260896 a858 "


def found_in(path: Path, name: str, text: str) -> list[Finding]:
    (path / name).write_text(text)
    (run,) = analyze([str(path / name)]).runs
    return [one for one in run.findings if one.code == RULE.code]


def test_a_damaged_osd(tmp_path: Path) -> None:
    (found,) = found_in(tmp_path, "ceph-osd.4.log", DAMAGED_OSD)
    assert found.severity is Severity.CRITICAL
    assert found.value == "background error (1), failed write (1)"
    assert found.meaning.endswith("files concerned: db/000200.sst")
    assert [one.line for one in found.evidence] == [2, 3]
    assert "ceph-bluestore-tool fsck --path /var/lib/ceph/osd/ceph-4" in found.commands
    assert "repair drops what it cannot read" in found.risk


def test_an_open_that_failed(tmp_path: Path) -> None:
    text = f"{NATIVE}[WARN] [db\\\\db_impl_open.cc:2693] DB::Open() failed: Corruption: CURRENT file corrupted\n"
    (found,) = found_in(tmp_path, "LOG", text)
    assert found.value == "failed open (1)"
    assert found.evidence[0].line == 1
    assert found.commands == ()


@pytest.mark.parametrize(
    ("line", "title"),
    [
        (
            "[db/x.cc:1] Compaction error: IO error: No space left on device: While appending",
            "No space left for the database",
        ),
        ("[db/x.cc:1] Compaction error: IO error: While pread: Input/output error", "The device fails reads or writes"),
        ("[db/x.cc:1] Waiting after background flush error: Invalid argument: x", "The database refused to go on"),
    ],
)
def test_what_failed(line: str, title: str, tmp_path: Path) -> None:
    (found,) = found_in(tmp_path, "LOG", f"{NATIVE}RocksDB version: 10.4.2\n{NATIVE}[ERROR] {line}\n")
    assert found.title == title


def test_a_full_bluefs(tmp_path: Path) -> None:
    text = f'{STAMP} -1 /src/os/bluestore/BlueFS.cc: 2344: ceph_abort_msg("bluefs enospc")\n' * 2
    (found,) = found_in(tmp_path, "ceph-osd.4.log", text)
    assert found.value == "BlueFS out of space (1)"
    assert "no compaction on a full device" in found.risk


@pytest.mark.parametrize("bundle", ["osd-stock", "osd-crash", "rocksdb-7.8", "rocksdb-current"])
def test_healthy(bundle: str, fixtures: Path) -> None:
    for run in analyze([str(fixtures / bundle)]).runs:
        assert list(RULE.check(run, ())) == []


def test_the_end_of_a_database(tmp_path: Path, fixtures: Path) -> None:
    run: RunAnalysis = analyze([str(fixtures / "rocksdb-current")]).runs[0]
    assert not len(run.run.errors)
    assert not found_in(
        tmp_path, "LOG", f"{NATIVE}RocksDB version: 9\n{NATIVE}Compaction error: Shutdown in progress\n"
    )
