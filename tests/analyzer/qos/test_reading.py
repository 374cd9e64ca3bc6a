"""From paths to what they hold: folders, archives, transports, several OSDs, standard input, nothing at all."""

import gzip
import io
import json
import shutil
import sys
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.bundles.roles import Role, recognise_text
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.logs import blocks
from lsmlens.analyzer.qos.log_lines import LineKind
from lsmlens.analyzer.qos.reading import read_material
from lsmlens.analyzer.qos.view import QosView

ViewAt = Callable[[Path], QosView]


def test_an_archive_is_as_good_as_a_folder(fixtures: Path, tmp_path: Path, view_at: ViewAt) -> None:
    archive = tmp_path / "bundle.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(fixtures / "osd-mclock", "case/osd.0")
    of_archive, of_folder = view_at(archive).osds[0], view_at(fixtures / "osd-mclock").osds[0]
    assert of_archive.allocation == of_folder.allocation
    assert len(of_archive.material.lines) == len(of_folder.material.lines)
    assert len(of_archive.material.perf_dumps) == 2


def test_a_containers_log(fixtures: Path, view_at: ViewAt) -> None:
    osd = view_at(fixtures / "osd-container").osds[0]
    assert len(osd.material.lines_of(LineKind.SCHEDULER)) >= 5


def test_syslog_lines(fixtures: Path, tmp_path: Path, view_at: ViewAt) -> None:
    log = gzip.decompress((fixtures / "osd-mclock" / "ceph-osd.0.log.gz").read_bytes())
    lines = [b"Nov 21 01:01:00 lab ceph-osd[15679]: " + line for line in log.splitlines(keepends=True)]
    (tmp_path / "messages").write_bytes(b"".join(lines))
    (osd,) = view_at(tmp_path).osds
    assert osd.in_force.is_mclock
    assert osd.material.last_line(LineKind.BENCH_REFUSED) is not None


def test_several_osds_in_one_folder(fixtures: Path, tmp_path: Path, view_at: ViewAt) -> None:
    shown = json.loads((fixtures / "osd-mclock" / "config_show.json").read_text())
    for number, profile in enumerate(("balanced", "high_client_ops", "custom")):
        said = shown | {"name": f"osd.{number}", "osd_mclock_profile": profile}
        (tmp_path / f"config_show.{number}.json").write_text(json.dumps(said))
    shutil.copy(fixtures / "osd-mclock" / "perf_dump.end.json", tmp_path / "perf_dump.osd.1.json")
    osds = view_at(tmp_path).osds
    assert [(osd.name, osd.in_force.profile.value) for osd in osds if osd.in_force.profile] == [
        ("osd.0", "balanced"),
        ("osd.1", "high_client_ops"),
        ("osd.2", "custom"),
    ]
    assert [len(osd.material.perf_dumps) for osd in osds] == [0, 1, 0]


def test_metadata_of_all_osds_belongs_to_each(fixtures: Path, tmp_path: Path, view_at: ViewAt) -> None:
    shutil.copy(fixtures / "osd-mclock" / "config_show.json", tmp_path)
    rows = [
        {"id": number, "osd_data": "/x", "ceph_version": "18.2.7", "rotational": "0", "devices": f"nvme{number}n1"}
        for number in range(3)
    ]
    (tmp_path / "osd_metadata.json").write_text(json.dumps(rows))
    view = view_at(tmp_path)
    (osd,) = view.osds
    assert (osd.name, osd.in_force.kind, view.osd_count) == ("osd.0", "ssd", 3)


def test_a_cluster_log_alone_names_its_osds(tmp_path: Path, view_at: ViewAt) -> None:
    lines = [
        f"2024-01-31T23:58:2{osd}.017893+0300 osd.{osd} (osd.{osd}) 3 : cluster [WRN] OSD bench result of"
        f" {osd}801.732253 IOPS exceeded the threshold limit of 500.000000 IOPS for osd.{osd}. IOPS capacity is"
        " unchanged at 315.000000 IOPS.\n"
        for osd in (1, 2, 11)
    ]
    (tmp_path / "ceph.log").write_text("".join(lines))
    assert [osd.name for osd in view_at(tmp_path).osds] == ["osd.1", "osd.2", "osd.11"]


def test_nothing_of_an_osd(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(InputError, match="nothing in it is of an OSD"):
        read_material([str(tmp_path)])
    with pytest.raises(InputError, match="no such file"):
        read_material([str(tmp_path / "none")])


@pytest.mark.parametrize("damage", ["{", '{"osd_op_queue": ', "[1, 2", "\x00\x01", '{"osd_op_queue": 7}'])
def test_damaged_documents_cost_only_themselves(fixtures: Path, tmp_path: Path, view_at: ViewAt, damage: str) -> None:
    shutil.copy(fixtures / "osd-mclock" / "config_show.json", tmp_path)
    (tmp_path / "config_show.damaged.json").write_text(damage)
    assert view_at(tmp_path).osds[0].in_force.is_mclock


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch, fixtures: Path) -> None:
    shown = (fixtures / "osd-mclock" / "config_show.json").read_bytes()
    log = gzip.decompress((fixtures / "osd-mclock" / "ceph-osd.0.log.gz").read_bytes())
    for text in (shown, log):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        (osd,) = read_material(["-"]).osds
        if text is shown:
            assert osd.config_show["osd_op_queue"] == "mclock_scheduler"
        else:
            assert osd.last_line(LineKind.BENCH_REFUSED) is not None
            assert osd.run is not None


def test_a_log_is_read_once(fixtures: Path) -> None:
    log = fixtures / "osd-mclock" / "ceph-osd.0.log.gz"
    told: Counter[str] = Counter()
    (osd,) = read_material([str(log.parent)], lambda member, count: told.update({member: count})).osds
    assert osd.lines
    assert osd.run is not None
    assert 0.9 * log.stat().st_size < told[str(log)] <= log.stat().st_size


def test_lines_are_found_in_every_block(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fixtures: Path) -> None:
    """The same lines with the same numbers, however a log is cut into blocks."""
    log = gzip.decompress((fixtures / "osd-mclock" / "ceph-osd.0.log.gz").read_bytes())
    (tmp_path / "ceph-osd.0.log").write_bytes(log)
    (whole,) = read_material([str(tmp_path)]).osds
    monkeypatch.setattr(blocks, "WINDOW_BYTES", 1 << 16)
    monkeypatch.setattr(blocks, "HISTORY_BYTES", 1 << 12)
    (cut,) = read_material([str(tmp_path)]).osds
    assert [(line.kind, line.number) for line in cut.lines] == [(line.kind, line.number) for line in whole.lines]
    numbered = log.splitlines()
    assert all(line.number and line.text.encode() in numbered[line.number - 1] for line in whole.lines)


@pytest.mark.parametrize(
    "line",
    [
        "2021-02-26 16:58:14.418809 mon.a mon.0 10.1.1.9:6789/0 2658853 : cluster [DBG] osdmap e1034: 10 up, 10 in",
        "2024-01-31T23:58:22.017893+0300 osd.1 (osd.1) 3 : cluster [WRN] OSD bench result of 1.0 IOPS",
        "2017-06-03 01:54:21.596632 mon.0 [INF] osdmap e90: 4 osds: 4 up, 3 in",
    ],
)
def test_a_cluster_log_is_no_daemons_log(line: str) -> None:
    assert recognise_text(f"{line}\n".encode(), "ceph.log") is Role.CLUSTER_LOG


def test_an_osds_log_with_cluster_messages_stays_one(fixtures: Path) -> None:
    with gzip.open(fixtures / "osd-mclock" / "ceph-osd.0.log.gz") as file:
        assert recognise_text(file.read(64 << 10), "ceph-osd.0.log") is Role.OSD_LOG
