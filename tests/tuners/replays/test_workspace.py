"""Folders of replays: theirs alone, gone at the end, and gone at the next start where there was no end."""

import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.units import MIB
from lsmlens.tuners.replays.workspace import OWNER, PREFIX, Limits, remove, remove_stale, size_of, workspace

HOLDER = """
import sys, time
from pathlib import Path
from lsmlens.tuners.replays.workspace import workspace
with workspace(Path(sys.argv[1])) as folder:
    (folder / "db").mkdir()
    (folder / "db" / "000001.sst").write_bytes(b"x" * 1000)
    print(folder, flush=True)
    time.sleep(60)
"""


def test_a_workspace_is_there_while_it_is_held(tmp_path: Path) -> None:
    with workspace(tmp_path / "a" / "b") as folder:
        assert folder.parent == tmp_path / "a" / "b"
        (folder / "db").mkdir()
        (folder / "db" / "LOG").write_bytes(b"12345")
        assert size_of(folder) == 5 + (folder / OWNER).stat().st_size
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_it_goes_when_the_replay_fails(tmp_path: Path) -> None:
    def fail() -> None:
        with workspace(tmp_path) as folder:
            (folder / "file").touch()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_folders_in_use_are_left_alone(tmp_path: Path) -> None:
    with workspace(tmp_path) as first, workspace(tmp_path) as second:
        assert first != second
        assert remove_stale(tmp_path) == []
        assert first.exists()
        assert second.exists()


def test_what_a_killed_process_left_is_removed_at_the_next_start(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    left = Path(holder.stdout.readline().strip())
    assert remove_stale(tmp_path) == []
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert (left / "db" / "000001.sst").exists()
    with workspace(tmp_path) as folder:
        assert [one for one in tmp_path.iterdir() if one != folder] == []
    assert list(tmp_path.iterdir()) == []


def test_what_a_dying_database_keeps_alive_is_known_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files come again while they are removed: the owner's file stays, and says that it is stale."""
    folder = tmp_path / f"{PREFIX}dying"
    (folder / "db").mkdir(parents=True)
    (folder / OWNER).touch()
    monkeypatch.setattr(shutil, "rmtree", lambda path, ignore_errors: None)
    assert not remove(folder)
    assert (folder / OWNER).exists()
    monkeypatch.undo()
    assert remove_stale(tmp_path) == [folder]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_an_owner_is_left_while_it_is_young(tmp_path: Path) -> None:
    young, old = tmp_path / f"{PREFIX}young", tmp_path / f"{PREFIX}old"
    young.mkdir()
    old.mkdir()
    os.utime(old, (time.time() - 3600, time.time() - 3600))
    assert remove_stale(tmp_path) == [old]
    assert young.exists()


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / OWNER).touch()
    assert remove_stale(tmp_path) == []
    assert remove_stale(tmp_path / "absent") == []
    assert (tmp_path / "mine").exists()


def test_a_place_where_none_can_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LsmlensError, match="no folder for the replay") as raised, workspace(tmp_path / "file"):
        pass
    assert "--work-dir" in raised.value.hint


def test_many_may_start_at_once(tmp_path: Path) -> None:
    """None takes another's new folder for a stale one."""

    def hold(_: int) -> bool:
        with workspace(tmp_path) as folder:
            (folder / "file").touch()
            time.sleep(0.001)
            return (folder / "file").exists()

    with ThreadPoolExecutor(16) as threads:
        assert all(threads.map(hold, range(1000)))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    free = SimpleNamespace(disk=5000 * MIB, memory=2000 * MIB)
    monkeypatch.setattr(psutil, "disk_usage", lambda path: SimpleNamespace(free=free.disk))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=free.memory))
    return free


def test_there_is_room(machine: SimpleNamespace, tmp_path: Path) -> None:
    assert Limits().exceeded(tmp_path) is None
    assert Limits().exceeded(tmp_path, 1000 * MIB) is None


def test_a_disk_that_is_nearly_full(machine: SimpleNamespace, tmp_path: Path) -> None:
    machine.disk = 1023 * MIB
    assert Limits().exceeded(tmp_path) == f"1023 MiB free on the disk of {tmp_path}, 1 GiB must stay free"
    assert Limits(least_free_disk_bytes=1000 * MIB).exceeded(tmp_path) is None


def test_memory_that_is_short(machine: SimpleNamespace, tmp_path: Path) -> None:
    wanted = Limits().exceeded(tmp_path, 1600 * MIB)
    assert wanted == "2 GiB of memory available, 1.6 GiB wanted, 512 MiB must stay free"
    machine.memory = 100 * MIB
    assert Limits().exceeded(tmp_path) == "100 MiB of memory available, 512 MiB must stay free"


def test_the_real_machine(tmp_path: Path) -> None:
    assert Limits(0, 0).exceeded(tmp_path) is None
    assert "free on the disk" in (Limits(1 << 60, 0).exceeded(tmp_path) or "")
    assert "of memory available" in (Limits(0, 1 << 60).exceeded(tmp_path) or "")
