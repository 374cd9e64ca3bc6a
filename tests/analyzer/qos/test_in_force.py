"""What is in force: on real OSDs under mClock and WPQ, and with one thing or another missing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.qos.cost_model import CostUnit
from lsmlens.analyzer.qos.service_classes import ServiceClass
from lsmlens.analyzer.qos.view import QosView

Build = Callable[..., QosView]
ViewAt = Callable[[Path], QosView]
# The nine options of an SSD with 8 shards under balanced, as the study's release printed them.
UNITS = {
    "osd_op_queue": "mclock_scheduler",
    "osd_mclock_profile": "balanced",
    "osd_mclock_max_capacity_iops_hdd": "0.000000",
    "osd_mclock_scheduler_client_res": "1075",
    "osd_mclock_scheduler_client_wgt": "1",
    "osd_mclock_scheduler_client_lim": "2688",
    "osd_mclock_scheduler_background_recovery_res": "1075",
    "osd_mclock_scheduler_background_recovery_wgt": "1",
    "osd_mclock_scheduler_background_recovery_lim": "4031",
    "osd_mclock_scheduler_background_best_effort_res": "538",
    "osd_mclock_scheduler_background_best_effort_wgt": "1",
    "osd_mclock_scheduler_background_best_effort_lim": "999999",
}


def test_a_real_osd_under_mclock(fixtures: Path, view_at: ViewAt) -> None:
    (osd,) = view_at(fixtures / "osd-mclock").osds
    one = osd.in_force
    assert one.is_mclock
    assert one.scheduler is not None
    assert one.scheduler.source.endswith("ceph-osd.0.log.gz:50")
    assert one.profile is not None
    assert (one.profile.value, one.profile.origin) == ("balanced", "default")
    assert one.capacity is not None
    assert (one.capacity.real, one.kind, one.shard_count, one.thread_count) == (315.0, "hdd", 1, 5)
    assert one.shares is not None
    assert one.shares.table is not None
    assert (one.shares.table.name, one.shares.is_assumed) == ("2023", False)


def test_the_same_osd_by_its_log_alone(fixtures: Path, view_at: ViewAt) -> None:
    (osd,) = view_at(fixtures / "osd-reef").osds
    one = osd.in_force
    assert one.is_mclock
    assert one.capacity is not None
    assert (one.capacity.real, one.capacity.origin) == (315.0, "benchmark refused")
    assert one.capacity.source.endswith("ceph-osd.0.log.gz:11026")
    assert one.bandwidth is not None
    assert (one.kind, one.shard_count, one.bandwidth.real) == ("hdd", 1, 157_286_400.0)
    assert one.costs is not None
    assert one.costs.per_io == pytest.approx(499321.90, abs=0.01)  # as the log's line has it
    assert one.shares is not None
    assert one.shares.is_assumed


@pytest.mark.parametrize("bundle", ["osd-stock", "osd-container", "osd-rotated", "osd-crash", "osd-spillover"])
def test_real_osds_under_wpq(bundle: str, fixtures: Path, view_at: ViewAt) -> None:
    (osd,) = view_at(fixtures / bundle).osds
    assert osd.in_force.release is not None
    assert osd.in_force.release[0] == 16
    assert osd.in_force.is_wpq
    assert osd.allocation == ()
    assert osd.in_force.costs is None


def test_units_of_an_older_release_are_shares_of_a_queue(build: Build) -> None:
    view = build(
        UNITS | {"osd_op_num_shards_ssd": "8"}, {"rotational": "0", "bluestore_bdev_rotational": "0"}, "16.2.15"
    )
    one = view.osds[0].in_force
    assert one.costs is not None
    assert (one.kind, one.costs.unit, one.capacity_units_per_shard) == ("ssd", CostUnit.OPERATIONS, 2687.5)
    assert one.shares is not None
    assert one.shares.table is not None
    assert one.shares.table.name == "2021"
    recovery = one.shares.classes[ServiceClass.RECOVERY]
    assert recovery.reservation == pytest.approx(0.4, abs=1e-3)
    assert recovery.limit == pytest.approx(1.5, abs=1e-3)
    assert one.shares.classes[ServiceClass.BEST_EFFORT].limit == 0


@pytest.mark.parametrize(
    ("weight", "limit", "name"), [("2", "999999", "2021b"), ("1", "1344", "2022"), ("3", "999999", None)]
)
def test_which_older_profiles_these_are_is_read_not_assumed(
    build: Build, weight: str, limit: str, name: str | None
) -> None:
    changed = {
        "osd_mclock_scheduler_background_best_effort_wgt": weight,
        "osd_mclock_scheduler_background_best_effort_lim": limit,
        "osd_op_num_shards_ssd": "8",
    }
    view = build(UNITS | changed, {"rotational": "0", "bluestore_bdev_rotational": "0"}, "17.2.5")
    shares = view.osds[0].in_force.shares
    assert shares is not None
    assert (shares.table.name if shares.table is not None else None) == name


def test_no_profile_is_assumed_before_17_2_7(tmp_path: Path, view_at: ViewAt) -> None:
    metadata = {"id": 3, "osd_data": "/x", "ceph_version": "ceph version 17.2.5 (…) quincy (stable)", "rotational": "1"}
    (tmp_path / "osd_metadata.json").write_text(json.dumps(metadata))
    (osd,) = view_at(tmp_path).osds
    assert (osd.name, osd.in_force.is_mclock, osd.in_force.shares, osd.allocation) == ("osd.3", True, None, ())


def test_the_kind_by_the_other_ones_zero(build: Build) -> None:
    files = {"config_show.json": json.dumps(UNITS | {"name": "osd.3", "osd_memory_target": "1"})}
    view = build(release="16.2.15", metadata={"rotational": "", "bluestore_bdev_rotational": ""}, files=files)
    assert [osd.in_force.kind for osd in view.osds] == ["ssd" if osd.name == "osd.3" else None for osd in view.osds]


def test_a_queue_dump_says_the_scheduler(tmp_path: Path, view_at: ViewAt) -> None:
    dump = {f"OSD:ShardedOpWQ:{shard}": {"queue_sizes": {"immediate": 0, "scheduler": 0}} for shard in range(8)}
    (tmp_path / "dump_op_pq_state.osd.4.json").write_text(json.dumps(dump))
    (osd,) = view_at(tmp_path).osds
    assert (osd.name, osd.in_force.is_mclock, osd.in_force.shard_count) == ("osd.4", True, 8)
