"""Disks that fill up, files that grow and vanish: what is written is whole or not there, and one line says why."""

import os
import resource
import subprocess
import threading
import time
from pathlib import Path

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.errors import InputError
from lsmlens.reports.outputs import ANALYSIS


@pytest.mark.parametrize("suffix", [one for one in ANALYSIS.suffixes if one != ".svg"])
def test_no_output_is_left_half_written(suffix: str, command: list[str], fixtures: Path, tmp_path: Path) -> None:
    """No file may grow beyond some bytes: what a full disk does, at the first write or at a later one."""
    name = f"timeline{suffix}"
    (tmp_path / name).write_bytes(b"what was there before")
    done = subprocess.run(
        [*command, "analyze", str(fixtures / "rocksdb-current" / "LOG"), "-q", "-o", name],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # or torn bytecode stays behind
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700)),
        check=False,
    )
    said = done.stderr.decode().splitlines()
    assert done.returncode == 2, done.stderr
    assert [line.partition(" ")[0] for line in said] == ["error:", "hint:"]
    assert name in said[0]
    assert [one.name for one in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == b"what was there before"


def test_a_log_that_grows_while_it_is_read(fixtures: Path, tmp_path: Path) -> None:
    text = (fixtures / "rocksdb-current" / "LOG").read_bytes()
    path = tmp_path / "LOG"
    path.write_bytes(text)
    is_over = threading.Event()

    def grow() -> None:
        with path.open("ab") as file:
            while not is_over.is_set():
                file.write(text[:1000])
                file.flush()
                time.sleep(0.001)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        (one,) = analyze([str(path)]).runs
    finally:
        is_over.set()
        writer.join()
    assert one.run.quality.bytes >= len(text)


def test_files_that_vanish_while_a_folder_is_read(fixtures: Path, tmp_path: Path) -> None:
    text = (fixtures / "rocksdb-current" / "LOG").read_bytes()
    for number in range(40):
        (tmp_path / f"LOG.old.{number}").write_bytes(text[:20_000])
    (tmp_path / "LOG").write_bytes(text)
    seen = []

    def on_progress(path: str, _: int) -> None:
        seen.append(path)
        for number in range(20, 40):
            (tmp_path / f"LOG.old.{number}").unlink(missing_ok=True)

    analysis = analyze([str(tmp_path)], None, None, on_progress)
    gone = [member for member in analysis.members if member.problem]
    assert seen
    assert gone
    assert {member.problem for member in gone} == {os.strerror(2)}
    assert sum(one.run.event_counts["flush_finished"] for one in analysis.runs) > 0


def test_links_that_lead_to_one_another(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(InputError) as raised:
        analyze([str(tmp_path / "a")])
    assert raised.value.hint
    with pytest.raises(InputError, match=r"symbolic links|no such file"):
        analyze([str(tmp_path)])
