"""`lsmlens compare` as a user runs it: its exit status, its streams, its files."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.cli import main

Run = Callable[..., subprocess.CompletedProcess[bytes]]
STOCK, REEF = (f"{name}=fixtures/saved-analyses/{name}-scaled.json.gz" for name in ("stock", "reef-original"))


@pytest.fixture
def compare(lsmlens: Run, fixtures: Path) -> Run:
    def run(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
        return lsmlens("compare", *arguments, cwd=fixtures.parent)

    return run


def test_a_comparison_is_printed(compare: Run) -> None:
    done = compare(STOCK, REEF)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert text.startswith("RocksDB comparison: reef-original against stock\n")
    assert "compaction output bytes down 46.1\N{NARROW NO-BREAK SPACE}%" in text


def test_help(compare: Run) -> None:
    done = compare("--help")
    assert done.returncode == 0
    assert b"--fail-if METRIC:LIMIT" in done.stdout


def test_gates_that_are_kept(compare: Run) -> None:
    limits = ("write_amp:+10%", "total_output_size_mib:+5%", "stall_seconds:>0")
    done = compare(STOCK, REEF, *(argument for limit in limits for argument in ("--fail-if", limit)))
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().count("passed: ") == 3


def test_gates_that_are_broken_say_so_first(compare: Run) -> None:
    done = compare(REEF, STOCK, "--fail-if", "write_amp:+10%", "--fail-if", "stall_seconds:>0")
    assert done.returncode == 1
    reason = "write_amplification_lsm of stock is 4.94838, +64.2 % to reef-original's 3.01295; the limit is +10%"
    assert done.stderr.decode().splitlines() == [f"failed: {reason}"]
    assert "\n\n  ✕ Gate failed: write_amplification_lsm of stock is 4.94838, +64.2" in done.stdout.decode()


def test_an_unknown_metric_is_refused_with_the_list(compare: Run, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    done = compare(STOCK, REEF, "--fail-if", "weather:+10%", "-o", file)
    assert (done.returncode, done.stdout) == (2, b"")
    error, hint = done.stderr.decode().splitlines()
    assert error == "error: --fail-if: no metric weather"
    assert hint.startswith("hint: there are log_duration_seconds, ")
    assert {"write_amplification_lsm,", "write_amp,", "stalls,"} <= set(hint.split())
    assert not file.exists()
    mistyped = compare(STOCK, REEF, "--fail-if", "write_ampl:+10%").stderr.decode()
    assert "hint: did you mean write_amp? there are log_duration_seconds, " in mistyped


def test_an_unknown_family_is_refused_with_what_there_is(compare: Run) -> None:
    done = compare(STOCK, REEF, "--fail-if", "flush_bytes.p-9:+10%")
    assert (done.returncode, done.stdout) == (2, b"")
    assert "flush_bytes.p-0" in done.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((STOCK,), "there is one arm only"),
        ((STOCK, "no-such-path"), "no-such-path: no such file or folder"),
        ((STOCK, "fixtures/osd-stock/ceph.conf"), "neither a log nor"),
        ((STOCK, REEF, "--baseline", "none"), "--baseline: no arm none"),
        ((STOCK, REEF, "-o", "out.xyz"), "no format for this suffix"),
        ((STOCK, REEF, "-o", "no/such/folder.json"), "no such folder"),
        ((STOCK, REEF, "--fail-if", "write_amp"), "not a gate"),
        ((), "missing argument [NAME=]PATH[,PATH…]"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    arguments: tuple[str, ...],
    said: str,
    fixtures: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(fixtures.parent)
    monkeypatch.setattr("gc.disable", lambda: None)
    status = main(["compare", *arguments])
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["error:", "hint:"], lines
    assert said in lines[0]
    assert (status, out) == (2, "")


def test_files_are_written_and_json_printed(compare: Run, tmp_path: Path) -> None:
    names = [tmp_path / f"out.{suffix}" for suffix in ("json", "csv", "txt")]
    done = compare(STOCK, REEF, "--format", "json", *(part for name in names for part in ("-o", name)))
    assert (done.returncode, done.stderr) == (0, b"")
    assert names[0].read_bytes() == done.stdout
    assert json.loads(done.stdout)["baseline"] == "stock"
    assert (
        names[1]
        .read_text()
        .startswith("metric,stock,reef-original\nTotal OSD Log Duration (seconds),313.048,292.736\n")
    )
    assert names[2].read_bytes() == compare(STOCK, REEF, "--full").stdout
    assert sorted(tmp_path.iterdir()) == sorted(names)


def test_another_baseline(compare: Run) -> None:
    done = compare(STOCK, REEF, "--baseline", "reef-original", "--format", "json")
    assert [run["name"] for run in json.loads(done.stdout)["runs"]] == ["reef-original", "stock"]
