"""What a fleet costs: a thousand OSDs added on all cores and on one, the next hour, and a look over ten million jobs.

The bundles are made of the logs of three real OSDs with other numbers and bytes, see `tests.fleets`; two outliers are
planted. `LSMLENS_FLEET_OSDS` and `LSMLENS_FLEET_JOBS` make it smaller. The figures are printed.
"""

import gzip
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest
from lsmlens.analyzer.fleet.dataset import DataSet

from tests.fleets import Planted, log_of, put, write_bundle
from tests.jobs import compaction, flush

pytestmark = pytest.mark.slow

COMMAND = [str(Path(sys.executable).with_name("lsmlens")), "fleet"]
OSDS = int(os.environ.get("LSMLENS_FLEET_OSDS", "1000"))
JOBS = int(os.environ.get("LSMLENS_FLEET_JOBS", "10000000"))
MEMORY_LIMIT = 500 << 20
MOST_USED_BY_OTHERS = 5  # per cent of all processors


def cost(arguments: Sequence[str | Path]) -> tuple[float, float, int, str]:
    """CPU and wall seconds of the command with its workers, the largest process's memory, and what was printed."""
    wrapper = (
        "import resource, subprocess, sys, time\n"
        "began = time.monotonic(); done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, time.monotonic() - began, used.ru_maxrss << 10, done.returncode)\n"
        "print(done.stdout + done.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", wrapper, *COMMAND, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    first, _, printed = done.stdout.partition("\n")
    cpu, wall, memory, status = first.split()
    assert status == "0", printed
    return float(cpu), float(wall), int(memory), printed


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundles")
    for number in range(OSDS):
        write_bundle(folder, number, Planted() if number in planted() else None)
    return folder


def planted() -> tuple[int, int]:
    return 7, OSDS - 8


def test_a_thousand_osds(bundles: Path, tmp_path: Path) -> None:
    cpu, wall, memory, _ = cost(["add", tmp_path / "all", bundles])
    print(f"\n{OSDS} OSDs: {cpu / OSDS:.3f} s of CPU an OSD, {wall:.0f} s, {memory >> 20} MiB at most a process")
    assert memory <= MEMORY_LIMIT
    report_cpu, _, _, screen = cost(["report", tmp_path / "all"])
    print(f"report: {report_cpu:.1f} s of CPU")
    for number in planted():
        assert f"osd.{number} " in screen.split("Outliers")[1].split("Side by side")[0]
    assert len(screen.splitlines()) <= 50
    again, _, _, said = cost(["add", tmp_path / "all", bundles])
    print(f"the same again: {again / OSDS:.4f} s of CPU an OSD")
    assert "nothing new" in said
    assert again <= cpu / 4


def test_all_cores_against_one(bundles: Path, tmp_path: Path) -> None:
    cores, others = os.cpu_count() or 1, psutil.cpu_percent(interval=2)
    if cores < 2 or others > MOST_USED_BY_OTHERS:
        pytest.skip(f"needs two processors to itself: there are {cores}, and others use {others:.0f} % of them")
    some = sorted(bundles.glob("host*"))[: max(1, min(100, OSDS) // 20)]
    _, one, _, _ = cost(["add", tmp_path / "one", *some, "--jobs", "1"])
    _, two, _, _ = cost(["add", tmp_path / "two", *some, "--jobs", "2"])
    print(f"\non one core {one:.1f} s, on two {two:.1f} s: {one / two:.2f} times as fast")
    assert one / two >= 1.8


def test_the_next_hour_costs_what_it_costs_alone(tmp_path: Path) -> None:
    log = log_of(1)
    for number in range(8):
        for hour, part in enumerate((log[: len(log) // 2], log[len(log) // 2 :])):
            folder = tmp_path / f"hour-{hour}" / f"osd.{number}"
            folder.mkdir(parents=True)
            (folder / f"ceph-osd.{number}.log.gz").write_bytes(gzip.compress(part))
    cost(["add", tmp_path / "grown", tmp_path / "hour-0"])
    added, _, _, _ = cost(["add", tmp_path / "grown", tmp_path / "hour-1"])
    alone, _, _, _ = cost(["add", tmp_path / "alone", tmp_path / "hour-1"])
    print(f"\nthe next hour {added:.2f} s of CPU, alone {alone:.2f} s")
    assert added <= 2 * alone


def test_a_look_over_ten_million_jobs(tmp_path: Path) -> None:
    daemons = 1000
    fleet = DataSet.made_at(tmp_path / "fleet")
    chance = random.Random(1)
    jobs = [
        flush(chance.randrange(1 << 25), job=place, finished_at=place * 1000 + chance.randrange(1000))
        if place % 3
        else compaction(
            chance.randrange(1 << 28),
            job=place,
            finished_at=place * 1000 + chance.randrange(1000),
            micros=chance.randrange(1 << 22),
            input_records=chance.randrange(1 << 20),
        )
        for place in range(JOBS // daemons)
    ]
    put(fleet, "osd.0", jobs, options={"compression": "none"})
    for table in ("jobs", "readings", "options"):
        first = next((fleet.root / table).rglob("*.parquet"))
        for number in range(1, daemons):
            place = Path(str(first).replace("daemon=osd.0", f"daemon=osd.{number}"))
            place.parent.mkdir(parents=True)
            shutil.copy(first, place)
    rows = sum(pq.read_metadata(file).num_rows for file in (fleet.root / "jobs").rglob("*.parquet"))
    cpu, wall, memory, screen = min(cost(["report", fleet.root]) for _ in range(3))
    print(f"\n{rows} jobs: {cpu:.1f} s of CPU, {wall:.1f} s, {memory >> 20} MiB")
    assert "OSDs 1000" in screen
    assert cpu / min(2, os.cpu_count() or 1) <= 5
