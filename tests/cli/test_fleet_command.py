"""`lsmlens fleet` as a user runs it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
from lsmlens.analyzer.fleet.dataset import DataSet

from tests.fleets import write_bundle

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundles")
    for number in range(4):
        write_bundle(folder, number)
    return folder


def test_add_report_check_drop(tmp_path: Path, bundles: Path, lsmlens: Run) -> None:
    fleet = str(tmp_path / "fleet")
    added = lsmlens("fleet", "add", fleet, str(bundles), "--cluster", "lab")
    assert added.returncode == 0, added.stderr
    assert added.stdout.startswith(b"4 new logs of 4 daemons, ")
    assert added.stderr == b""
    again = lsmlens("fleet", "add", fleet, str(bundles), "--cluster", "lab")
    assert again.stdout == b"nothing new: all of these logs were added before\n"
    files = [tmp_path / name for name in ("f.html", "f.md", "f.txt", "f.csv")]
    shown = lsmlens("fleet", "report", fleet, *(part for file in files for part in ("-o", str(file))))
    assert shown.returncode == 0, shown.stderr
    assert "OSDs 4 · hosts 1" in shown.stdout.decode()
    assert pl.read_csv(files[3])["daemon"].to_list() == ["osd.0", "osd.1", "osd.2", "osd.3"]
    assert all(b"osd.2" in file.read_bytes() for file in files)
    full = lsmlens("fleet", "report", fleet, "--full", "--by", "host", "--where", "daemon = 'osd.1'")
    assert "OSDs 1 " in full.stdout.decode()
    assert len(full.stdout) > len(lsmlens("fleet", "report", fleet, "--where", "daemon = 'osd.1'").stdout)
    assert lsmlens("fleet", "check", fleet).returncode == 0
    dropped = lsmlens("fleet", "drop", fleet, "--before", "2100-01-01")
    assert dropped.returncode == 0
    assert lsmlens("fleet", "report", fleet).returncode == 2


def test_check_fails_where_something_is_wrong(tmp_path: Path, bundles: Path, lsmlens: Run) -> None:
    fleet = tmp_path / "fleet"
    lsmlens("fleet", "add", str(fleet), str(bundles / "host000/osd.1"))
    next((fleet / "tables").rglob("*.parquet")).write_bytes(b"PAR1")
    found = lsmlens("fleet", "check", str(fleet))
    assert found.returncode == 1
    assert b"osd.1: tables/" in found.stdout
    repaired = lsmlens("fleet", "check", str(fleet), "--repair")
    assert repaired.returncode == 0
    assert repaired.stderr == b"note: add the logs of these again: osd.1\n"
    assert lsmlens("fleet", "add", str(fleet), str(bundles / "host000/osd.1")).stdout.startswith(b"1 new log")
    assert lsmlens("fleet", "check", str(fleet)).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "{}/fleet", "{}/nothing"), "no such file"),
        (("add", "{}/fleet", "{}/empty"), "no log"),
        (("add", "{}/bundles", "{}/bundles"), "something else"),
        (("report", "{}/empty"), "no data set"),
        (("drop", "{}/empty", "--before", "yesterday"), "not a date"),
        (("report", "{}/empty", "--by", "rack"), "rack"),
    ],
)
def test_bad_input(tmp_path: Path, lsmlens: Run, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bundles").mkdir()
    (tmp_path / "bundles/x.txt").write_text("x")
    done = lsmlens("fleet", *(one.format(tmp_path) for one in arguments))
    assert done.returncode == 2
    lines = done.stderr.decode().splitlines()
    assert [line.split(":")[0] for line in lines] == ["error", "hint"]
    assert said in lines[0]
    assert not (tmp_path / "fleet").exists()


@pytest.fixture
def killed(tmp_path: Path, bundles: Path) -> Iterator[Path]:
    """A data set whose addition was killed, with all of its workers, once it had begun to write."""
    fleet = tmp_path / "fleet"
    command = [str(Path(sys.executable).with_name("lsmlens")), "fleet", "add", str(fleet), str(bundles)]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not any(fleet.glob("_staging/*/*/*")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    yield fleet
    shutil.rmtree(fleet)


def test_a_kill_leaves_it_whole(killed: Path, tmp_path: Path, bundles: Path, lsmlens: Run) -> None:
    assert lsmlens("fleet", "check", str(killed), "--repair").returncode == 0
    assert lsmlens("fleet", "check", str(killed)).returncode == 0
    lsmlens("fleet", "add", str(killed), str(bundles))
    lsmlens("fleet", "add", str(tmp_path / "other"), str(bundles))
    key = ["daemon", "finished_at", "job", "kind"]
    one, other = (DataSet.at(path).scan("jobs").collect().sort(key) for path in (killed, tmp_path / "other"))
    assert one.equals(other)


def test_on_the_workers_of_a_scheduler(tmp_path: Path, bundles: Path, lsmlens: Run) -> None:
    from distributed import LocalCluster

    local = cast("Any", LocalCluster)  # distributed has no types of its own
    with local(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        arguments = ["fleet", "add", str(tmp_path / "fleet"), str(bundles), "--scheduler", cluster.scheduler_address]
        done = lsmlens(*arguments)
    assert done.stdout.startswith(b"4 new logs of 4 daemons, "), done.stderr
    assert DataSet.at(tmp_path / "fleet").check(is_to_repair=False) == []
