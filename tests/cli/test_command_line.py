"""The command as a user runs it: its own process, its own streams and exit status."""

import fcntl
import gzip
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from lsmlens.cli.commands import SUMMARIES
from typer import Typer

from tests.command_lines import parse

Run = Callable[..., subprocess.CompletedProcess[bytes]]
LogText = Callable[[str], bytes]
STYLE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")  # colours, and moves of the cursor
CLEARED = b"\x1b[1A\x1b[2K"  # up to the bar's line, and that erased
SUFFIXES = (".json", ".txt", ".csv", ".parquet")
HEAVY = ("pyarrow", "altair", "numpy", "pydantic", "rich")  # what no plain report needs
FLEET = tuple(f"fleet {name}" for name in ("add", "report", "check", "drop"))
HEAVIER = (*HEAVY, "polars", "orjson")  # nor help


def assert_refused(done: subprocess.CompletedProcess[bytes], *said: str) -> None:
    """One line says what is wrong, one the way out; nothing else is said or done."""
    lines = done.stderr.decode().splitlines()
    assert [line.split(" ")[0] for line in lines] == ["error:", "hint:"], lines
    assert all(len(line) > 10 for line in lines)
    assert done.returncode == 2
    assert done.stdout == b""
    for text in said:
        assert text in lines[0]


@pytest.fixture
def osd(tmp_path: Path, log_text: LogText) -> Path:
    file = tmp_path / "ceph-osd.0.log"
    file.write_bytes(log_text("osd-spillover/ceph-osd.0.log.gz"))
    return file


# ---- help, version, usage


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("analyze", "--help")])
def test_help(arguments: tuple[str, ...], lsmlens: Run) -> None:
    done = lsmlens(*arguments)
    assert done.returncode == 0
    assert done.stdout.startswith(b"Usage: lsmlens")
    assert b"analyze" in done.stdout
    assert b"\x1b" not in done.stdout
    assert b"\xe2\x95\xad" not in done.stdout  # the corner of a panel
    assert done.stderr == b""


@pytest.mark.parametrize("arguments", [(), ("engine",)])
def test_help_is_what_a_command_alone_says(arguments: tuple[str, ...], lsmlens: Run) -> None:
    done = lsmlens(*arguments)
    assert done.stdout == lsmlens(*arguments, "--help").stdout
    assert (done.returncode, done.stderr) == (2, b"")


@pytest.mark.parametrize("name", [*SUMMARIES, "engine list", "engine install", "engine path", *FLEET])
def test_every_help_has_three_examples_that_parse(name: str, lsmlens: Run) -> None:
    done = lsmlens(*name.split(), "--help")
    assert (done.returncode, done.stderr) == (0, b"")
    text, _, examples = done.stdout.decode().partition("  Examples:\n")
    lines = examples.splitlines()
    assert len(lines) == 3
    assert all("lsmlens" in line and len(line) <= 90 for line in lines)
    assert "[required]" in text or name in ("engine", "engine list", "explain", "fleet", "collect")
    for line in lines:
        (command,) = re.findall(r"lsmlens [^|)]*", line)
        parse(shlex.split(command)[1:])


def test_help_on_a_terminal_is_in_panels(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    for arguments in ((), ("engine", "install"), ("compare",)):
        done = subprocess.run([*command, *arguments, "--help"], capture_output=True, check=True, timeout=60)
        assert b"\x1b[" in done.stdout
        shown = STYLE.sub(b"", done.stdout).decode()
        assert "╭─ Options ─" in shown
        assert "Examples:" in shown


def test_a_command_is_summed_up_alike_in_the_list_and_by_itself() -> None:
    for name in SUMMARIES:
        module = import_module(f"lsmlens.cli.{name}")
        assert isinstance(module.app, Typer)
        assert (module.__doc__ or "").startswith(f"`lsmlens {name}`: ")


def test_the_version(lsmlens: Run) -> None:
    done = lsmlens("--version")
    assert done.returncode == 0
    assert re.fullmatch(rb"lsmlens \d+\.\d+\.\d+\S*\n", done.stdout)
    assert done.stderr == b""


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["analyze", "/nowhere"], *([name, "--help"] for name in SUMMARIES)],
    ids=" ".join,
)
def test_heavy_modules_are_not_imported_for_little(arguments: list[str]) -> None:
    program = (
        "import sys\nfrom lsmlens.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        f"print([name for name in {HEAVY if arguments[-1] == '/nowhere' else HEAVIER!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == b"[]"


def test_a_text_report_needs_no_files_or_charts(osd: Path) -> None:
    program = (
        f"import sys\nfrom lsmlens.cli import main\nmain(['analyze', {str(osd)!r}])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == b"[]"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("frobnicate",), "frobnicate"),
        (("analyze",), "PATH"),
        (("analyze", "--frobnicate", "x"), "--frobnicate"),
        (("analyze", "x", "--level", "high"), "--level"),
        (("analyze", "x", "--level"), "--level"),
        (("analyze", "x", "--format", "xml"), "--format"),
        (("analyze", "x", "--level", "-1"), "--level: -1 is below 0"),
        (("analyze", "x", "--window", "soon"), "--window: soon"),
        (("explain", "R01", "R02"), "R02"),
        (("--frobnicate",), ""),
    ],
)
def test_usage_errors(arguments: tuple[str, ...], said: str, lsmlens: Run) -> None:
    assert_refused(lsmlens(*arguments), said)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("analize", "x"), "analyze"),
        (("engine", "instal", "7.9.2"), "install"),
        (("analyze", "x", "--levl", "3"), "--level"),
        (("tune", "x", "--budgte", "3m"), "--budget"),
        (("analyze", "x", "--format", "jsn"), "json"),
        (("qos", "x", "--fail-on", "warn"), "warning"),
    ],
)
def test_what_was_mistyped_is_guessed(arguments: tuple[str, ...], meant: str, lsmlens: Run) -> None:
    done = lsmlens(*arguments)
    assert_refused(done, arguments[-1] if "format" in str(arguments) else "")
    assert done.stderr.decode().splitlines()[1].startswith(f"hint: did you mean {meant}? ")


# ---- bad input


def test_a_missing_path(lsmlens: Run, tmp_path: Path) -> None:
    assert_refused(lsmlens("analyze", tmp_path / "nowhere"), str(tmp_path / "nowhere"), "no such file")


def test_a_missing_path_among_others(lsmlens: Run, osd: Path) -> None:
    assert_refused(lsmlens("analyze", osd, osd.parent / "nowhere"), "nowhere")


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"hello\n", b"\x00" * 5000, b"\x7fELF" + bytes(range(256)) * 9, b"{}", b"[1"]
)
def test_a_file_that_is_no_log(data: bytes, lsmlens: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(data)
    assert_refused(lsmlens("analyze", tmp_path / "file"), str(tmp_path / "file"))


@pytest.mark.parametrize("name", ["ceph-osd.0.log", "LOG", "ceph-osd.0.log.gz"])
def test_an_empty_log(name: str, lsmlens: Run, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b"") if name.endswith("gz") else b"")
    assert_refused(lsmlens("analyze", tmp_path / name), name)


def test_an_empty_folder(lsmlens: Run, tmp_path: Path) -> None:
    assert_refused(lsmlens("analyze", tmp_path), str(tmp_path), "empty")


def test_a_folder_without_logs_says_where_there_are_some(lsmlens: Run, tmp_path: Path) -> None:
    for name in ("notes.txt", "dmesg"):
        (tmp_path / name).write_text("nothing of RocksDB\n")
    done = lsmlens("analyze", tmp_path)
    assert_refused(done, str(tmp_path), "no line of RocksDB in 2 files")
    assert b"/var/log/ceph" in done.stderr


def test_a_broken_archive(lsmlens: Run, tmp_path: Path) -> None:
    (tmp_path / "bundle.zip").write_bytes(b"PK\x03\x04" + bytes(100))
    assert_refused(lsmlens("analyze", tmp_path / "bundle.zip"), "bundle.zip", "damaged")


def test_empty_standard_input(lsmlens: Run) -> None:
    assert_refused(lsmlens("analyze", "-", stdin=b""), "standard input")


@pytest.mark.parametrize("option", ["--since", "--until"])
@pytest.mark.parametrize("time", ["soon", "", "inf", "nan", "2026-13-01", "1e400", "99:00"])
def test_a_time_that_is_none(option: str, time: str, lsmlens: Run, osd: Path) -> None:
    assert_refused(lsmlens("analyze", osd, option, time), option)


def test_a_time_in_a_log_whose_first_event_is_of_another_age(lsmlens: Run, tmp_path: Path) -> None:
    event = '2026/11/20-22:56:20.761456 1 EVENT_LOG_v1 {"time_micros": 5, "job": 3, "event": "recovery_finished"}\n'
    (tmp_path / "LOG").write_text("first\n" + event)
    done = lsmlens("analyze", tmp_path / "LOG", "--since", "2026-11-20T22:00")
    assert b"Traceback" not in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("name", ["out.xml", "out", "out.gz"])
def test_an_output_of_an_unknown_format(name: str, lsmlens: Run, osd: Path) -> None:
    assert_refused(lsmlens("analyze", osd, "-o", osd.parent / "fine.json", "-o", osd.parent / name), name)
    assert list(osd.parent.iterdir()) == [osd]


def test_an_output_into_a_folder_that_is_not_there(lsmlens: Run, osd: Path) -> None:
    assert_refused(lsmlens("analyze", osd, "-o", osd.parent / "nowhere" / "x.json"), "nowhere")


def test_an_output_that_is_a_folder(lsmlens: Run, osd: Path) -> None:
    (osd.parent / "x.json").mkdir()
    assert_refused(lsmlens("analyze", osd, "-o", osd.parent / "x.json"), "x.json")


def test_a_name_with_a_line_end_is_told_on_one_line(lsmlens: Run, tmp_path: Path) -> None:
    assert_refused(lsmlens("analyze", tmp_path / "no\nsuch\x1b[31m"))


# ---- results


def test_a_report(lsmlens: Run, osd: Path) -> None:
    done = lsmlens("analyze", osd)
    assert done.returncode == 0
    assert done.stderr == b""
    assert re.search(rb"Number of Compaction Events +14\n", done.stdout)
    assert b"\x1b" not in done.stdout


def test_standard_input_is_like_a_file(lsmlens: Run, osd: Path) -> None:
    from_file = json.loads(lsmlens("analyze", osd, "--format", "json").stdout)
    for data in (osd.read_bytes(), gzip.compress(osd.read_bytes())):
        done = lsmlens("analyze", "-", "--format", "json", stdin=data)
        assert done.returncode == 0
        (run,) = json.loads(done.stdout)["runs"]
        assert run["compaction_statistics"] == from_file["runs"][0]["compaction_statistics"]
        assert run["members"] == ["standard input"]


def test_several_outputs_in_one_run(lsmlens: Run, osd: Path) -> None:
    out = osd.parent / "out"
    out.mkdir()
    names = ["a.json", "a.csv", "a.parquet", "a.txt", "b.json"]
    done = lsmlens("analyze", osd, "--format", "json", *(argument for name in names for argument in ("-o", out / name)))
    assert done.returncode == 0
    assert done.stderr == b""
    assert sorted(path.name for path in out.iterdir()) == sorted(names)
    assert (out / "a.json").read_bytes() == (out / "b.json").read_bytes() == done.stdout
    assert (out / "a.txt").read_bytes() == lsmlens("analyze", osd, "--full").stdout
    assert (out / "a.csv").read_text().count("\n") == 1 + 14 + 39
    assert (out / "a.parquet").read_bytes()[:4] == b"PAR1"


def test_options_select(lsmlens: Run, osd: Path) -> None:
    def counted(*options: str) -> int:
        said = json.loads(lsmlens("analyze", osd, "--format", "json", *options).stdout)
        count: int = said["runs"][0]["compaction_statistics"]["compaction_events"]
        return count

    assert counted() == counted("--level", "1") == 14
    assert counted("--level", "0") == 0
    assert 0 < counted("--cf", "p-0") < counted("--cf", "p-0", "--cf", "p-1", "--cf", "p-2") < 14
    before, after = counted("--until", "2026-11-20T23:44:00"), counted("--since", "2026-11-20T23:44:00")
    assert before + after == 14
    assert 0 < before < 14


def test_an_unknown_family_is_refused(lsmlens: Run, osd: Path) -> None:
    done = lsmlens("analyze", osd, "--cf", "p-0", "--cf", "p0", "-o", osd.parent / "x.json")
    assert_refused(done, "--cf: no column family p0")
    assert b"hint: did you mean p-0? there are " in done.stderr
    assert list(osd.parent.iterdir()) == [osd]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_a_terminal_cannot_show_does_not_end_the_program(
    encoding: str, command: list[str], osd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    done = subprocess.run([*command, "analyze", str(osd)], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert done.stderr == b""
    assert b"Number of Compaction Events" in done.stdout


@pytest.mark.parametrize("options", ["--format text", "--format json", *(f"-o x{suffix}" for suffix in SUFFIXES)])
def test_a_name_that_is_no_text(options: str, lsmlens: Run, osd: Path) -> None:
    folder = osd.parent / "bundle"
    folder.mkdir()
    osd.rename(folder / os.fsdecode(b"\xff\xfe.log"))
    done = lsmlens("analyze", "bundle", *options.split(), cwd=osd.parent)
    assert done.stderr == b""
    assert done.returncode == 0


# ---- pipes and terminals


@pytest.mark.parametrize(
    "arguments", ["analyze LOG", "analyze LOG --format json", "explain", "--help", "qos --help", "engine list"]
)
def test_a_full_device_is_told(arguments: str, command: list[str], osd: Path) -> None:
    given = [str(osd) if part == "LOG" else part for part in arguments.split()]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*command, *given], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.stderr.decode().splitlines() == [
        "error: cannot write to standard output: no space left on device",
        "hint: make room there, or write to a file with -o",
    ]
    assert done.returncode == 2


def test_closed_streams_are_no_error(command: list[str], osd: Path) -> None:
    line = '"$@" >&- 2>&-'
    done = subprocess.run(["bash", "-c", line, "bash", *command, "analyze", str(osd)], timeout=60, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("options", ["--format json", ""])
def test_a_reader_that_leaves_early(options: str, command: list[str], fixtures: Path) -> None:
    line = f'"$@" {options} | head -c 10; echo " ${{PIPESTATUS[0]}}"'
    everything = [*command, "analyze", *(str(path) for path in sorted(fixtures.iterdir()))]
    done = subprocess.run(["bash", "-c", line, "bash", *everything], capture_output=True, timeout=60, check=False)
    assert done.stderr == b""
    assert len(done.stdout.split(b"\n")[0]) <= 20
    assert done.stdout.split()[-1] in (b"0", b"141")


def slowly(pipe: Path, data: bytes, seconds: float) -> threading.Thread:
    def write() -> None:
        with pipe.open("wb", buffering=0) as opened:
            for at in range(20):
                opened.write(data[at * len(data) // 20 : (at + 1) * len(data) // 20])
                time.sleep(seconds / 20)

    writer = threading.Thread(target=write)
    writer.start()
    return writer


def on_a_terminal(arguments: list[str], width: int = 60) -> tuple[bytes, bytes, int]:
    """Standard output, what a terminal got as standard error, and the exit status."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave, env=env)
    os.close(slave)
    said: list[bytes] = []

    def listen() -> None:
        while True:
            with suppress(OSError):  # the other side is closed
                said.append(os.read(master, 4096))
                continue
            return

    listener = threading.Thread(target=listen)
    listener.start()
    out, _ = process.communicate(timeout=60)
    listener.join()
    os.close(master)
    return out, b"".join(said), process.returncode


def test_a_slow_job_says_how_far_it_is_on_a_terminal(command: list[str], osd: Path) -> None:
    pipe = osd.parent / "pipe"
    os.mkfifo(pipe)
    writer = slowly(pipe, osd.read_bytes(), 1.8)
    out, said, status = on_a_terminal([*command, "analyze", str(pipe)])
    writer.join()
    assert status == 0
    assert b"Number of Compaction Events" in out
    assert b"reading" not in out
    shown = [STYLE.sub(b"", line).decode().strip() for line in said.split(b"\r")]
    assert said.endswith(CLEARED)
    assert len(shown) > 2
    assert all(re.fullmatch("reading [━╸╺]+ +([0-9]+%)? +[0-9] MiB  [/a-z…].*", line) for line in shown if line), shown
    assert max(map(len, shown)) <= 60


@pytest.mark.parametrize("option", ["-q", "--quiet"])
def test_quiet_is_quiet(option: str, command: list[str], osd: Path) -> None:
    pipe = osd.parent / "pipe"
    os.mkfifo(pipe)
    writer = slowly(pipe, osd.read_bytes(), 1.3)
    assert on_a_terminal([*command, "analyze", option, str(pipe)])[1:] == (b"", 0)
    writer.join()


def test_a_fast_job_says_nothing_of_its_progress(command: list[str], osd: Path) -> None:
    assert on_a_terminal([*command, "analyze", str(osd)])[1:] == (b"", 0)


def test_nothing_is_said_of_progress_where_no_person_looks(lsmlens: Run, osd: Path) -> None:
    pipe = osd.parent / "pipe"
    os.mkfifo(pipe)
    writer = slowly(pipe, osd.read_bytes(), 1.5)
    done = lsmlens("analyze", pipe)
    writer.join()
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_error_on_a_terminal_leaves_no_progress_behind(command: list[str], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = slowly(pipe, b"no log\n" * 1000, 1.5)
    _, said, status = on_a_terminal([*command, "analyze", str(pipe)])
    writer.join()
    assert status == 2
    assert CLEARED + b"error: " in said
    assert said.count(b"error: ") == said.count(b"hint: ") == 1


def test_an_interruption_is_told_in_one_line(command: list[str], tmp_path: Path) -> None:
    import signal

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen([*command, "analyze", str(pipe)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with pipe.open("wb", buffering=0) as opened:  # opens once the other side does
        opened.write(b"some of it\n")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=60)
    assert (out, said, process.returncode) == (b"", b"error: interrupted\n", 130)
