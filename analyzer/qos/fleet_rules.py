"""Q04, Q21: capacities compared, with those of like OSDs and with what the whole cluster does."""

from collections import defaultdict
from collections.abc import Iterator
from statistics import median
from typing import ClassVar, NamedTuple

from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import percent, plain
from lsmlens.analyzer.qos.documents import OsdMetadata
from lsmlens.analyzer.qos.remedies import set_option, unset_option
from lsmlens.analyzer.qos.view import QosView

# Ours.
SPREAD_WARNING, SPREAD_CRITICAL = 2.0, 4.0
# Ours: so near to the cluster's figure it hardly is by chance.
SAME_SHARE = 0.05
_CAPACITIES = ("osd_mclock_max_capacity_iops_hdd", "osd_mclock_max_capacity_iops_ssd")


class _Capacity(NamedTuple):
    osd: str
    model: str
    option: str
    iops: float
    source: str


def _capacities(view: QosView) -> list[_Capacity]:
    """Every OSD's capacity that is known: as the OSDs show it, else as the configuration store has it."""
    found: dict[str, _Capacity] = {}
    metadata = {osd.number: osd.material.metadata for osd in view.osds if osd.material.metadata is not None}
    for option in view.material.stored or ():
        number = option.who.removeprefix("osd.")
        if option.name in _CAPACITIES and number.isdigit():
            model = _model(metadata.get(number), option.name)
            found[number] = _Capacity(number, model, option.name, float(option.value), view.material.stored_source)
    for osd in view.osds:
        capacity = osd.in_force.capacity
        if osd.in_force.is_mclock and capacity is not None and capacity.real:
            model = _model(metadata.get(osd.number), capacity.name)
            found[osd.number] = _Capacity(osd.number, model, capacity.name, capacity.real, capacity.source)
    return list(found.values())


def _model(metadata: OsdMetadata | None, option: str) -> str:
    kind = option.rpartition("_")[2]
    return f"{kind} {metadata.model}" if metadata is not None and metadata.model else kind


class UnevenCapacities:
    """OSDs on devices of one model have very different capacities.

    Evidence: osd_mclock_max_capacity_iops_* of all OSDs, from their config show or the configuration store (`ceph
    config dump`); models from osd metadata, else all HDDs and all SSDs are compared. Each OSD benchmarks itself at its
    start, some while the host was busy.

    Threshold: largest / smallest over 2, critical over 4 (ours; reports of home labs and mailing lists).

    Advice: set one value for all of a model: the median, or what fio gives on an idle one. No restart.

    Risk: a common value hides a device that is really slow.

    Check: ceph config dump | grep osd_mclock_max_capacity_iops.
    """

    code: ClassVar[str] = "Q04"
    title: ClassVar[str] = "Capacities of one model differ"

    def check_cluster(self, view: QosView) -> Iterator[Finding | NotAssessed]:
        """One finding for each model whose OSDs differ."""
        if all(osd.in_force.is_wpq for osd in view.osds):
            return
        models: defaultdict[str, list[_Capacity]] = defaultdict(list)
        for one in _capacities(view):
            models[one.model].append(one)
        if not any(len(alike) > 1 for alike in models.values()):
            needs = "capacities of several OSDs under mClock: ceph config dump, or their config show"
            yield NotAssessed(self.code, self.title, needs)
        for model, alike in sorted(models.items()):
            ordered = sorted(alike, key=lambda one: one.iops)
            least, most = ordered[0], ordered[-1]
            if least.iops > 0 and most.iops / least.iops > SPREAD_WARNING:
                yield self._finding(model, ordered)

    def _finding(self, model: str, ordered: list[_Capacity]) -> Finding:
        least, most = ordered[0], ordered[-1]
        spread, usual = most.iops / least.iops, median(one.iops for one in ordered)
        off = [one for one in ordered if not usual / SPREAD_WARNING <= one.iops <= usual * SPREAD_WARNING] or [least]
        return Finding(
            code=self.code,
            title=self.title,
            severity=Severity.CRITICAL if spread > SPREAD_CRITICAL else Severity.WARNING,
            confidence=Confidence.MEDIUM,
            meaning=f"{len(ordered)} OSDs on {model}: some benchmarked themselves while their host was busy",
            value=f"{least.iops:g} to {most.iops:g} IOPS, {spread:.1f} times",
            threshold=f"> {SPREAD_WARNING:g}, critical > {SPREAD_CRITICAL:g} times",
            threshold_source="lsmlens",
            evidence=tuple(Evidence(one.source, f"osd.{one.osd} {one.option} {one.iops:g}") for one in (least, most)),
            advice=f"set one value for all of the model, such as the median, {usual:.0f}; no restart",
            commands=tuple(set_option(one.osd, one.option, f"{usual:.0f}") for one in off),
            risk=f"hides a device that is really slow; back: {unset_option(off[0].osd, off[0].option)}",
            check="ceph config dump | grep osd_mclock_max_capacity_iops",
        )


class ClusterFigureAsCapacity:
    """The capacity is the whole cluster's figure, not one OSD's.

    Evidence: a capacity within 5 % of what a load program measured of the cluster, which has more than one OSD. The
    published study did this too: 21500 were its four OSDs' writes with three copies.

    Threshold: within 5 % (ours).

    Advice: one OSD's capacity is the cluster's writes * copies / OSDs. No restart.

    Risk: as with any capacity.

    Check: ceph config show osd.N osd_mclock_max_capacity_iops_ssd (or _hdd).
    """

    code: ClassVar[str] = "Q21"
    title: ClassVar[str] = "Capacity is a cluster's figure"

    def check_cluster(self, view: QosView) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        capacities, writes, osds = _capacities(view), view.writes(), view.osd_count
        if not any(osd.in_force.is_mclock for osd in view.osds):
            return
        if not capacities or not writes or osds is None:
            needs = "capacities, the number of OSDs (ceph status, versions), and a fio or rados bench result at depth"
            yield NotAssessed(self.code, self.title, needs)
            return
        for result in writes:
            iops = result.iops or 0.0
            same = [one for one in capacities if osds > 1 and abs(one.iops / iops - 1) <= SAME_SHARE]
            copies = min(osds, view.material.cluster.size or 3)
            if same and copies != osds:
                right = iops * copies / osds
                yield Finding(
                    code=self.code,
                    title=self.title,
                    severity=Severity.WARNING,
                    confidence=Confidence.MEDIUM,
                    meaning=f"{osds} OSDs with {copies} copies do {plain(round(iops))} writes a second together:"
                    f" {plain(round(right))} each",
                    value=f"{same[0].iops:g} IOPS for osd.{same[0].osd}, {plain(round(iops))} by the cluster",
                    threshold=f"within {percent(SAME_SHARE, 0)}",
                    threshold_source="lsmlens",
                    evidence=(
                        Evidence(same[0].source, f"osd.{same[0].osd} {same[0].option} {same[0].iops:g}"),
                        Evidence(result.source, f"{plain(round(iops))} writes/s at depth {result.depth}"),
                    ),
                    advice="one OSD's capacity is writes * copies / OSDs; no restart",
                    commands=(set_option("*", same[0].option, f"{right:.0f}"),),
                    risk=f"back: {unset_option('*', same[0].option)}",
                    check=f"ceph config show osd.{same[0].osd} {same[0].option}",
                )
                return
