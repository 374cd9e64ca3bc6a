"""What progress writes on a terminal, and where there is none."""

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import cast
from unittest.mock import Mock

import pytest
from lsmlens.cli.progress import Progress, duration
from lsmlens.tuners.replays.replayer import ReplayProgress as Runs

WIDTH = 90
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # colours, and moves of the cursor
CLEARED = "\x1b[1A\x1b[2K"  # up to the bar's line, and that erased


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

    def lines(self) -> list[str]:
        """What stood in the bar's line, one after the other, without the bar itself."""
        return [
            " ".join(re.sub("[━╸╺]", "", STYLE.sub("", line)).split()) for line in re.split(r"[\r\n]+", self.shown())
        ]

    def close(self) -> None:
        self._slave.close()
        os.close(self._master)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    terminal = Terminal()
    yield terminal
    terminal.close()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second goes by at each look at the clock."""
    clock = iter(range(1_000_000))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))


def runs(done: int = 3, failed: int = 0, seconds_left: float | None = None) -> Runs:
    """A quarter of eight runs' work is done."""
    progress = Mock(spec=Runs, runs=8, done=done, failed=failed, share=0.25, seconds_left=seconds_left)
    return cast("Runs", progress)


def test_the_bar_is_taken_away_at_the_end(terminal: Terminal, at_once: None) -> None:
    with terminal, Progress() as progress:
        progress.begin("searching")
        assert "searching" in terminal.shown()
    assert terminal.shown().endswith(CLEARED)


def test_it_is_taken_away_when_the_work_fails(terminal: Terminal, at_once: None) -> None:
    with suppress(ZeroDivisionError), terminal, Progress() as progress:
        progress.begin("dividing")
        raise ZeroDivisionError
    assert terminal.shown().endswith(CLEARED)


def test_it_keeps_to_one_line(terminal: Terminal, at_once: None) -> None:
    with terminal, Progress() as progress:
        progress.simulating()("x" * 100, 1, 2)
        progress.begin("y" * 100)
        shown = STYLE.sub("", terminal.shown())
        assert "x" * 20 in shown
        assert all(len(line.strip("\r")) <= WIDTH for line in shown.splitlines())
        assert "\n" not in shown


def test_reading_that_is_soon_over_says_nothing(terminal: Terminal) -> None:
    with terminal, Progress() as progress:
        progress.reading(["nowhere"])("LOG", 5)
    assert terminal.shown() == ""


def test_reading(terminal: Terminal, at_once: None, tmp_path: Path) -> None:
    (tmp_path / "LOG").write_bytes(bytes(4 << 20))
    with terminal, Progress() as progress:
        advance = progress.reading([str(tmp_path)])
        advance("LOG", 1 << 20)
        advance("LOG", 2 << 20)
        assert terminal.lines()[-1] == "reading 75% 3 MiB LOG"
        advance("LOG", 2 << 20)  # an archive holds more than it is long
        assert terminal.lines()[-1] == "reading 5 MiB LOG"


def test_each_phase_of_a_command_has_its_name(terminal: Terminal, at_once: None) -> None:
    with terminal, Progress() as progress:
        progress.begin("replaying own options")
        progress.replayed(runs(failed=1, seconds_left=90.0))
        assert terminal.lines()[-1] == "replaying own options 25% 3 of 8 runs, 1 failed 1 min 30 s left"
        progress.begin("replaying new options")
        progress.replayed(runs())
        assert terminal.lines()[-2:] == [
            "replaying new options",
            "replaying new options 25% 3 of 8 runs",
        ]


def test_a_download(terminal: Terminal, at_once: None) -> None:
    with terminal, Progress() as progress:
        progress.fetching("RocksDB 7.9.2")(5 << 20, 20 << 20)
        assert terminal.lines()[-1] == "fetching RocksDB 7.9.2 25% 5 of 20 MiB"


def test_simulations_are_told_from_the_start_on(terminal: Terminal, at_once: None) -> None:
    with terminal, Progress() as progress:
        tell = progress.simulating()
        assert terminal.lines()[-1] == "simulating"
        tell("balanced", 1, 4)
        tell("even", 2, 4)
        assert terminal.lines()[-2:] == ["simulating 25% 1 of 4 balanced", "simulating 50% 2 of 4 even"]


def test_a_search_names_what_its_replays_are_for(terminal: Terminal, at_once: None) -> None:
    with terminal, Progress() as progress:
        progress.begin("screening")
        progress.replayed(runs(seconds_left=7200.0))
        assert terminal.lines()[-1] == "screening 25% 3 of 8 runs 2 h 00 min left"


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_is_said_where_no_person_looks_or_wants_to(
    quiet: bool, terminal: Terminal, at_once: None, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> None:
        with Progress(quiet) as progress:
            progress.reading(["."])("LOG", 5)
            progress.begin("replaying")
            progress.replayed(runs())
            progress.simulating()("balanced", 1, 6)
            progress.fetching("RocksDB")(1, 2)

    if quiet:
        with terminal:
            work()
        assert terminal.shown() == ""
    else:
        work()
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (59, "59 s"), (60, "1 min 00 s"), (3599, "59 min 59 s"), (7260, "2 h 01 min")]
)
def test_a_duration(seconds: float, said: str) -> None:
    assert duration(seconds) == said
