"""`lsmlens watch` as it is run: lines in a pipe, a table on a terminal, metrics, and an end at any time."""

import fcntl
import gzip
import os
import pty
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

Run = Callable[..., subprocess.CompletedProcess[bytes]]
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "ceph-osd.0.log"
    path.write_bytes(gzip.decompress((FIXTURES / "osd-stock/ceph-osd.0.log.gz").read_bytes()))
    return path


def sample(text: str, name: str) -> float:
    (value,) = (
        one.value for family in text_string_to_metric_families(text) for one in family.samples if one.name == name
    )
    return float(value)


def test_once_says_what_is_new_and_keeps_the_metrics(log: Path, tmp_path: Path, lsmlens: Run) -> None:
    metrics = tmp_path / "lsmlens.prom"
    done = lsmlens("watch", str(log), "--once", "-o", str(metrics))
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert any(" osd.0 warning R" in line or " osd.0 info R" in line for line in lines)
    assert " osd.0 window flushes 55, " in lines[-1]
    text = metrics.read_text()
    assert sample(text, "lsmlens_watched_flushes_total") == 55
    assert sample(text, "lsmlens_watched_lines_total") == log.read_bytes().count(b"\n")
    assert sample(text, "lsmlens_write_amplification_lsm_ratio") > 1
    assert text.endswith("# EOF\n")
    again = lsmlens("watch", str(log), "--once", "-o", str(metrics))
    assert again.stdout == b""
    assert sample(metrics.read_text(), "lsmlens_watched_flushes_total") == 55


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_it_follows_until_it_is_ended_and_goes_on_there(
    log: Path, tmp_path: Path, command: list[str], lsmlens: Run, number: signal.Signals
) -> None:
    whole = log.read_bytes()
    half = whole.index(b"\n", len(whole) // 2) + 1
    log.write_bytes(whole[:half])
    metrics = tmp_path / "lsmlens.prom"
    watching = subprocess.Popen(
        [*command, "watch", str(log), "--every", "50ms", "-o", str(metrics)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_for(metrics, half)
    with log.open("ab") as file:
        file.write(whole[half:-200])
    wait_for(metrics, len(whole[:-200].rpartition(b"\n")[0]))
    watching.send_signal(number)
    printed, said = watching.communicate(timeout=30)
    assert said == b""
    assert watching.returncode == (0 if number is not signal.SIGKILL else -signal.SIGKILL)
    assert b" osd.0 window flushes " in printed
    with log.open("ab") as file:
        file.write(whole[-200:])
    lsmlens("watch", str(log), "--once", "-o", str(metrics))
    text = metrics.read_text()
    assert sample(text, "lsmlens_watched_flushes_total") == 55
    assert sample(text, "lsmlens_watched_lines_total") == whole.count(b"\n")


def wait_for(metrics: Path, size: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if metrics.exists() and sample(metrics.read_text(), "lsmlens_watched_bytes_total") >= size:
            return
        time.sleep(0.05)
    raise AssertionError(f"{size} bytes were not read")


def test_a_table_on_a_terminal(log: Path, command: list[str]) -> None:
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
    watching = subprocess.Popen([*command, "watch", str(log), "--every", "50ms"], stdout=end, stderr=end)
    os.close(end)
    shown, end_at = b"", time.monotonic() + 30
    while b"R0" not in shown and time.monotonic() < end_at:
        shown += os.read(terminal, 4096)
    watching.send_signal(signal.SIGINT)
    while True:
        try:
            if not os.read(terminal, 4096):
                break
        except OSError:
            break
    assert watching.wait(30) == 130
    os.close(terminal)
    assert b" osd.0 " in shown
    assert b"compacting" in shown
    assert b"R0" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("-o", "x.json"), "no format"), (("-o", "/nowhere/x.prom"), "no such folder")],
)
def test_where_metrics_cannot_go(log: Path, lsmlens: Run, arguments: tuple[str, ...], said: str) -> None:
    done = lsmlens("watch", str(log), "--once", *arguments)
    assert done.returncode == 2
    assert said in done.stderr.decode().splitlines()[0]
