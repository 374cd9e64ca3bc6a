"""Q13, Q14, Q24: loads past the scheduler, on real counters and a real log with what is needed put beside them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.findings import Finding, Severity
from lsmlens.analyzer.qos.observed_recovery import ObservedRecovery
from lsmlens.analyzer.qos.rules import ClusterRule, OsdRule
from lsmlens.analyzer.qos.starvation_rules import BestEffortStarved, CompactionPaidByClients, SubReadsPastQueue
from lsmlens.analyzer.qos.view import QosView, compaction_load

Build = Callable[..., QosView]
Found = Callable[[OsdRule | ClusterRule, QosView], list[Finding]]
Lacking = Callable[[OsdRule | ClusterRule, QosView], list[str]]
ViewAt = Callable[[Path], QosView]
SLOW = (
    "2024-01-31T23:58:22.017+0000 mon.a (mon.0) 7 : cluster [WRN] Health check update: 12 slow ops, oldest one blocked"
    " for 34 sec, osd.0 has slow ops (SLOW_OPS)\n"
)
POOLS = {"osds": [{}, {}], "pools": [{"pool": 2, "type": 3, "size": 6}]}


def groups(pool: int) -> dict[str, Any]:
    row = {"pgid": f"{pool}.3", "state": "active+remapped+backfilling", "up": [1, 9], "acting": [1, 8]}
    return {"pg_stats": [row | {"acting_primary": 1, "stat_sum": {"num_objects": 5, "num_bytes": 5 << 22}}]}


def queue(immediate: int, scheduled: int) -> dict[str, Any]:
    sizes = {"high_priority_queue": immediate, "scheduler": scheduled}
    return {"OSD:ShardedOpWQ:0": {"queue_sizes": sizes}}


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"pg_dump.json": groups(2), "ceph.log": SLOW}, Severity.WARNING),
        ({"pg_dump.json": groups(2), "dump_op_pq_state.json": queue(40, 3)}, Severity.WARNING),
        ({"pg_dump.json": groups(2), "dump_op_pq_state.json": queue(40, 3), "ceph.log": SLOW}, Severity.CRITICAL),
        ({"pg_dump.json": groups(2), "dump_op_pq_state.json": queue(40, 30)}, None),
        ({"pg_dump.json": groups(3), "ceph.log": SLOW}, None),
    ],
)
def test_q13(build: Build, found: Found, files: dict[str, object], severity: Severity | None) -> None:
    findings = found(SubReadsPastQueue(), build(files={**files, "osd_dump.json": POOLS}))
    assert [finding.severity for finding in findings] == ([] if severity is None else [severity])


def test_q13_needs_pools_and_groups(build: Build, lacking: Lacking) -> None:
    assert lacking(SubReadsPastQueue(), build())


def lengths(best_effort: int, immediate: int, operations: int) -> dict[str, Any]:
    counters = {"mclock_best_effort_queue_len": best_effort, "mclock_immediate_queue_len": immediate}
    return {"mclock-shard-queue-0": counters, "osd": {"op_w": operations}}


@pytest.mark.parametrize(
    ("first", "second", "is_found"), [((4, 9), (6, 20), True), ((0, 9), (6, 20), False), ((4, 9), (6, 0), False)]
)
def test_q14(build: Build, found: Found, first: tuple[int, int], second: tuple[int, int], is_found: bool) -> None:
    perf = {"perf_dump.1.json": lengths(*first, 900_000), "perf_dump.2.json": lengths(*second, 900_001)}
    findings = found(BestEffortStarved(), build(perf=perf))
    assert bool(findings) is is_found
    if findings:
        assert findings[0].value == "6 of best effort behind 20 immediate, in 2 of 2 dumps"


def test_q14_needs_two_dumps(build: Build, lacking: Lacking) -> None:
    assert lacking(BestEffortStarved(), build(perf={"perf_dump.json": lengths(4, 9, 1)}))


def test_q14_nothing_on_the_real_osd(fixtures: Path, view_at: ViewAt, found: Found, lacking: Lacking) -> None:
    view = view_at(fixtures / "osd-mclock")
    assert not found(BestEffortStarved(), view)
    assert not lacking(BestEffortStarved(), view)


@pytest.fixture(scope="module")
def reef(fixtures: Path, view_at: ViewAt) -> QosView:
    """A real log with compactions: 12 % of its time, at 359.9 MiB/s. That something recovered is put beside it."""
    return replace(view_at(fixtures / "osd-reef"), observed=ObservedRecovery("ceph.log", 9, 20.0, 100.0))


def test_the_load_of_a_real_log(reef: QosView) -> None:
    load = reef.osds[0].compaction
    assert load is not None
    assert load.active_share == pytest.approx(0.1218, abs=1e-4)
    assert load.bytes_per_second == pytest.approx(377.4e6, rel=1e-3)


def busier(view: QosView, share: float) -> QosView:
    osd = view.osds[0]
    assert osd.compaction is not None
    return replace(view, osds=(replace(osd, compaction=replace(osd.compaction, active_share=share)),))


@pytest.mark.parametrize(("share", "is_found"), [(0.12, False), (0.21, True)])
def test_q24(reef: QosView, found: Found, share: float, is_found: bool) -> None:
    findings = found(CompactionPaidByClients(), busier(reef, share))
    assert bool(findings) is is_found
    if findings:
        assert findings[0].value == "21 % of the time at 359.9 MiB/s, 240 % of the device"


def test_q24_nothing_without_recovery(fixtures: Path, view_at: ViewAt, found: Found, lacking: Lacking) -> None:
    assert not found(CompactionPaidByClients(), view_at(fixtures / "osd-stock"))
    assert lacking(CompactionPaidByClients(), view_at(fixtures / "osd-reef"))  # whether there was any is not known


def test_a_log_without_compactions_has_no_load(fixtures: Path, view_at: ViewAt) -> None:
    (osd,) = view_at(fixtures / "osd-mclock").osds
    assert osd.material.run is not None
    assert compaction_load(osd.material.run.run) is None
