"""Q09, Q12, Q15, Q16: dumps of placement groups as a cluster would have, beside the real OSD."""

from collections.abc import Callable
from typing import Any

import pytest
from lsmlens.analyzer.findings import Finding, Severity
from lsmlens.analyzer.qos.recovery_rules import OneQueueLast, OnlyMisplaced, ProfileWithoutEffect, StaticCharge
from lsmlens.analyzer.qos.rules import ClusterRule, OsdRule
from lsmlens.analyzer.qos.view import QosView

Build = Callable[..., QosView]
Found = Callable[[OsdRule | ClusterRule, QosView], list[Finding]]
Lacking = Callable[[OsdRule | ClusterRule, QosView], list[str]]
FIVE_SHARDS = {"osd_op_num_shards_hdd": "5"}


def dump(*groups: tuple[str, int], state: str = "active+remapped+backfilling", degraded: int = 0) -> dict[str, Any]:
    """Groups by their number and primary, that get a copy on osd.9."""
    return {
        "pg_dump.json": {
            "pg_map": {
                "pg_stats": [
                    {
                        "pgid": f"2.{seed}",
                        "state": state,
                        "up": [primary, 9],
                        "acting": [primary, 8],
                        "acting_primary": primary,
                        "stat_sum": {
                            "num_objects": 100,
                            "num_bytes": 100 << 22,
                            "num_objects_misplaced": 0 if degraded else 100,
                            "num_objects_degraded": degraded,
                        },
                    }
                    for seed, primary in groups
                ]
            }
        }
    }


UNEVEN = [("0", 1), ("5", 1), ("a", 1), ("f", 1), ("14", 1), ("1", 1), ("2", 1), ("3", 1), ("4", 2)]


def test_q09(build: Build, found: Found) -> None:
    (finding,) = found(OneQueueLast(), build(FIVE_SHARDS, files=dump(*UNEVEN)))
    assert finding.value == "5 groups in the fullest queue, 1.8 on average"
    assert "osd.1 shard 0 of 5: 5 groups, 500 objects to recover" in finding.evidence[0].text


def test_q09_nothing_with_one_shard(build: Build, found: Found) -> None:
    assert not found(OneQueueLast(), build(files=dump(*UNEVEN)))


def test_q09_needs_a_dump(build: Build, lacking: Lacking) -> None:
    assert lacking(OneQueueLast(), build())


UNITS = {
    f"osd_mclock_scheduler_{name}_{part}": str(number)
    for name, numbers in {
        "client": (158, 2, 999999),
        "background_recovery": (79, 1, 315),
        "background_best_effort": (79, 1, 999999),
    }.items()
    for part, number in zip(("res", "wgt", "lim"), numbers, strict=True)
} | {"osd_mclock_profile": "high_client_ops"}


@pytest.mark.parametrize(("is_recovering", "severity"), [(False, Severity.INFO), (True, Severity.WARNING)])
def test_q12(build: Build, found: Found, is_recovering: bool, severity: Severity) -> None:
    files = dump(("0", 1)) if is_recovering else {}
    (finding,) = found(StaticCharge(), build(UNITS, release="17.2.5", files=files))
    assert finding.severity is severity
    assert finding.value == "109 + 44 units an object"
    assert "at most 2.1 objects/s from this OSD" in finding.meaning


def test_q12_nothing_from_17_2_7_on(build: Build, found: Found) -> None:
    assert not found(StaticCharge(), build(release="17.2.7", files=dump(("0", 1))))


def queues(recovery: int, best_effort: int = 0) -> dict[str, Any]:
    lengths = {"mclock_recovery_queue_len": recovery, "mclock_best_effort_queue_len": best_effort}
    return {"perf_dump.json": {"mclock-shard-queue-0": lengths}}


@pytest.mark.parametrize(
    ("profile", "waiting", "is_found"),
    [("high_recovery_ops", 0, True), ("high_recovery_ops", 7, False), ("balanced", 0, False)],
)
def test_q15(build: Build, found: Found, profile: str, waiting: int, is_found: bool) -> None:
    view = build({"osd_mclock_profile": profile}, files=dump(("0", 1)), perf=queues(waiting))
    assert bool(found(ProfileWithoutEffect(), view)) is is_found


def test_q15_nothing_without_recovery(build: Build, found: Found) -> None:
    assert not found(ProfileWithoutEffect(), build({"osd_mclock_profile": "high_client_ops"}, perf=queues(0)))


def test_q15_needs_queue_lengths(build: Build, lacking: Lacking) -> None:
    assert lacking(ProfileWithoutEffect(), build({"osd_mclock_profile": "high_client_ops"}, files=dump(("0", 1))))


def test_q16(build: Build, found: Found) -> None:
    (finding,) = found(OnlyMisplaced(), build(files=dump(("0", 1), ("1", 2))))
    assert finding.value == "2 groups only misplaced, balanced"
    assert "at most 90 % of it" in finding.meaning


@pytest.mark.parametrize(
    ("config", "groups"),
    [
        ({}, dump(("0", 1), state="active+undersized+degraded+remapped+backfilling", degraded=100)),
        ({"osd_mclock_scheduler_background_best_effort_lim": "0.000000"}, dump(("0", 1))),
        ({}, dump(("0", 1), state="active+clean")),
    ],
    ids=["degraded", "no limit", "clean"],
)
def test_q16_nothing(build: Build, found: Found, config: dict[str, str], groups: dict[str, Any]) -> None:
    assert not found(OnlyMisplaced(), build(config, files=groups))
