"""What `lsmlens analyze` costs, as ratios against peers in the same run.

The log is 1.2 GB: the lines of a real OSD at debug level 10, over and over, with the log of another real OSD let in
at the density that OSD had. It is written in small appends, as a daemon writes its own: both sides map the file, and
one that was written or read back in large blocks costs the peer a third of that. `LSMLENS_BENCHMARK_LOG` names a log of
your own to measure instead. CPU is user plus system time of the whole process. A command and its peer run in turn, and
the least of each counts: what else a machine does only ever adds. While their ratio is over its limit they run again,
for a limit that is exceeded by chance is soon kept, and one exceeded by the code never. The ratios are printed; the
limits are about twice the aims.

A second log is dense: RocksDB's own lines of a busy OSD and nothing else, 277 MB with 181,336 events. It is the log of
fixtures/osd-reef over and over, each round with later stamps and other job and file numbers.
"""

import gzip
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain, zip_longest
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
COMMAND = [str(Path(sys.executable).with_name("lsmlens")), "analyze"]
LOG_BYTES = 1_200_000_000
APPEND_BYTES = 4096


def lines_of(fixture: str) -> bytes:
    return gzip.decompress((FIXTURES / fixture / "ceph-osd.0.log.gz").read_bytes())


def write_log(path: Path, size: int) -> Path:
    noise = b"".join(line for line in lines_of("osd-noisy").splitlines(True) if b"rocksdb: " not in line)
    real = lines_of("osd-stock").splitlines(True)
    stretches = size // len(noise) + 1
    each = len(real) // stretches + 1
    with path.open("wb", buffering=0) as file:
        for start in range(0, stretches * each, each):
            stretch = b"".join(real[start : start + each]) + noise
            for at in range(0, len(stretch), APPEND_BYTES):
                file.write(stretch[at : at + APPEND_BYTES])
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    given = os.environ.get("LSMLENS_BENCHMARK_LOG")
    if given:
        yield Path(given)
        return
    path = write_log(tmp_path_factory.mktemp("benchmark") / "ceph-osd.0.log", LOG_BYTES)
    yield path
    path.unlink()


DENSE_ROUNDS, DENSE_EVENTS = 120, 181_336
NUMBERS_A_ROUND = 5000  # more than the jobs and files of one round
STAMP = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}"
MOMENT = rb'(?<="time_micros": )\d+'
NUMBER = rb'(?<=JOB )\d+|(?<="job": )\d+|(?<="file_number": )\d+|(?<=table #)\d+'
INPUTS = rb'(?<="files_L\d": \[)[\d, ]+'
CHANGING = re.compile(b"(%s)|(%s)|(%s)|(%s)" % (STAMP, MOMENT, NUMBER, INPUTS))


def write_dense_log(path: Path, rounds: int) -> Path:
    """The log so many times over, each time with later moments and higher numbers of jobs and files."""
    lines = [line for line in lines_of("osd-reef").splitlines(True) if b"rocksdb" in line]
    start = next(number for number, line in enumerate(lines) if b"flush_started" in line)
    text = b"".join(lines[start:])
    parts = CHANGING.split(text)[:: CHANGING.groups + 1]  # what stays as it is
    changing = list(CHANGING.finditer(text))
    stamps = [datetime.fromisoformat(one[1].decode()) for one in changing if one[1]]
    span = max(stamps) - min(stamps) + timedelta(seconds=1)
    with path.open("wb") as file:
        file.write(b"".join(lines[:start]))
        for number in range(rounds):
            later = [_later(one, span * number, NUMBERS_A_ROUND * number) for one in changing]
            file.write(b"".join(chain.from_iterable(zip_longest(parts, later, fillvalue=b""))))
    return path


def _later(found: re.Match[bytes], by: timedelta, numbers: int) -> bytes:
    stamp, moment, number, _ = found.groups()
    if stamp:
        return (datetime.fromisoformat(stamp.decode()) + by).isoformat(timespec="milliseconds").encode()
    if moment:
        return b"%d" % (int(moment) + by // timedelta(microseconds=1))
    if number:
        return b"%d" % (int(number) + numbers)
    return b", ".join(b"%d" % (int(one) + numbers) for one in found[0].split(b","))


@pytest.fixture(scope="module")
def dense_log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = write_dense_log(tmp_path_factory.mktemp("dense") / "ceph-osd.0.log", DENSE_ROUNDS)
    yield path
    path.unlink()


def cpu_seconds(command: Sequence[str | Path]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(list(map(str, command)), check=True, capture_output=True, env=as_installed())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpu_ratio(command: Sequence[str | Path], peer: Sequence[str | Path], below: float, runs: int = 3) -> float:
    """CPU of a command over its peer's, the least of each: of so many runs, or up to three times as many."""
    own = others = ratio = float("inf")
    for run in range(3 * runs):
        if run >= runs and ratio < below:
            break
        own, others = min(own, cpu_seconds(command)), min(others, cpu_seconds(peer))
        ratio = own / others
    return ratio


def as_installed() -> dict[str, str]:
    """An environment in which Python keeps its bytecode, as in any installation."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def peak_mebibytes(command: Sequence[str | Path]) -> float:
    program = (
        "import resource, subprocess, sys;"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", program, *map(str, command)], check=True, capture_output=True)
    return float(done.stdout)


def ripgrep() -> str:
    found = shutil.which("rg")
    if found is None:
        pytest.skip("ripgrep (rg), the peer of this measurement, is not installed")
    return found


def test_cpu_against_ripgrep_on_a_plain_log(log: Path) -> None:
    ratio = cpu_ratio([*COMMAND, log], [ripgrep(), "-c", "EVENT_LOG_v1", log], below=10, runs=5)
    print(f"\nanalyze / rg -c, plain: {ratio:.2f} (aim: 4.5)")
    assert ratio < 10


def test_cpu_against_ripgrep_on_a_gzipped_log(log: Path, tmp_path: Path) -> None:
    packed = tmp_path / "ceph-osd.0.log.gz"
    with packed.open("wb") as file:
        subprocess.run(["gzip", "-1", "-c", str(log)], check=True, stdout=file)
    ratio = cpu_ratio([*COMMAND, packed], [ripgrep(), "-z", "-c", "EVENT_LOG_v1", packed], below=0.6, runs=1)
    print(f"\nanalyze / rg -z -c, gzip: {ratio:.2f} (aim: 0.2)")
    assert ratio < 0.6


DECODED = """
import subprocess, sys, orjson
found = subprocess.Popen([sys.argv[1], "-o", "EVENT_LOG_v1 .*", sys.argv[2]], stdout=subprocess.PIPE)
events = sum(1 for line in found.stdout if orjson.loads(line[13:]))
found.wait()
assert events == int(sys.argv[3]), events
"""
LINE_BY_LINE = """
import json, sys
from datetime import datetime
for line in open(sys.argv[1]):
    try: datetime.strptime(line[0:23], "%Y-%m-%dT%H:%M:%S.%f")
    except ValueError: pass
    if '"event": "compaction_finished"' in line: json.loads("{" + line.split("{", 1)[1])
"""


def test_cpu_against_reading_line_by_line(log: Path) -> None:
    """The published parser's way: a Python loop that looks at the stamp of every line."""
    ratio = cpu_ratio([*COMMAND, log], [sys.executable, "-c", LINE_BY_LINE, log], below=1 / 30, runs=1)
    print(f"\nline by line / analyze: {1 / ratio:.0f} (aim: 60)")
    assert ratio < 1 / 30


def test_cpu_against_decoding_the_events_of_a_dense_log(dense_log: Path) -> None:
    peer: list[str | Path] = [sys.executable, "-c", DECODED, ripgrep(), dense_log, str(DENSE_EVENTS)]
    ratio = cpu_ratio([*COMMAND, dense_log], peer, below=9)
    print(f"\nanalyze / rg | orjson.loads, dense: {ratio:.1f} (aim: 6)")
    assert ratio < 9


def test_cpu_against_reading_a_dense_log_line_by_line(dense_log: Path) -> None:
    ratio = cpu_ratio([*COMMAND, dense_log], [sys.executable, "-c", LINE_BY_LINE, dense_log], below=0.9)
    print(f"\nanalyze / line by line, dense: {ratio:.2f} (aim: 0.6)")
    assert ratio < 0.9


def test_cpu_grows_with_a_dense_log_as_its_length(dense_log: Path, tmp_path: Path) -> None:
    """Four times the length takes a little less than four times the CPU, for start-up is in it.

    If a sixth of the work grew with the square, sixteen times that and four times the rest would be over five.
    """
    longer = write_dense_log(tmp_path / "ceph-osd.0.log", 4 * DENSE_ROUNDS)
    try:
        ratio = cpu_ratio([*COMMAND, longer], [*COMMAND, dense_log], below=5, runs=1)
    finally:
        longer.unlink()
    print(f"\na dense log four times as long: {ratio:.1f} times the CPU")
    assert ratio < 5


def test_memory_hardly_grows_with_the_jobs_of_a_dense_log(dense_log: Path, tmp_path: Path) -> None:
    """Of 1.5 million events only those columns stand in memory that one question at a time asks for."""
    once = peak_mebibytes([*COMMAND, dense_log])
    longer = write_dense_log(tmp_path / "ceph-osd.0.log", 8 * DENSE_ROUNDS)
    try:
        eight_times = peak_mebibytes([*COMMAND, longer])
    finally:
        longer.unlink()
    print(f"\npeak memory: {once:.0f} MiB, of a dense log eight times as long {eight_times:.0f} MiB (aim: 250)")
    assert once < 250
    assert eight_times < 400


def test_memory_does_not_grow_with_the_log(log: Path, tmp_path: Path) -> None:
    once = peak_mebibytes([*COMMAND, log])
    longer = tmp_path / "ceph-osd.0.log"
    try:
        with longer.open("wb") as target:
            for _ in range(8):
                with log.open("rb") as source:
                    shutil.copyfileobj(source, target, 1 << 24)
        eight_times = peak_mebibytes([*COMMAND, longer])
    finally:
        longer.unlink(missing_ok=True)
    print(f"\npeak memory: {once:.0f} MiB, of a log eight times as long {eight_times:.0f} MiB (aim: 250)")
    assert once < 250
    assert eight_times < 250


def test_help_is_quick() -> None:
    ratio = cpu_ratio([COMMAND[0], "--help"], [sys.executable, "-c", "pass"], below=15, runs=10)
    print(f"\n--help: {ratio:.1f} times the CPU of a bare interpreter")
    assert ratio < 15  # most of it is what importing Typer takes; the aim is 0.15 s
