"""kill -9 at moments of chance: no process and no database stays behind, files are whole, and the next one goes on.

`LSMLENS_KILLS` is how many there are in all: four unless it says otherwise, one of each command. What a kill does to
debug levels that `collect` raised, and to a search, is told in their own tests.
"""

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from lsmlens.analyzer.fleet.dataset import DataSet

from tests.fleets import write_bundle

KILLS = int(os.environ.get("LSMLENS_KILLS", "4"))
Run = Callable[..., subprocess.CompletedProcess[bytes]]
ENGINE = ("--engine", "rocksdict", "--jobs", "1", "--no-download", "--work-dir", "work", "-q")
WORKLOAD = """\
schema: lsmlens.workload/1
name: small
seconds: 5
column_families:
- name: default
  keys: {length: 24}
  values: 100
  components:
  - {kind: overwrite, rate: 1500, working_sets: [{keys: 3000}]}
"""
COMMANDS: dict[str, tuple[float, tuple[str, ...]]] = {  # the seconds within which it is killed
    "replay": (2.0, ("replay", "small.yaml", "--options", "rocksdb:default", *ENGINE, "-o", "out.json")),
    "predict": (4.0, ("predict", "LOG", "--options", "+ttl=0", "--seeds", "1", *ENGINE, "-o", "out.json")),
    "fleet add": (2.0, ("fleet", "add", "fleet", "bundles", "-q")),
    "watch": (1.5, ("watch", "LOG", "--every", "10ms", "-o", "out.prom")),
}


def ends(processes: Sequence[psutil.Process], seconds: float = 30.0) -> bool:
    """Whether all of them are gone within some seconds."""
    return not psutil.wait_procs(processes, timeout=seconds)[1]


def killed(command: list[str], folder: Path, seconds: float) -> list[psutil.Process]:
    """Kill the command after so many seconds, and it alone; the children that it had then."""
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    children = []
    with suppress(psutil.NoSuchProcess):
        children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    return children


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_at_any_moment(seed: int, command: list[str], lsmlens: Run, fixtures: Path, tmp_path: Path) -> None:
    def runs(*arguments: str) -> None:
        done = lsmlens(*arguments, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")

    name = list(COMMANDS)[seed % len(COMMANDS)]
    most, arguments = COMMANDS[name]
    (tmp_path / "small.yaml").write_text(WORKLOAD)
    shutil.copy(fixtures / "rocksdb-7.8/LOG", tmp_path)
    for number in range(2):
        write_bundle(tmp_path / "bundles", number)

    assert ends(killed([*command, *arguments], tmp_path, random.Random(seed).uniform(0.05, most)))
    if (tmp_path / "out.json").exists():
        json.loads((tmp_path / "out.json").read_text())
    if (tmp_path / "out.prom").exists():
        assert (tmp_path / "out.prom").read_text().endswith("# EOF\n")

    if name == "watch":
        runs("watch", "LOG", "--once", "-o", "out.prom")
        lines = (tmp_path / "LOG").read_bytes().count(b"\n")
        assert re.search(
            rf"^lsmlens_watched_lines_total.* {lines}\.0$", (tmp_path / "out.prom").read_text(), re.MULTILINE
        )
    elif name == "fleet add":
        if (tmp_path / "fleet").exists():
            assert lsmlens("fleet", "check", "fleet", "--repair", cwd=tmp_path).returncode in (0, 2)
        runs(*arguments)
        assert DataSet.at(tmp_path / "fleet").check(is_to_repair=False) == []
        assert DataSet.at(tmp_path / "fleet").scan("jobs").select("daemon").unique().collect().height == 2
    else:
        runs(*arguments)
        assert json.loads((tmp_path / "out.json").read_text())
        assert list((tmp_path / "work").iterdir()) == []
