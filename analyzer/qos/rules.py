"""All rules on scheduling, and what they find in a bundle."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from lsmlens.analyzer.findings import Finding, NotAssessed
from lsmlens.analyzer.qos.capacity_rules import CapacityAboveMeasured, CapacityImplausible, CapacityIsDefault, WeakHdd
from lsmlens.analyzer.qos.device_rules import BandwidthIsDefault, ShardsOfHdd, ThrottleBelowQueue, WrongKind
from lsmlens.analyzer.qos.fleet_rules import ClusterFigureAsCapacity, UnevenCapacities
from lsmlens.analyzer.qos.inert_rules import (
    ConcurrencyIgnored,
    CostsWithoutEffect,
    LeftoverShares,
    SleepsWithoutEffect,
    WpqOnPurpose,
)
from lsmlens.analyzer.qos.recovery_rules import OneQueueLast, OnlyMisplaced, ProfileWithoutEffect, StaticCharge
from lsmlens.analyzer.qos.share_rules import CustomShares, LimitPerClient
from lsmlens.analyzer.qos.starvation_rules import BestEffortStarved, CompactionPaidByClients, SubReadsPastQueue
from lsmlens.analyzer.qos.view import OsdView, QosView


class OsdRule(Protocol):
    """One diagnosis of one OSD."""

    code: ClassVar[str]
    title: ClassVar[str]

    def check(self, osd: OsdView, view: QosView) -> Iterable[Finding | NotAssessed]:
        """What the rule finds: nothing, findings, or that it lacks what it needs."""


class ClusterRule(Protocol):
    """One diagnosis of the whole cluster."""

    code: ClassVar[str]
    title: ClassVar[str]

    def check_cluster(self, view: QosView) -> Iterable[Finding | NotAssessed]:
        """What the rule finds: nothing, findings, or that it lacks what it needs."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the rules say of one OSD, or of the cluster (`subject` is None): findings, most severe first."""

    subject: str | None
    findings: tuple[Finding, ...]
    not_assessed: tuple[NotAssessed, ...]


def diagnose(view: QosView) -> tuple[Diagnosis, ...]:
    """What all rules find: the cluster first, then each OSD."""
    cluster = [one for rule in CLUSTER_RULES for one in rule.check_cluster(view)]
    of_osds = (_diagnosis(osd.name, [one for rule in OSD_RULES for one in rule.check(osd, view)]) for osd in view.osds)
    return (_diagnosis(None, cluster), *of_osds)


def _diagnosis(subject: str | None, said: list[Finding | NotAssessed]) -> Diagnosis:
    findings = sorted((one for one in said if isinstance(one, Finding)), key=lambda one: (-one.severity.rank, one.code))
    return Diagnosis(subject, tuple(findings), tuple(one for one in said if isinstance(one, NotAssessed)))


def rule_of(code: str) -> OsdRule | ClusterRule | None:
    """The rule with this code, in either case; None if there is none."""
    return next((rule for rule in RULES if rule.code.casefold() == code.casefold()), None)


OSD_RULES: tuple[OsdRule, ...] = (
    WpqOnPurpose(),
    CapacityIsDefault(),
    CapacityImplausible(),
    WeakHdd(),
    CapacityAboveMeasured(),
    WrongKind(),
    ShardsOfHdd(),
    ConcurrencyIgnored(),
    SleepsWithoutEffect(),
    StaticCharge(),
    BestEffortStarved(),
    ProfileWithoutEffect(),
    CustomShares(),
    LeftoverShares(),
    BandwidthIsDefault(),
    ThrottleBelowQueue(),
    LimitPerClient(),
    CostsWithoutEffect(),
    CompactionPaidByClients(),
)
CLUSTER_RULES: tuple[ClusterRule, ...] = (
    UnevenCapacities(),
    OneQueueLast(),
    SubReadsPastQueue(),
    OnlyMisplaced(),
    ClusterFigureAsCapacity(),
)
RULES: tuple[OsdRule | ClusterRule, ...] = tuple(sorted((*OSD_RULES, *CLUSTER_RULES), key=lambda rule: rule.code))
