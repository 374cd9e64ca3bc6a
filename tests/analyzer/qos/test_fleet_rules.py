"""Q04, Q21: capacities of several OSDs, from a configuration store as one would be."""

from collections.abc import Callable

import pytest
from lsmlens.analyzer.findings import Finding, Severity
from lsmlens.analyzer.qos.fleet_rules import ClusterFigureAsCapacity, UnevenCapacities
from lsmlens.analyzer.qos.rules import ClusterRule, OsdRule
from lsmlens.analyzer.qos.view import QosView

Build = Callable[..., QosView]
Found = Callable[[OsdRule | ClusterRule, QosView], list[Finding]]
Lacking = Callable[[OsdRule | ClusterRule, QosView], list[str]]
HDD = "osd_mclock_max_capacity_iops_hdd"


def store(*capacities: float) -> list[dict[str, str]]:
    return [
        {"section": f"osd.{number}", "name": HDD, "value": f"{capacity:.6f}", "mask": ""}
        for number, capacity in enumerate(capacities, 1)
    ]


@pytest.mark.parametrize(
    ("capacities", "severity"),
    [((315, 600), None), ((200, 310, 600), Severity.WARNING), ((100, 310, 600), Severity.CRITICAL)],
)
def test_q04(build: Build, found: Found, capacities: tuple[float, ...], severity: Severity | None) -> None:
    view = build({HDD: "310"}, files={"config_dump.json": store(*capacities)})
    findings = found(UnevenCapacities(), view)
    assert [finding.severity for finding in findings] == ([] if severity is None else [severity])


def test_q04_says_which_and_sets_the_median(build: Build, found: Found) -> None:
    (finding,) = found(UnevenCapacities(), build({HDD: "310"}, files={"config_dump.json": store(100, 310, 320)}))
    assert finding.value == "100 to 320 IOPS, 3.2 times"
    assert finding.commands == (f"ceph config set osd.1 {HDD} 310",)


def test_q04_needs_several(build: Build, lacking: Lacking) -> None:
    assert lacking(UnevenCapacities(), build())


FIO = {
    "fio version": "fio-3.39",
    "global options": {"bs": "4k", "iodepth": "64"},
    "jobs": [{"jobname": "randw", "write": {"total_ios": 6e6, "iops": 21_700.0, "clat_ns": {"mean": 2.9e6}}}],
}
SSD = {"rotational": "0", "bluestore_bdev_rotational": "0"}


@pytest.mark.parametrize(
    ("osds", "capacity", "is_found"), [(4, "21500", True), (3, "21500", False), (4, "9000", False)]
)
def test_q21_the_studys_own_mistake(build: Build, found: Found, osds: int, capacity: str, is_found: bool) -> None:
    versions = {"mon": {}, "osd": {"ceph version 18.2.7 (…) reef (stable)": osds}, "overall": {}}
    files = {"fio.json": FIO, "ceph_versions.json": versions}
    findings = found(ClusterFigureAsCapacity(), build({HDD.replace("hdd", "ssd"): capacity}, SSD, files=files))
    assert bool(findings) is is_found
    if findings:
        assert "16\u202f275 each" in findings[0].meaning  # 21,700 * 3 / 4


def test_q21_needs_a_result(build: Build, lacking: Lacking) -> None:
    assert lacking(ClusterFigureAsCapacity(), build())
