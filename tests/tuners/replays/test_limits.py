"""What a replay must leave free."""

from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from lsmlens.analyzer.units import MIB
from lsmlens.tuners.replays.limits import Limits


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
    assert Limits().exceeded(tmp_path) == f"1 023 MiB free on the disk of {tmp_path}, 1 024 MiB must stay free"
    assert Limits(least_free_disk_bytes=1000 * MIB).exceeded(tmp_path) is None


def test_memory_that_is_short(machine: SimpleNamespace, tmp_path: Path) -> None:
    wanted = Limits().exceeded(tmp_path, 1600 * MIB)
    assert wanted == "2 000 MiB of memory available, 1 600 MiB wanted, 512 MiB must stay free"
    machine.memory = 100 * MIB
    assert Limits().exceeded(tmp_path) == "100 MiB of memory available, 512 MiB must stay free"


def test_the_real_machine(tmp_path: Path) -> None:
    assert Limits(0, 0).exceeded(tmp_path) is None
    assert "free on the disk" in (Limits(1 << 60, 0).exceeded(tmp_path) or "")
    assert "of memory available" in (Limits(0, 1 << 60).exceeded(tmp_path) or "")
