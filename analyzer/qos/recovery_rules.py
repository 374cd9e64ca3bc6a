"""Q09, Q12, Q15, Q16: what bounds recovery."""

from collections.abc import Iterator
from typing import ClassVar

from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import counted, percent
from lsmlens.analyzer.qos.allocation import of_class
from lsmlens.analyzer.qos.capacity_rules import evidence_of
from lsmlens.analyzer.qos.cost_model import counts_bytes
from lsmlens.analyzer.qos.queue_loads import imbalance
from lsmlens.analyzer.qos.remedies import set_option, unset_option
from lsmlens.analyzer.qos.service_classes import ServiceClass
from lsmlens.analyzer.qos.view import OsdView, QosView

# Ours: with two queues as full as the mean nobody would notice.
IMBALANCE = 2.0
# Ours: below this many operations of recovery in all queues none of them waits for its tag.
HARDLY_ANY = 1
FAVOURING = ("high_client_ops", "high_recovery_ops")


class OneQueueLast:
    """Recovery will end with one queue: its placement groups meet in it while the others are done.

    Evidence: recovering groups of the dump by primary and shard (number of the group modulo shards). Each queue has its
    own limit, so the fullest decides when recovery ends.

    Threshold: the fullest over 2 times the mean of the queues with any (ours; the published study's tails).

    Advice: do not blame the profile. More placement groups for the pool, or fewer shards (one alone shortens the tail
    of recovery to half or two thirds): the latter needs a restart.

    Risk: splitting placement groups moves data.

    Check: the same count while recovery goes on.
    """

    code: ClassVar[str] = "Q09"
    title: ClassVar[str] = "Recovery meets in one queue"

    def check_cluster(self, view: QosView) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        if view.scheduler.is_wpq:
            return
        if view.recovering is None or not view.scheduler.shard_count:
            yield NotAssessed(self.code, self.title, "pg dump, and the number of shards (config show, the OSD's log)")
            return
        ratio = imbalance(view.loads)
        if ratio is None or ratio <= IMBALANCE:
            return
        fullest = max(view.loads, key=lambda load: load.groups)
        mean = sum(load.groups for load in view.loads) / len(view.loads)
        shards = view.scheduler.shard_count
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.HIGH,
            meaning="the tail of recovery is one queue's: a faster profile shortens it, but not what is uneven",
            value=f"{fullest.groups} groups in the fullest queue, {mean:.1f} on average",
            threshold=f"> {IMBALANCE:g} times the mean",
            threshold_source="the published study's recovery curves; lsmlens",
            evidence=(
                Evidence(
                    view.material.placement_source,
                    f"osd.{fullest.primary} shard {fullest.shard} of {shards}: {fullest.groups} groups,"
                    f" {fullest.objects} objects to recover",
                ),
            ),
            advice="more placement groups, or one shard; the latter needs a restart",
            commands=(set_option("*", f"osd_op_num_shards_{view.scheduler.kind or 'hdd'}", 1),),
            risk="splitting groups moves data; one shard on fast devices costs throughput: "
            + unset_option("*", f"osd_op_num_shards_{view.scheduler.kind or 'hdd'}"),
            check="ceph pg dump pgs: recovering groups by primary",
        )


class StaticCharge:
    """Each recovered object is charged 28 MiB, whatever its size.

    Evidence: mClock on 16.2 or 17.2.0 to 17.2.6, which charge osd_recovery_cost (20 MiB) when an object's turn comes,
    and osd_push_per_object_cost and osd_recovery_max_chunk (8 MiB) for the reply. On an HDD of 315 IOPS a limit of
    100 % is two objects a second for the whole OSD, and small objects suffer most.

    Threshold: these releases; a warning while something recovers (PR 49973, 49975; trackers 58529, 58606).

    Advice: upgrade to 17.2.7, 18 or later; until then high_recovery_ops while recovery goes on, or WPQ (restart).

    Risk: high_recovery_ops takes from clients as long as it is set.

    Check: objects/s of recovery in ceph -s.
    """

    code: ClassVar[str] = "Q12"
    title: ClassVar[str] = "Recovery overcharged"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        release, charges = osd.in_force.release, osd.charges
        if not osd.in_force.is_mclock or release is None or counts_bytes(release):
            return
        recovery = of_class(osd.allocation, ServiceClass.RECOVERY)
        if charges is None or recovery is None:
            yield NotAssessed(self.code, self.title, "config show and osd metadata")
            return
        rate = recovery.limit.recovered_per_second if recovery.limit is not None else None
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING if view.has_recovery else Severity.INFO,
            confidence=Confidence.HIGH,
            meaning=f"an object costs its primary {charges.at_primary} small operations, whatever its size"
            + (f": at most {rate:.1f} objects/s from this OSD" if rate is not None else ""),
            value=f"{charges.start} + {charges.reply} units an object",
            threshold="16.2, 17.2.0 to 17.2.6",
            threshold_source="PR 49973, 49975; trackers 58529, 58606",
            evidence=tuple(
                evidence_of(one)
                for one in (osd.in_force.scheduler, osd.in_force.profile, osd.in_force.capacity)
                if one is not None
            ),
            advice="upgrade to 17.2.7, 18 or later; until then high_recovery_ops while recovery goes on; no restart",
            commands=(set_option("*", "osd_mclock_profile", "high_recovery_ops"),),
            risk=f"takes from clients; back: {unset_option('*', 'osd_mclock_profile')}",
            check="ceph -s: recovery objects/s",
        )


class ProfileWithoutEffect:
    """The profile changes nothing: recovery is bound by how much of it may be under way, not by shares.

    Evidence: high_client_ops or high_recovery_ops is in force, something recovers, and no operation of recovery or best
    effort waits in any queue that was dumped. Without a backlog neither weights nor limits have anything to order.

    Threshold: at most 1 operation in all queues, in every dump (ours).

    Advice: for faster recovery allow more backfills (2 or 3 on HDDs), with the override; the profile may go back to
    balanced. No restart.

    Risk: more at once costs clients latency.

    Check: mclock_recovery_queue_len rises above 0; recovery objects/s in ceph -s.
    """

    code: ClassVar[str] = "Q15"
    title: ClassVar[str] = "Profile without effect"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        profile = osd.in_force.profile
        if not osd.in_force.is_mclock or profile is None or profile.value not in FAVOURING:
            return
        by_class = [one for one in osd.queues if one.recovery is not None]
        if not by_class or not view.recovery_is_known:
            needs = "perf dumps with mclock-shard-queue counters (18.2.5, 19.2.1) taken while something recovers"
            yield NotAssessed(self.code, self.title, needs)
            return
        longest = max((one.recovery or 0) + (one.best_effort or 0) for one in by_class)
        if not view.has_recovery or longest > HARDLY_ANY:
            return
        backfills = osd.in_force.max_backfills
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.INFO,
            confidence=Confidence.MEDIUM,
            meaning="no recovery waits in a queue: concurrency binds it, and the profile has nothing to order",
            value=f"{profile.value}, at most {counted(longest, 'operation')} of recovery and best effort waiting",
            threshold=f"<= {HARDLY_ANY}, while something recovers",
            threshold_source="lsmlens",
            evidence=(
                evidence_of(profile),
                Evidence(by_class[-1].source, f"mclock_recovery_queue_len {by_class[-1].recovery}"),
                *((evidence_of(backfills),) if backfills is not None else ()),
            ),
            advice="allow 2 or 3 backfills at once if recovery is to be faster; no restart",
            commands=(
                set_option("*", "osd_mclock_override_recovery_settings", "true"),
                set_option("*", "osd_max_backfills", 2),
            ),
            risk="more at once costs clients latency; back: "
            f"{unset_option('*', 'osd_max_backfills')}; {unset_option('*', 'osd_mclock_override_recovery_settings')}",
            check=f"ceph tell osd.{osd.number} perf dump: mclock_recovery_queue_len",
        )


class OnlyMisplaced:
    """What moves is only misplaced, so it is best effort: without reservation, and with a limit.

    Evidence: recovering groups that are neither degraded nor undersized, on 17.2.7 or later, with a profile that limits
    best effort (balanced 90 %, high_client_ops 70 %).

    Threshold: all groups that recover (source: priorities in OpSchedulerItem.h).

    Advice: none if there is time: clients come first. Else high_recovery_ops, which sets it no limit, until it is done.

    Risk: clients wait longer meanwhile.

    Check: misplaced objects in ceph -s.
    """

    code: ClassVar[str] = "Q16"
    title: ClassVar[str] = "Backfill is best effort"

    def check_cluster(self, view: QosView) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        in_force = view.scheduler
        if not in_force.is_mclock or not counts_bytes(in_force.release):
            return
        if view.recovering is None or in_force.shares is None:
            yield NotAssessed(self.code, self.title, "pg dump, and the profile (config show)")
            return
        shares = in_force.shares.classes[ServiceClass.BEST_EFFORT]
        misplaced = [group for group in view.recovering if group.is_only_misplaced]
        if not misplaced or len(misplaced) < len(view.recovering) or not shares.limit:
            return
        profile = in_force.profile.value if in_force.profile is not None else "the profile"
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.INFO,
            confidence=Confidence.HIGH,
            meaning=f"nothing is degraded: these groups have {percent(shares.reservation, 0)} of the capacity reserved"
            f" and at most {percent(shares.limit, 0)} of it",
            value=f"{counted(len(misplaced), 'group')} only misplaced, {profile}",
            threshold="all groups that recover",
            threshold_source="OpSchedulerItem.h of 17.2.7 and later",
            evidence=(
                Evidence(view.material.placement_source, f"{misplaced[0].name} {misplaced[0].state}"),
                *((evidence_of(in_force.profile),) if in_force.profile is not None else ()),
            ),
            advice="nothing if there is time; else high_recovery_ops until it is done; no restart",
            commands=(set_option("*", "osd_mclock_profile", "high_recovery_ops"),),
            risk=f"clients wait longer; back: {set_option('*', 'osd_mclock_profile', profile)}",
            check="ceph -s: misplaced objects",
        )
