"""The allocation against the published arithmetic of current releases, and in each queue of older ones."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.qos.allocation import ClassAllocation, allocation_of, of_class
from lsmlens.analyzer.qos.profiles import profile_tables
from lsmlens.analyzer.qos.service_classes import ServiceClass
from lsmlens.analyzer.qos.view import QosView

Build = Callable[..., QosView]
CLIENT, RECOVERY, BEST_EFFORT = ServiceClass.CLIENT, ServiceClass.RECOVERY, ServiceClass.BEST_EFFORT
MIB = 1 << 20


def one_of(classes: tuple[ClassAllocation, ...], service_class: ServiceClass) -> ClassAllocation:
    found = of_class(classes, service_class)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("rotational", "profile", "iops", "mib", "recovered", "reserved", "limited"),
    [
        ("1", "balanced", 157.5, 75, 18.75, 1.875, 33.75),
        ("1", "high_client_ops", 189, 90, 15, 1.875, 26.25),
        ("1", "high_recovery_ops", 94.5, 45, 26.25, 1.875, None),
        ("0", "balanced", 10750, 600, 150, 15, 270),
        ("0", "high_client_ops", 12900, 720, 120, 15, 210),
        ("0", "high_recovery_ops", 6450, 360, 210, 15, None),
    ],
)
def test_current_releases(
    build: Build,
    rotational: str,
    profile: str,
    iops: float,
    mib: float,
    recovered: float,
    reserved: float,
    limited: float | None,
) -> None:
    osd = build({}, {"rotational": rotational, "bluestore_bdev_rotational": rotational}).osds[0]
    newest = profile_tables()[-1].profiles[profile]  # that of 20.2.4, with 5 % for best effort
    assert osd.in_force.shares is not None
    in_force = replace(osd.in_force, shares=replace(osd.in_force.shares, classes=newest))
    classes = allocation_of(in_force, osd.charges)
    client, recovery, best_effort = (one_of(classes, one) for one in (CLIENT, RECOVERY, BEST_EFFORT))
    assert client.reservation is not None
    assert client.reservation.iops == pytest.approx(iops, rel=1e-4)
    assert client.reservation.bytes_per_second == mib * MIB
    assert client.limit is None
    assert recovery.reservation is not None
    assert recovery.reservation.objects_per_second == recovered
    assert best_effort.reservation is not None
    assert best_effort.reservation.objects_per_second == pytest.approx(reserved)
    assert (best_effort.limit is None) == (limited is None)
    if best_effort.limit is not None:
        assert best_effort.limit.objects_per_second == limited


def test_a_real_osd(fixtures: Path, view_at: Callable[[Path], QosView]) -> None:
    (osd,) = view_at(fixtures / "osd-mclock").osds
    best_effort = one_of(osd.allocation, BEST_EFFORT)
    assert best_effort.reservation is None  # 0 in this release, 5 % in later ones
    assert best_effort.limit is not None
    assert best_effort.limit.iops == pytest.approx(283.5, abs=0.01)
    assert best_effort.limit == best_effort.limit_per_shard  # there is one
    assert osd.charges is not None
    recovery = one_of(osd.allocation, RECOVERY)
    assert recovery.reservation is not None
    # The reply is charged too, as the least operation: 0.48 MiB.
    assert recovery.reservation.recovered_per_second == pytest.approx(78_643_200 / (4 * MIB + 499_321))


def test_each_queue_of_an_older_release(build: Build) -> None:
    shown = {
        "osd_op_queue": "mclock_scheduler",
        "osd_mclock_profile": "high_client_ops",
        "osd_op_num_shards_hdd": "5",
        "osd_mclock_max_capacity_iops_hdd": "340",
    }
    units = {"client": (34, 2, 999999), "background_recovery": (17, 1, 68), "background_best_effort": (17, 1, 999999)}
    for name, numbers in units.items():
        for part, number in zip(("res", "wgt", "lim"), numbers, strict=True):
            shown[f"osd_mclock_scheduler_{name}_{part}"] = str(number)
    osd = build(shown, release="16.2.15").osds[0]
    recovery = one_of(osd.allocation, RECOVERY)
    assert recovery.limit_per_shard is not None
    assert recovery.limit is not None
    assert recovery.limit_per_shard.units_per_second == 68
    assert recovery.limit_per_shard.recovered_per_second == pytest.approx(68 / 153)  # 0.444 objects/s a queue
    assert recovery.limit.recovered_per_second == pytest.approx(340 / 153)  # about two for the whole OSD
