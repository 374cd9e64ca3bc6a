"""Q02, Q03, Q05, Q06: on the real OSD whose benchmark was refused, and with one value replaced."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.findings import Confidence, Finding, Severity
from lsmlens.analyzer.qos.capacity_rules import (
    CapacityAboveMeasured,
    CapacityImplausible,
    CapacityIsDefault,
    WeakHdd,
)
from lsmlens.analyzer.qos.rules import ClusterRule, OsdRule
from lsmlens.analyzer.qos.view import QosView

Build = Callable[..., QosView]
Found = Callable[[OsdRule | ClusterRule, QosView], list[Finding]]
Lacking = Callable[[OsdRule | ClusterRule, QosView], list[str]]
HDD = "osd_mclock_max_capacity_iops_hdd"
SSD = {"rotational": "0", "bluestore_bdev_rotational": "0", "bluestore_bdev_devices": "sda"}
SLOW = (
    "2024-01-31T23:58:22.017+0000 mon.a (mon.0) 7 : cluster [WRN] Health check update: 12 slow ops, oldest one blocked"
    " for 34 sec, osd.0 has slow ops (SLOW_OPS)\n"
)


def test_q02_a_refused_benchmark(fixtures: Path, view_at: Callable[[Path], QosView], found: Found) -> None:
    for bundle, line in (("osd-mclock", 3427), ("osd-reef", 11026)):
        (finding,) = found(CapacityIsDefault(), view_at(fixtures / bundle))
        assert (finding.severity, finding.confidence) == (Severity.WARNING, Confidence.HIGH)
        assert finding.value == "315 IOPS, measured 43\u202f511"
        assert "a device that did 43\u202f511 writes a second is scheduled as one of 315" in finding.meaning
        refused = finding.evidence[1]
        assert refused.line == line
        assert "is not within the threshold limit range of 50.000000 IOPS and 500.000000 IOPS" in refused.text
        assert f"ceph config set osd.0 {HDD} 43511" in finding.commands
        assert finding.risk.endswith(f"ceph config rm osd.0 {HDD}")


def test_q02_without_a_log(build: Build, found: Found) -> None:
    (finding,) = found(CapacityIsDefault(), build())
    assert (finding.severity, finding.value) == (Severity.INFO, "315 IOPS")


def test_q02_a_skipped_benchmark_and_a_measured_capacity(build: Build, found: Found) -> None:
    (finding,) = found(CapacityIsDefault(), build({"osd_mclock_skip_benchmark": "true"}))
    assert "osd_mclock_skip_benchmark is set" in finding.meaning


def test_q02_nothing_for_a_capacity_of_its_own(build: Build, found: Found) -> None:
    assert not found(CapacityIsDefault(), build({HDD: "287.300000"}))


def test_q02_nothing_under_wpq(build: Build, found: Found) -> None:
    assert not found(CapacityIsDefault(), build({"osd_op_queue": "wpq"}))


@pytest.mark.parametrize(
    ("capacity", "metadata", "is_found"),
    [
        ("43511", {}, True),
        ("49.9", {}, True),
        ("500", {}, False),
        ("50", {}, False),
        ("81000", SSD, True),
        ("999", SSD, True),
        ("21500", SSD, False),
    ],
)
def test_q03(build: Build, found: Found, capacity: str, metadata: dict[str, str], is_found: bool) -> None:
    name = HDD if not metadata else HDD.replace("hdd", "ssd")
    assert bool(found(CapacityImplausible(), build({name: capacity}, metadata))) is is_found


def test_q05_needs_something_slow(build: Build, found: Found) -> None:
    (finding,) = found(WeakHdd(), build({HDD: "75"}, files={"ceph.log": SLOW}))
    assert finding.value == "75 IOPS"
    assert "moved 2 MiB" in finding.meaning  # 150 MiB/s / 75


def test_q05_nothing_without_slow_operations(build: Build, found: Found) -> None:
    assert not found(WeakHdd(), build({HDD: "75"}))


def test_q05_nothing_for_a_stronger_device(build: Build, found: Found) -> None:
    assert not found(WeakHdd(), build({HDD: "151"}, files={"ceph.log": SLOW}))


VERSIONS = {"mon": {}, "osd": {"ceph version 18.2.7 (…) reef (stable)": 4}, "overall": {}}
FIO = {
    "fio version": "fio-3.39",
    "global options": {"bs": "4k", "iodepth": "64"},
    "jobs": [{"jobname": "randw", "write": {"total_ios": 6e6, "iops": 20_000.0, "clat_ns": {"mean": 3.2e6}}}],
}


@pytest.mark.parametrize(("capacity", "is_found"), [("40000", True), ("21500", False)])
def test_q06_against_each_osds_share_of_the_clients_writes(
    build: Build, found: Found, capacity: str, is_found: bool
) -> None:
    # 20,000 writes of three copies on four OSDs are 15,000 on each.
    files = {"ceph_versions.json": VERSIONS, "fio.json": FIO}
    findings = found(CapacityAboveMeasured(), build({HDD.replace("hdd", "ssd"): capacity}, SSD, files=files))
    assert bool(findings) is is_found
    if findings:
        assert findings[0].value == "40000 IOPS, 2.7 times what clients got of each OSD"
        assert findings[0].commands[0].endswith(" 15000")


def test_q06_needs_a_result(build: Build, lacking: Lacking) -> None:
    assert lacking(CapacityAboveMeasured(), build())
