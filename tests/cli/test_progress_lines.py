"""What progress writes on a terminal, and where there is none."""

import fcntl
import os
import pty
import struct
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress
from typing import cast
from unittest.mock import Mock

import pytest
from lsmlens.cli.download_progress import DownloadProgress
from lsmlens.cli.play_progress import PlayProgress
from lsmlens.cli.progress_line import CLEAR_LINE, ProgressLine, duration
from lsmlens.cli.search_progress import SearchProgress
from lsmlens.cli.trial_progress import TrialProgress
from lsmlens.tuners.replays.runner import Progress

WIDTH = 40


class Terminal:
    """A terminal that is standard error inside `with`; `shown` is what it got since last asked."""

    def __init__(self) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
        os.set_blocking(self._master, False)
        self._slave = os.fdopen(slave, "w", encoding="utf-8")

    def __enter__(self) -> "Terminal":
        self._before, sys.stderr = sys.stderr, self._slave
        return self

    def __exit__(self, *_: object) -> None:
        sys.stderr = self._before

    def shown(self) -> str:
        said = b""
        with suppress(BlockingIOError):  # there is no more
            while True:
                said += os.read(self._master, 4096)
        return said.decode()

    def close(self) -> None:
        self._slave.close()
        os.close(self._master)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second goes by at each look at the clock."""
    clock = iter(range(1_000_000))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))


def runs(done: int = 3, failed: int = 0, seconds_left: float | None = None) -> Progress:
    """A quarter of eight runs' work is done."""
    progress = Mock(spec=Progress, runs=8, done=done, failed=failed, share=0.25, seconds_left=seconds_left)
    return cast("Progress", progress)


def test_a_line_is_cut_to_the_terminal_and_cleared(terminal: Terminal) -> None:
    with terminal, ProgressLine() as line:
        line._draw("x" * 100)
        assert terminal.shown() == CLEAR_LINE + "x" * (WIDTH - 1)
    assert terminal.shown() == CLEAR_LINE


def test_a_line_is_cleared_when_the_work_fails(terminal: Terminal) -> None:
    with suppress(ZeroDivisionError), terminal, ProgressLine() as line:
        line._draw("dividing")
        raise ZeroDivisionError
    assert terminal.shown() == CLEAR_LINE + "dividing" + CLEAR_LINE


def test_fast_work_says_nothing(terminal: Terminal) -> None:
    with terminal, TrialProgress() as progress:
        progress.show(runs())
    assert terminal.shown() == ""


def test_a_line_is_due_after_the_quiet_time_then_each_interval(terminal: Terminal, at_once: None) -> None:
    with terminal:
        line = ProgressLine(quiet_seconds=2.0, interval_seconds=3.0)
        assert [line._is_due() for _ in range(8)] == [False, True, False, False, True, False, False, True]
    assert terminal.shown() == ""


def test_replays(terminal: Terminal, at_once: None) -> None:
    with terminal, TrialProgress() as progress:
        progress.show(runs(failed=1, seconds_left=90.0))
    line = "replaying  25 %  3 of 8 runs done, 1 failed  1 min 30 s left"
    assert terminal.shown() == CLEAR_LINE + line[: WIDTH - 1] + CLEAR_LINE


def test_a_download(terminal: Terminal, at_once: None) -> None:
    with terminal, DownloadProgress("RocksDB 7.9.2") as progress:
        progress.advance(5 << 20, 20 << 20)
    assert terminal.shown() == CLEAR_LINE + "fetching RocksDB 7.9.2  25 %  5 of 20 MiB"[: WIDTH - 1] + CLEAR_LINE


def test_simulations_are_told_from_the_start_on(terminal: Terminal, at_once: None) -> None:
    with terminal, PlayProgress() as progress:
        assert terminal.shown() == CLEAR_LINE + "simulating"
        progress.tell("balanced", 1, 6)
        progress.tell("even", 2, 6)
        assert terminal.shown().split(CLEAR_LINE) == ["", "simulating 1 of 6  balanced", "simulating 2 of 6  even"]
    assert terminal.shown() == CLEAR_LINE


def test_a_search_on_a_terminal(terminal: Terminal, at_once: None) -> None:
    with terminal, SearchProgress() as progress:
        progress.say("screening")
        progress.show(runs())
        _, stage, replays = terminal.shown().split(CLEAR_LINE)
    assert stage.endswith(" s: screening")
    assert replays.endswith(" s: screening  25 %")
    assert terminal.shown() == CLEAR_LINE


def test_a_search_elsewhere_says_its_stages(capsys: pytest.CaptureFixture[str]) -> None:
    with SearchProgress() as progress:
        progress.say("screening")
        progress.show(runs())
        progress.say("confirming")
    assert capsys.readouterr().err == "0 s: screening\n0 s: confirming\n"


def test_quiet(terminal: Terminal, at_once: None) -> None:
    with terminal:
        with SearchProgress(quiet=True) as search:
            search.say("screening")
            search.show(runs())
        with TrialProgress(quiet=True) as trials:
            trials.show(runs())
        with PlayProgress(quiet=True) as plays:
            plays.tell("balanced", 1, 6)
    assert terminal.shown() == ""


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (59, "59 s"), (60, "1 min 00 s"), (3599, "59 min 59 s"), (7260, "2 h 01 min")]
)
def test_a_duration(seconds: float, said: str) -> None:
    assert duration(seconds) == said
