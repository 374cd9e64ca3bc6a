"""`lsmlens qos` as a user runs it: its own process, its own streams and exit status."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def test_a_real_osd_in_text(lsmlens: Run, fixtures: Path) -> None:
    done = lsmlens("qos", "--no-simulation", fixtures / "osd-mclock")
    assert done.returncode == 0
    assert done.stderr == b""
    assert b"mclock_scheduler in force, profile balanced, capacity 315 IOPS" in done.stdout
    said = " ".join(done.stdout.decode().split())
    assert "▲ Q02 osd.0: Capacity is the default: 315 IOPS, measured 43\u202f511 → measure the device" in said
    whole = lsmlens("qos", "--no-simulation", "--full", fixtures / "osd-mclock").stdout.decode()
    assert "WARNING Q02 Capacity is the default [osd.0]: 315 IOPS, measured 43\u202f511" in whole
    assert "threshold" not in said


def test_json_and_files(lsmlens: Run, fixtures: Path, tmp_path: Path) -> None:
    report = tmp_path / "qos.md"
    done = lsmlens("qos", "--no-simulation", "--format", "json", "-o", report, fixtures / "osd-reef")
    assert done.returncode == 0
    assert json.loads(done.stdout)["schema"] == "lsmlens.qos/1"
    assert report.read_text().startswith("## Ceph scheduling report")


def test_standard_input(lsmlens: Run, fixtures: Path) -> None:
    text = (fixtures / "osd-mclock" / "config_show.json").read_bytes()
    done = lsmlens("qos", "--no-simulation", "-", stdin=text)
    assert done.returncode == 0
    assert b"mclock_scheduler in force" in done.stdout


@pytest.mark.parametrize(("severity", "status"), [("warning", 1), ("critical", 0), ("info", 1)])
def test_a_gate(lsmlens: Run, fixtures: Path, severity: str, status: int) -> None:
    done = lsmlens("qos", "--no-simulation", "--fail-on", severity, fixtures / "osd-mclock")
    assert done.returncode == status
    assert (b"failed: 2 findings" in done.stderr) is bool(status)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["/nowhere"], "no such file or folder"),
        (["--depth", "0", "."], "--depth: 0 is below 1"),
        (["--objective", "both", "."], "both is not one of client, balanced, recovery"),
        (["-o", "x.docx", "."], "no format for this suffix"),
        (["-o", "pie.svg", "."], "no chart called pie"),
        ([], "missing argument PATH"),
    ],
)
def test_bad_usage(lsmlens: Run, tmp_path: Path, arguments: list[str], said: str) -> None:
    done = lsmlens("qos", "--no-simulation", *arguments, cwd=tmp_path)
    lines = done.stderr.decode().splitlines()
    assert [line.split(" ")[0] for line in lines] == ["error:", "hint:"], lines
    assert said in lines[0]
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_folder_without_anything(lsmlens: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    done = lsmlens("qos", tmp_path)
    assert done.returncode == 2
    assert b"nothing in it is of an OSD" in done.stderr


def test_explain(lsmlens: Run) -> None:
    done = lsmlens("explain", "q08")
    assert done.returncode == 0
    assert done.stdout.startswith(b"Q08  Several queues on an HDD\n\nAn HDD with several queues under mClock.")
    listed = lsmlens("explain").stdout.decode().splitlines()
    assert {"Q01  WPQ in force", "Q24  Compactions and recovery at once"} <= set(listed)
    assert listed[0].startswith("R01")


def test_simulation_libraries_are_not_imported_without_it(fixtures: Path) -> None:
    program = (
        "import sys\nfrom lsmlens.cli import main\n"
        f"main(['qos', '--no-simulation', {str(fixtures / 'osd-mclock')!r}])\n"
        "print([name for name in ('altair', 'pyarrow', 'scipy', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == b"[]"


@pytest.mark.slow
def test_a_simulation_from_the_command_line(lsmlens: Run, fixtures: Path) -> None:
    first, second = (lsmlens("qos", "--format", "json", "--depth", "8", fixtures / "osd-mclock") for _ in range(2))
    assert first.returncode == 0
    assert first.stdout == second.stdout
    recommendation = json.loads(first.stdout)["recommendation"]
    assert recommendation["predictions"][0]["settings"]["is_current"]
    assert any("the profile changes nothing" in reason for reason in recommendation["reasons"])


def test_annotations_and_the_steps_summary(
    lsmlens: Run, fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    report = tmp_path / "qos.junit.xml"
    done = lsmlens("qos", "--no-simulation", "--redact", "--format", "github", "-o", report, fixtures / "osd-mclock")
    assert done.returncode == 0
    assert done.stdout.startswith(b"::warning title=Q02 Capacity is the default,file=")
    assert str(fixtures).encode() not in done.stdout
    assert "## Ceph scheduling report" in (tmp_path / "summary.md").read_text()
    assert "lsmlens.Q02" in report.read_text()
