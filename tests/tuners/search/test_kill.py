"""A search that is killed at any moment, as often as one likes, comes to the same end as one that is not."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

PROGRAM = (sys.executable, "-c", "import sys; from lsmlens.cli import main; sys.exit(main())")
ASKED = (
    *("--trials", "4", "--objective", "wear", "--engine", "rocksdict", "--no-download", "--format", "json"),
    *("--jobs", "2", "--freeze", "compression", "--freeze", "max_background_jobs", "--freeze", "ttl"),
)


def start(log: Path, study: Path, folder: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [*PROGRAM, "tune", str(log), "--study", str(study), "--work-dir", str(folder)]
    return subprocess.Popen(
        [*command, *ASKED, *more], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )


def end(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    said: dict[str, Any] = json.loads(out)
    return said


def telling(said: dict[str, Any]) -> dict[str, Any]:
    """What must be the same: all but times, and the CPU and memory of the replays."""
    candidates = [
        (one["number"], one["name"], one["choices"], one["cost"], one["problem"]) for one in said["candidates"]
    ]
    finalists = [
        (one["name"], one["cost"], one["cases"], one["differences"], one["prediction"]) for one in said["finalists"]
    ]
    return {"candidates": candidates, "finalists": finalists, "pick": said["pick"], "reason": said["reason"]}


@pytest.mark.slow
def test_killed_at_any_moment_it_comes_to_the_same_end(small_log: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    whole = telling(end(start(small_log, tmp_path / "whole.db", tmp_path)))
    took = time.monotonic() - began
    random_ = random.Random(7)
    study = tmp_path / "killed.db"
    killed = 0
    for _ in range(6):
        process = start(small_log, study, tmp_path, *(["--resume"] if study.exists() else []))
        try:
            process.wait(timeout=random_.uniform(0.1, 0.5) * took)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            killed += 1
        process.communicate()
    assert killed >= 3
    assert telling(end(start(small_log, study, tmp_path, *(["--resume"] if study.exists() else [])))) == whole


def test_a_study_that_is_there_is_not_overwritten(small_log: Path, tmp_path: Path) -> None:
    study = tmp_path / "s.db"
    study.write_bytes(b"")
    process = subprocess.run(
        [*PROGRAM, "tune", str(small_log), "--study", str(study)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2
    assert process.stderr.startswith(f"error: {study}: there already is a study")
    assert "--resume" in process.stderr


def test_there_must_be_something_to_resume(small_log: Path, tmp_path: Path) -> None:
    process = subprocess.run(
        [*PROGRAM, "tune", str(small_log), "--study", str(tmp_path / "no.db"), "--resume"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2
    assert "there is no study to resume" in process.stderr
