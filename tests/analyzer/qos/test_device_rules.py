"""Q07, Q08, Q19, Q20: on the real OSD, whose virtual disk calls itself rotational, and with values replaced."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.findings import Finding
from lsmlens.analyzer.qos.device_rules import BandwidthIsDefault, ShardsOfHdd, ThrottleBelowQueue, WrongKind
from lsmlens.analyzer.qos.rules import ClusterRule, OsdRule
from lsmlens.analyzer.qos.view import QosView

Build = Callable[..., QosView]
Found = Callable[[OsdRule | ClusterRule, QosView], list[Finding]]
Lacking = Callable[[OsdRule | ClusterRule, QosView], list[str]]
SSD = {"rotational": "0", "bluestore_bdev_rotational": "0"}


def test_q07_by_the_benchmark(fixtures: Path, view_at: Callable[[Path], QosView], found: Found) -> None:
    (finding,) = found(WrongKind(), view_at(fixtures / "osd-mclock"))
    assert finding.value == "hdd, it did 43\u202f511 writes a second"
    assert "cat /sys/block/vda/queue/rotational" in finding.commands


@pytest.mark.parametrize(
    ("metadata", "is_found"),
    [
        ({"bluestore_bdev_devices": "nvme0n1"}, True),
        ({"default_device_class": "ssd"}, True),
        ({}, False),
        (SSD | {"default_device_class": "hdd"}, True),
        (SSD | {"default_device_class": "ssd"}, False),
    ],
)
def test_q07_by_name_and_class(build: Build, found: Found, metadata: dict[str, str], is_found: bool) -> None:
    assert bool(found(WrongKind(), build(metadata=metadata))) is is_found


def test_q08(build: Build, found: Found) -> None:
    view = build({"osd_op_num_shards_hdd": "5", "osd_op_num_threads_per_shard_hdd": "1"})
    (finding,) = found(ShardsOfHdd(), view)
    assert finding.value == "5 shards of 1 threads"
    assert finding.commands[-1].startswith("systemctl restart ceph-osd@0")


def test_q08_nothing_for_one_shard_or_another_scheduler(build: Build, found: Found) -> None:
    assert not found(ShardsOfHdd(), build())


def test_q08_nothing_under_wpq(build: Build, found: Found) -> None:
    assert not found(ShardsOfHdd(), build({"osd_op_num_shards_hdd": "5", "osd_op_queue": "wpq"}))


@pytest.mark.parametrize(
    ("devices", "changed", "is_found"),
    [
        ("nvme0n1", {}, True),
        ("sda", {}, True),
        ("vda", {}, False),
        ("nvme0n1", {"osd_mclock_max_sequential_bandwidth_ssd": "3000000000"}, False),
    ],
)
def test_q19(build: Build, found: Found, devices: str, changed: dict[str, str], is_found: bool) -> None:
    view = build(changed, SSD | {"bluestore_bdev_devices": devices})
    assert bool(found(BandwidthIsDefault(), view)) is is_found


LATENCIES = {
    "op_w": 100,
    "op_w_process_latency": {"avgcount": 100, "sum": 20.0, "avgtime": 0.2},
    "op_before_dequeue_op_lat": {"avgcount": 100, "sum": 1.0, "avgtime": 0.01},
}


def test_q20_when_operations_wait_below_the_queue(build: Build, found: Found) -> None:
    (finding,) = found(ThrottleBelowQueue(), build(perf={"perf_dump.json": {"osd": LATENCIES}}))
    assert finding.value == "200.0 ms below the queue, 10.0 ms in it"


def test_q20_nothing_when_they_wait_in_it(build: Build, found: Found) -> None:
    waiting = LATENCIES | {"op_before_dequeue_op_lat": {"avgcount": 100, "sum": 19.0, "avgtime": 0.19}}
    assert not found(ThrottleBelowQueue(), build(perf={"perf_dump.json": {"osd": waiting}}))


def test_q20_the_studys_throttle_makes_pushes_exclusive(build: Build, found: Found) -> None:
    (finding,) = found(ThrottleBelowQueue(), build({"bluestore_throttle_bytes": "262144"}))
    assert finding.value == "256 KiB"


def test_q20_needs_counters(build: Build, lacking: Lacking) -> None:
    assert lacking(ThrottleBelowQueue(), build())
