"""Q13, Q14, Q24: loads that pass the scheduler by, and who pays for them."""

from collections.abc import Iterator
from typing import ClassVar

from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import counted, percent, size
from lsmlens.analyzer.qos.capacity_rules import evidence_of_line
from lsmlens.analyzer.qos.log_lines import LineKind
from lsmlens.analyzer.qos.remedies import restart, set_option, unset_option
from lsmlens.analyzer.qos.view import OsdView, QosView

# Ours: the strict queue holds so many times what the scheduler's does.
TIMES_SCHEDULED = 3.0
LEAST_IMMEDIATE = 10
# Ours.
ACTIVE_SHARE, DEVICE_SHARE = 0.20, 0.25
# What devices are taken to do where nothing says it: Ceph's defaults for mClock.
DEFAULT_BANDWIDTH = {"hdd": 157_286_400.0, "ssd": 1_258_291_200.0}


class SubReadsPastQueue:
    """Recovery of erasure-coded pools passes mClock by, and operations are slow.

    Evidence: an erasure-coded pool, groups that recover, and slow operations, or strict queues much longer than those
    that mClock orders. Sub-reads of recovery are `immediate`: many OSDs that read from one fill its strict queue.

    Threshold: 3 times as many operations above as in the scheduler, 10 and more (ours); or slow operations (tracker
    71655; PR 68932, 64618).

    Advice: WPQ on all OSDs until a release with PR 64618 (restart, one after the other).

    Risk: WPQ has no reservations: recovery settings and sleeps count again, check them first.

    Check: slow operations cease while recovery goes on.
    """

    code: ClassVar[str] = "Q13"
    title: ClassVar[str] = "EC recovery passes mClock by"

    def check_cluster(self, view: QosView) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        if not view.scheduler.is_mclock:
            return
        pools = view.material.cluster.pools
        if not pools or view.recovering is None:
            yield NotAssessed(self.code, self.title, "ceph osd dump (JSON) and pg dump")
            return
        coded = view.material.cluster.erasure_coded
        affected = [group for group in view.recovering if group.pool in coded]
        if not affected:
            return
        slow = view.lines_of(LineKind.SLOW_OPERATIONS)
        queues = [(osd.name, one) for osd in view.osds for one in osd.queues]
        full = [
            (name, one)
            for name, one in queues
            if one.immediate >= max(LEAST_IMMEDIATE, TIMES_SCHEDULED * one.scheduled)
        ]
        if not slow and not full:
            if not queues:
                yield NotAssessed(self.code, self.title, "dump_op_pq_state, or a cluster log, from the recovery's time")
            return
        first = affected[0]
        evidence = [Evidence(view.material.placement_source, f"{first.name} of an erasure-coded pool: {first.state}")]
        evidence += [
            Evidence(one.source, f"{name}: {one.immediate} operations above the scheduler, {one.scheduled} in it")
            for name, one in full[:2]
        ]
        evidence += [evidence_of_line(line) for line in slow[:2]]
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.CRITICAL if full and slow else Severity.WARNING,
            confidence=Confidence.HIGH if full else Confidence.MEDIUM,
            meaning="sub-reads of recovery go into the strict queue: clients and recovery itself wait behind them",
            value=f"{counted(len(affected), 'group')} of erasure-coded pools recover,"
            f" {counted(len(slow), 'line')} of slow operations",
            threshold=f"slow operations, or {TIMES_SCHEDULED:g} times more above than in the scheduler",
            threshold_source="tracker 71655; PR 68932, 64618",
            evidence=tuple(evidence),
            advice="WPQ until a release with PR 64618; restart OSDs one after the other",
            commands=(set_option("*", "osd_op_queue", "wpq"), restart("N")),
            risk=f"no reservations; recovery settings count again; back: {unset_option('*', 'osd_op_queue')}, restart",
            check="ceph health detail: no slow ops while recovery goes on",
        )


class BestEffortStarved:
    """Best effort waits behind the strict queue: scrubs, snapshot trims and backfill come late.

    Evidence: in dump after dump, operations of best effort and immediate ones wait at once
    (mclock_best_effort_queue_len, mclock_immediate_queue_len); and warnings of scrubs that are late. The strict queue
    is drained first, always.

    Threshold: in two dumps of one life of the OSD that follow each other (ours; tracker 69078, PR 71205).

    Advice: find what fills the strict queue (replica writes, sub-reads of recovery); a release with PR 71205 bounds its
    turn.

    Risk: none to look.

    Check: the two counters, over minutes.
    """

    code: ClassVar[str] = "Q14"
    title: ClassVar[str] = "Best effort starved"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        if not osd.in_force.is_mclock:
            return
        by_class = [one for one in osd.queues if one.best_effort is not None]
        if len(by_class) < 2:
            needs = "two perf dumps with mclock-shard-queue counters (18.2.5, 19.2.1)"
            yield NotAssessed(self.code, self.title, needs)
            return
        starved = [one for one in by_class if (one.best_effort or 0) > 0 and one.immediate > 0]
        if len(starved) < 2:
            return
        late = view.lines_of(LineKind.SCRUBS_LATE)
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING if late else Severity.INFO,
            confidence=Confidence.MEDIUM,
            meaning="scrubs, snapshot trims and backfill wait behind a strict queue that does not run empty",
            value=f"{starved[-1].best_effort} of best effort behind {starved[-1].immediate} immediate,"
            f" in {len(starved)} of {len(by_class)} dumps",
            threshold="2 dumps",
            threshold_source="tracker 69078, PR 71205; lsmlens",
            evidence=(
                *(
                    Evidence(one.source, f"best effort {one.best_effort}, immediate {one.immediate}")
                    for one in starved[-2:]
                ),
                *(evidence_of_line(line) for line in late[:1]),
            ),
            advice="find what fills the strict queue; a release with PR 71205 bounds its turn",
            commands=(f"ceph daemon osd.{osd.number} dump_op_pq_state",),
            risk="none to look",
            check="mclock_immediate_queue_len and mclock_best_effort_queue_len over minutes",
        )


class CompactionPaidByClients:
    """Compactions take a good part of the device while something recovers: clients pay for them, not recovery.

    Evidence: the time compactions ran, and the bytes they read and wrote meanwhile, from the OSD's log; recovery from
    pg dump, counters or the cluster's log. No queue schedules compactions, and capacities assume there are none: mClock
    keeps recovery at its rate, so what the device lacks is the clients'.

    Threshold: over 20 % of the time, at over 25 % of the device's bandwidth (ours).

    Advice: put recovery's share down while it goes on, or compactions to another time; and see what makes them:
    `lsmlens analyze`. No restart for the profile.

    Risk: recovery takes longer.

    Check: clients' latency, with and without compactions.
    """

    code: ClassVar[str] = "Q24"
    title: ClassVar[str] = "Compactions and recovery at once"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        load, kind = osd.compaction, osd.in_force.kind
        if load is None or kind is None or not view.recovery_is_known:
            needs = "the OSD's log with compactions, osd metadata, and pg dump, status or perf dumps"
            yield NotAssessed(self.code, self.title, needs)
            return
        bandwidth = osd.in_force.bandwidth
        device = bandwidth.real if bandwidth is not None and bandwidth.real else DEFAULT_BANDWIDTH[kind]
        share = load.bytes_per_second / device
        if not view.has_recovery or load.active_share <= ACTIVE_SHARE or share <= DEVICE_SHARE:
            return
        run = osd.material.run
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            meaning="no queue schedules compactions: clients wait while recovery keeps its rate",
            value=f"{percent(load.active_share, 0)} of the time at {size(load.bytes_per_second)}/s,"
            f" {percent(share, 0)} of the device",
            threshold=f"> {percent(ACTIVE_SHARE, 0)} of the time at > {percent(DEVICE_SHARE, 0)} of the device",
            threshold_source="simulation; lsmlens",
            evidence=(
                Evidence(
                    run.members[0] if run is not None else "log",
                    f"compactions in {load.seconds:.0f} s of log: {size(load.bytes_per_second)}/s read and written",
                ),
            ),
            advice="favour clients while recovery goes on, or shift compactions; no restart",
            commands=(
                *((set_option("*", "osd_mclock_profile", "high_client_ops"),) if osd.in_force.is_mclock else ()),
                f"ceph tell osd.{osd.number} compact    # at a quiet hour, before recovery",
            ),
            risk=f"recovery takes longer; back: {unset_option('*', 'osd_mclock_profile')}",
            check="clients' latency with and without compactions",
        )
