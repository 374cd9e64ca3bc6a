"""The report of an analysis: its first screen, golden outputs of real bundles, and what goldens do not show."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.reports.analysis import RUNS_SIDE_BY_SIDE, compose
from lsmlens.reports.terminal import COMMAND_INDENT, render, whole

Golden = Callable[[str, str], None]
LogText = Callable[[str], bytes]

SINGLE = (
    *("osd-container", "osd-crash", "osd-fragmented", "osd-mclock", "osd-noisy", "osd-reef", "osd-rotated", "osd-slow"),
    *("osd-small-db", "osd-spillover", "osd-stock", "osd-tuned", "osd-unsharded", "rocksdb-7.8", "rocksdb-backlog"),
    *("rocksdb-current", "rocksdb-filter"),
)


def report_of(*paths: Path | str, full: bool = False, width: int | None = None) -> str:
    return render(compose(analyze([str(path) for path in paths])), full, width)


@pytest.fixture(scope="module")
def stock(fixtures: Path) -> Analysis:
    return analyze([str(fixtures / "osd-stock")])


@pytest.mark.parametrize("name", ["osd-stock", "osd-crash", "rocksdb-current"])
def test_the_report_of_a_bundle(name: str, fixtures: Path, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fixtures.parent)
    document = compose(analyze([f"fixtures/{name}"]))
    golden(f"{name}.txt", whole(document))
    for width in (80, 120):
        golden(f"{name}-first-{width}.txt", render(document, width=width))


def test_the_report_of_a_selection(fixtures: Path, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fixtures.parent)
    selection = Selection("2026-11-20T22:58", "2026-11-20T23:00:30Z", frozenset({"p-0", "P"}), 1)
    golden("osd-stock-selection.txt", whole(compose(analyze(["fixtures/osd-stock/ceph-osd.0.log.gz"], selection))))


@pytest.mark.parametrize("name", SINGLE)
def test_one_osd_takes_one_screen_and_the_verdict_comes_first(name: str, fixtures: Path) -> None:
    lines = report_of(fixtures / name, width=100).splitlines()
    assert len(lines) <= 40
    assert all(len(line) <= 100 for line in lines)
    assert lines[0].startswith("RocksDB compaction report: ")
    verdict = lines[lines.index("") + 1]
    assert re.match(r"  (osd\.0|LOG)  [✕▲●n]", verdict)
    assert "--full" in lines[-1]


def test_the_first_screen_joins_column_families(stock: Analysis) -> None:
    text = render(compose(stock))
    assert re.search(
        r"^  osd\.0  ▲ 4 warnings · write amplification 1\.57 · no stalls · compactions 4", text, re.MULTILINE
    )
    first = "▲ R05 p-0, p-1, p-2: Keys outlive their flush and are deleted later: leak 40.1 to 45.0 %,"
    assert first in " ".join(text.split())
    assert "→ let one flush cover more time" in text
    plan = " ".join(text[text.index("  Plan: ") :].split())
    assert "the OSD being stopped min_write_buffer_number_to_merge 1 → 2 (R05);" in plan
    assert "max_total_wal_size 1 GiB → 2 GiB (R06)." in plan
    assert text.count("R05") == 3  # the finding, the plan, and how to have it explained


@pytest.mark.parametrize("width", [80, 100, 120])
def test_all_of_it_fits_a_terminal_and_loses_nothing(stock: Analysis, width: int) -> None:
    document = compose(stock)
    narrow = render(document, full=True, width=width)
    for line in narrow.splitlines():
        has_place_to_break = " " in line.strip()
        is_command = line.startswith(" " * COMMAND_INDENT)
        assert len(line) <= width or is_command or not has_place_to_break, line
    assert words(narrow) == words(whole(document))


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\s─]+", text))


def test_colour_changes_the_looks_alone(stock: Analysis) -> None:
    document = compose(stock)
    plain, colour = (render(document, colour=is_on) for is_on in (False, True))
    assert "\x1b" not in plain
    assert colour.count("\x1b[33m") == 3
    assert re.sub(r"\x1b\[[\d;]*m", "", colour) == plain


def test_the_report_ends_in_one_newline_and_has_no_trailing_blanks(fixtures: Path) -> None:
    text = report_of(fixtures / "osd-rotated", full=True)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.fixture
def osds(tmp_path: Path, log_text: LogText) -> Path:
    """One run more than are shown side by side, each of another day."""
    text = log_text("osd-spillover/ceph-osd.0.log.gz")
    for number in range(RUNS_SIDE_BY_SIDE + 1):
        changed = text.replace(b"2026-11-20T", b"2026-11-1%dT" % number).replace(b"osd.0", b"osd.%d" % number)
        changed = changed.replace(b'"time_micros": 179', b'"time_micros": 17%d' % number)
        (tmp_path / f"ceph-osd.{number}.log").write_bytes(changed)
    return tmp_path


def test_many_runs_are_listed_below_each_other(osds: Path) -> None:
    analysis = analyze([str(osds)])
    assert [one.run.name for one in analysis.runs] == [f"osd.{number}" for number in range(RUNS_SIDE_BY_SIDE + 1)]
    text = render(compose(analysis))
    assert "By run" in text
    rows = [line.split() for line in text.splitlines() if re.match(r"osd\.\d ", line)]
    assert [row[0] for row in rows] == [f"osd.{number}" for number in range(RUNS_SIDE_BY_SIDE + 1)]
    assert {row[2] for row in rows} == {"14"}
    assert re.search(rf"^Number of Compaction Events +{14 * (RUNS_SIDE_BY_SIDE + 1)}$", text, re.MULTILINE)
    verdicts = [line.split()[0] for line in text.splitlines() if line.startswith("  osd.") and "amplification" in line]
    assert len(verdicts) == RUNS_SIDE_BY_SIDE


def test_few_runs_stand_side_by_side_with_their_total(osds: Path) -> None:
    for number in range(2, RUNS_SIDE_BY_SIDE + 1):
        (osds / f"ceph-osd.{number}.log").unlink()
    text = report_of(osds, full=True)
    assert re.search(r"^ +osd\.0 +osd\.1 +total$", text, re.MULTILINE)
    assert re.search(r"^Number of Compaction Events +14 +14 +28$", text, re.MULTILINE)
    assert "osd.1: Column families and levels" in text


def test_a_log_without_events_says_why(tmp_path: Path) -> None:
    (tmp_path / "LOG").write_text("2026/11/21-07:33:02.040964 10094 RocksDB version: 9.8.4\n")
    text = report_of(tmp_path / "LOG")
    assert "no flush or compaction finished in what was read" in text
    assert "debug_rocksdb" not in text  # which is Ceph's
    assert "column family" not in text
    (tmp_path / "ceph-osd.3.log").write_text("2026-11-20T22:56:20.761+0000 7f9  0 osd.3 12 ceph version 18.2.7 (x)\n")
    assert "debug_rocksdb" in report_of(tmp_path / "ceph-osd.3.log")


def test_problems_are_named_with_their_member(tmp_path: Path, log_text: LogText) -> None:
    (tmp_path / "LOG").write_bytes(log_text("rocksdb-7.8/LOG"))
    (tmp_path / "odd.gz").write_bytes(b"\x1f\x8b\x08nonsense")
    assert f"  ▲ {tmp_path / 'odd.gz'}: " in report_of(tmp_path)


def test_a_family_without_a_name_is_shown(tmp_path: Path) -> None:
    lines = [
        "first",
        '2026/11/21-07:33:02.040964 10094 EVENT_LOG_v1 {"time_micros": 1795246382040918, "job": 3,'
        ' "event": "trivial_move", "destination_level": 1, "files": 1, "total_files_size": 37800}',
        "2026/11/21-07:33:02.040964 10094 [db.cc:1] [] Moved #1 files to level-1 37800 bytes OK",
        "",
    ]
    (tmp_path / "LOG").write_text("\n".join(lines))
    assert re.search(r'^"" ', report_of(tmp_path / "LOG", full=True), re.MULTILINE)
