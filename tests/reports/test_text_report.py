"""The terminal report: golden outputs of real bundles, and what goldens do not show."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import analyze
from lsmlens.analyzer.selection import Selection
from lsmlens.reports.sections import BOLD, RESET
from lsmlens.reports.text import SIDE_BY_SIDE, render

Golden = Callable[[str, str], None]
LogText = Callable[[str], bytes]


@pytest.mark.parametrize("name", ["osd-stock", "osd-crash", "rocksdb-current"])
def test_the_report_of_a_bundle(name: str, fixtures: Path, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fixtures.parent)
    golden(f"{name}.txt", render(analyze([f"fixtures/{name}"])))


def test_the_report_of_a_selection(fixtures: Path, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fixtures.parent)
    selection = Selection("2026-11-20T22:58", "2026-11-20T23:00:30Z", frozenset({"p-0", "P"}), 1)
    golden("osd-stock-selection.txt", render(analyze(["fixtures/osd-stock/ceph-osd.0.log.gz"], selection)))


def test_colour_changes_the_looks_alone(fixtures: Path) -> None:
    analysis = analyze([str(fixtures / "osd-reef")])
    plain, colour = render(analysis), render(analysis, colour=True)
    assert "\x1b" not in plain
    assert colour.count(BOLD) == colour.count(RESET) > 3
    assert re.sub(r"\x1b\[\d+m", "", colour) == plain


def test_the_report_ends_in_one_newline_and_has_no_trailing_blanks(fixtures: Path) -> None:
    text = render(analyze([str(fixtures / "osd-rotated")]))
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.fixture
def osds(tmp_path: Path, log_text: LogText) -> Path:
    """One run more than are shown side by side, each of another day."""
    text = log_text("osd-spillover/ceph-osd.0.log.gz")
    for number in range(SIDE_BY_SIDE + 1):
        changed = text.replace(b"2026-11-20T", b"2026-11-1%dT" % number).replace(b"osd.0", b"osd.%d" % number)
        changed = changed.replace(b'"time_micros": 179', b'"time_micros": 17%d' % number)
        (tmp_path / f"ceph-osd.{number}.log").write_bytes(changed)
    return tmp_path


def test_many_runs_are_listed_below_each_other(osds: Path) -> None:
    analysis = analyze([str(osds)])
    assert [one.run.name for one in analysis.runs] == [f"osd.{number}" for number in range(SIDE_BY_SIDE + 1)]
    text = render(analysis)
    assert "Compaction Statistics by run" in text
    rows = [line.split() for line in text.splitlines() if re.match(r"osd\.\d ", line)]
    assert [row[0] for row in rows] == [f"osd.{number}" for number in range(SIDE_BY_SIDE + 1)]
    assert {row[2] for row in rows} == {"14"}
    assert re.search(rf"^Number of Compaction Events +{14 * (SIDE_BY_SIDE + 1)}$", text, re.MULTILINE)


def test_few_runs_stand_side_by_side_with_their_total(osds: Path) -> None:
    for number in range(2, SIDE_BY_SIDE + 1):
        (osds / f"ceph-osd.{number}.log").unlink()
    text = render(analyze([str(osds)]))
    assert re.search(r"^ +osd\.0 +osd\.1 +total$", text, re.MULTILINE)
    assert re.search(r"^Number of Compaction Events +14 +14 +28$", text, re.MULTILINE)
    assert "osd.1: by column family" in text


def test_a_log_without_events_says_why(tmp_path: Path) -> None:
    (tmp_path / "LOG").write_text("2026/11/21-07:33:02.040964 10094 RocksDB version: 9.8.4\n")
    text = render(analyze([str(tmp_path / "LOG")]))
    assert "nothing was flushed or compacted" in text
    assert "debug_rocksdb" not in text  # which is Ceph's
    assert "by column family" not in text
    (tmp_path / "ceph-osd.3.log").write_text("2026-11-20T22:56:20.761+0000 7f9  0 osd.3 12 ceph version 18.2.7 (x)\n")
    assert "debug_rocksdb" in render(analyze([str(tmp_path / "ceph-osd.3.log")]))


def test_problems_are_named_with_their_member(tmp_path: Path, log_text: LogText) -> None:
    (tmp_path / "LOG").write_bytes(log_text("rocksdb-7.8/LOG"))
    (tmp_path / "odd.gz").write_bytes(b"\x1f\x8b\x08nonsense")
    text = render(analyze([str(tmp_path)]))
    assert f"  ! {tmp_path / 'odd.gz'}: " in text


def test_a_family_without_a_name_is_shown(tmp_path: Path) -> None:
    lines = [
        "first",
        '2026/11/21-07:33:02.040964 10094 EVENT_LOG_v1 {"time_micros": 1795246382040918, "job": 3,'
        ' "event": "trivial_move", "destination_level": 1, "files": 1, "total_files_size": 37800}',
        "2026/11/21-07:33:02.040964 10094 [db.cc:1] [] Moved #1 files to level-1 37800 bytes OK",
        "",
    ]
    (tmp_path / "LOG").write_text("\n".join(lines))
    assert re.search(r'^"" ', render(analyze([str(tmp_path / "LOG")])), re.MULTILINE)
