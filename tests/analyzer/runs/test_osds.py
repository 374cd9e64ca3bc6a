"""The OSD a run is of: real names and versions."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.runs.osds import ceph_release, is_osd, osd_number, store_path, while_stopped
from lsmlens.analyzer.runs.reading import read_runs
from lsmlens.analyzer.runs.run import Run


@pytest.mark.parametrize(
    ("version", "release"),
    [("18.2.7", (18, 2, 7)), ("11.0.0-1688-g3fcc89c", (11, 0, 0)), ("20.2", (20, 2, 0)), (None, None), ("dev", None)],
)
def test_release(version: str | None, release: tuple[int, int, int] | None) -> None:
    assert ceph_release(Run("osd.0", False, [], ceph_version=version)) == release


def test_runs_of_real_bundles(fixtures: Path) -> None:
    (osd, monitor) = sorted(read_runs([str(fixtures / "osd-stock")])[1], key=lambda one: one.is_monitor)
    assert (is_osd(osd), osd_number(osd), ceph_release(osd)) == (True, "0", (16, 2, 15))
    assert not is_osd(monitor)
    (noisy,) = read_runs([str(fixtures / "osd-noisy")])[1]
    assert (is_osd(noisy), ceph_release(noisy)) == (True, None)
    (native,) = read_runs([str(fixtures / "rocksdb-7.8")])[1]
    assert not is_osd(native)


def test_name_in_a_folder_and_without_number(run_of: Callable[..., Run]) -> None:
    assert osd_number(Run("host1/osd.12", False, [])) == "12"
    assert store_path(Run("LOG", False, [], ceph_version="18.2.7")) == "/var/lib/ceph/osd/ceph-N"


def test_commands_of_a_stopped_osd() -> None:
    asks, first, stop, tool, start, last = while_stopped(Run("osd.3", False, []), "ceph-bluestore-tool …")
    assert (asks, first, last) == ("ceph osd ok-to-stop osd.3", "ceph osd set noout", "ceph osd unset noout")
    assert stop.startswith("systemctl stop ceph-osd@3 ")
    assert tool == "ceph-bluestore-tool …"
    assert start.startswith("systemctl start ceph-osd@3 ")
