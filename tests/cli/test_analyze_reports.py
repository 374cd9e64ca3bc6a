"""`lsmlens analyze` and its reports from outside: several in one run, formats for CI, redaction, pictures."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[bytes]]
REPORTS = ("r.html", "r.md", "r.json", "r.junit.xml", "r.benchmark.json", "r.csv", "r.parquet", "r.txt", "timeline.svg")


def outputs(*names: str) -> list[str]:
    return [part for name in names for part in ("-o", name)]


def test_every_report_in_one_run(lsmlens: Command, fixtures: Path, tmp_path: Path) -> None:
    done = lsmlens("analyze", fixtures / "osd-reef", "--full", *outputs(*REPORTS, "levels=first.png"), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert {file.name for file in tmp_path.iterdir()} == {*REPORTS, "first.png"}
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "r.txt").read_bytes() == done.stdout


@pytest.mark.slow
def test_reports_are_the_same_bytes_again(lsmlens: Command, fixtures: Path, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        assert lsmlens("analyze", fixtures / "osd-spillover", *outputs(*REPORTS), cwd=tmp_path / folder).returncode == 0
    for name in REPORTS:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("report.pdf", b"no format for this suffix"),
        ("osd-0.svg", b"no chart called osd-0"),
        ("level=x.png", b"no chart called level=x"),
        ("nowhere/r.html", b"no such folder"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_work(
    name: str, says: bytes, lsmlens: Command, fixtures: Path, tmp_path: Path
) -> None:
    done = lsmlens("analyze", fixtures / "osd-reef", *outputs("fine.json", name), cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count(b"\n") == 2
    assert list(tmp_path.iterdir()) == []


def test_a_chart_with_nothing_to_draw_is_told(lsmlens: Command, fixtures: Path, tmp_path: Path) -> None:
    done = lsmlens("analyze", fixtures / "rocksdb-current", *outputs("latency.svg"), cwd=tmp_path)
    assert done.returncode == 2
    assert b"error: nothing to draw in the chart latency\nhint: " in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_markdown_on_standard_output(lsmlens: Command, fixtures: Path, tmp_path: Path) -> None:
    done = lsmlens("analyze", fixtures / "osd-reef", "--format", "markdown", *outputs("r.md"), cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout == (tmp_path / "r.md").read_bytes()


def test_a_workflow_has_annotations_and_a_summary(command: list[str], fixtures: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    done = subprocess.run(
        [*command, "analyze", str(fixtures / "rocksdb-backlog"), "--format", "github", "--fail-on", "critical"],
        env={**os.environ, "GITHUB_STEP_SUMMARY": str(summary)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(b"failed: ")
    assert all(line.startswith((b"::error ", b"::warning ", b"::notice ")) for line in done.stdout.splitlines())
    assert done.stdout.startswith(b"::error title=R0")
    assert b",line=" in done.stdout or b"file=" in done.stdout
    assert summary.read_text().startswith("## RocksDB compaction report")


def test_reports_are_there_when_the_gate_fails(lsmlens: Command, fixtures: Path, tmp_path: Path) -> None:
    arguments = ("analyze", fixtures / "rocksdb-backlog", "--fail-on", "critical")
    done = lsmlens(*arguments, *outputs("r.md", "r.junit.xml"), cwd=tmp_path)
    assert done.returncode == 1
    assert {file.name for file in tmp_path.iterdir()} == {"r.md", "r.junit.xml"}
    assert "no finding of severity critical" in (tmp_path / "r.junit.xml").read_text()


def test_redaction_reaches_standard_output_and_files(lsmlens: Command, fixtures: Path, tmp_path: Path) -> None:
    done = lsmlens("analyze", fixtures / "osd-reef", "--redact", "--full", *outputs("r.json", "r.md"), cwd=tmp_path)
    assert done.returncode == 0
    for text in (done.stdout.decode(), (tmp_path / "r.json").read_text(), (tmp_path / "r.md").read_text()):
        assert str(fixtures) not in text
    assert b"path-1" in done.stdout
    assert json.loads((tmp_path / "r.json").read_text())["runs"][0]["name"] == "osd.0"


def test_a_comparison_with_all_its_reports(lsmlens: Command, fixtures: Path, tmp_path: Path) -> None:
    names = (
        "c.html",
        "c.md",
        "c.json",
        "c.junit.xml",
        "c.benchmark.json",
        "c.csv",
        "c.parquet",
        "c.txt",
        "written.svg",
    )
    arms = (f"stock={fixtures / 'osd-stock'}", f"other={fixtures / 'osd-reef'}")
    done = lsmlens(
        "compare", *arms, "--fail-if", "flush_bytes:<1", "--format", "github", *outputs(*names), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert {file.name for file in tmp_path.iterdir()} == set(names)
    assert all(line.startswith(b"::") for line in done.stdout.splitlines())
    failed = lsmlens("compare", *arms, "--redact", "--fail-if", "flush_bytes:>0", "--format", "markdown")
    assert failed.returncode == 1
    assert failed.stderr.startswith(b"failed: flush_bytes of other")
    assert str(fixtures).encode() not in failed.stdout


def test_plain_reports_need_no_charts() -> None:
    code = (
        "import sys; from lsmlens.cli import main; status = main(['analyze', sys.argv[1], '-q']);"
        " heavy = {'altair', 'vl_convert', 'jinja2', 'pyarrow', 'numpy', 'scipy', 'junitparser'} & sys.modules.keys();"
        " print(heavy, file=sys.stderr); sys.exit(status or bool(heavy))"
    )
    fixture = Path(__file__).resolve().parents[2] / "fixtures" / "osd-reef"
    done = subprocess.run([sys.executable, "-c", code, str(fixture)], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"set()\n")
