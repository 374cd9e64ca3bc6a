"""Observed recovery: the cluster log's lines of several releases, and a status as text and JSON."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.qos.observed_recovery import observed_recovery
from lsmlens.analyzer.qos.view import QosView

ViewAt = Callable[[Path], QosView]
# Two real lines, each with its second figure replaced, so that there is a mean.
NEW = (
    "2021-02-26 16:58:0{}.359967 mgr.a client.4097 10.1.1.9:0/854553116 16170 : cluster [DBG] pgmap v670{}: 7168 pgs:"
    " 7168 active+clean; 87.2GiB data, 180GiB used, 36.0TiB / 36.2TiB avail; 12.3KiB/s rd, 505B/s wr, {}op/s{}\n"
)
OLD = (
    "2020-09-08 19:37:5{}.132802 mon.0 [INF] pgmap v5819848: 632 pgs: 3 active+recovering+degraded, 560 active+clean;"
    " 206 GB data, 71931 MB used, 196 GB / 266 GB avail; 4379 B/s rd, 0 B/s wr, 7 op/s; 2564/11720 objects degraded"
    " (21.877%); 18034 kB/s, 9 objects/s recovering\n"
)
STATUS = """  cluster:
    id:     6b06a8d3-be34-43df-bf2b-4ea5f1150a65
    health: HEALTH_WARN

  services:
    osd: 12 osds: 12 up (since 2m), 12 in (since 2m)

  io:
    client:   2.1 KiB/s rd, 43 MiB/s wr, 2 op/s rd, 11.02k op/s wr
    recovery: 480 MiB/s, 120 objects/s
"""


def bundle(tmp_path: Path, **files: str) -> Path:
    (tmp_path / "osd_metadata.json").write_text('{"id": 0, "osd_data": "/x", "ceph_version": "18.2.7"}')
    for name, text in files.items():
        (tmp_path / name.replace("_", ".")).write_text(text)
    return tmp_path


def test_a_cluster_log(tmp_path: Path, view_at: ViewAt) -> None:
    lines = [NEW.format(second, second, 21_000, "") for second in range(2)]
    lines += [NEW.format(second, second, f"1{second}.0k ", f"; 480 MiB/s, 12{second} objects/s recovering")
              for second in range(4, 8)]  # fmt: skip
    view = view_at(bundle(tmp_path, ceph_log="".join(lines)))
    observed = view.observed
    assert observed is not None
    assert (observed.points, observed.objects_per_second) == (4, 125.5)
    assert observed.client_iops == pytest.approx(15_500)
    assert observed.base_iops == 21_000
    assert view.has_recovery


def test_an_old_clusters_log(tmp_path: Path, view_at: ViewAt) -> None:
    observed = view_at(bundle(tmp_path, ceph_log="".join(OLD.format(second) for second in range(3)))).observed
    assert observed is not None
    assert (observed.objects_per_second, observed.client_iops) == (9, 7)


def test_two_points_are_too_few(tmp_path: Path, view_at: ViewAt) -> None:
    assert view_at(bundle(tmp_path, ceph_log=OLD.format(1) * 2)).observed is None


def test_a_status_as_text(tmp_path: Path, view_at: ViewAt) -> None:
    view = view_at(bundle(tmp_path, status_txt=STATUS))
    observed = view.observed
    assert observed is not None
    assert (observed.objects_per_second, observed.client_iops, view.osd_count) == (120, 11_022, 12)


def test_a_status_as_json(tmp_path: Path, view_at: ViewAt) -> None:
    status = (
        '{"osdmap": {"num_osds": 4}, "pgmap": {"recovering_objects_per_sec": 80, "write_op_per_sec": 11209,'
        ' "read_op_per_sec": 0}}'
    )
    observed = view_at(bundle(tmp_path, status_json=status)).observed
    assert observed is not None
    assert (observed.points, observed.objects_per_second, observed.client_iops) == (1, 80, 11209)


def test_nothing_recovered(fixtures: Path, view_at: ViewAt) -> None:
    view = view_at(fixtures / "osd-mclock")
    assert view.observed is None
    assert not view.has_recovery
    assert view.recovery_is_known  # the counters say so


def test_lines_of_no_kind() -> None:
    assert observed_recovery([], [("s", 3), ("t", "nothing"), ("u", {"pgmap": 7})]) is None
