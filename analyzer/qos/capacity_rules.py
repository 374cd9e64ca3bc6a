"""Q02, Q03, Q05, Q06: the capacity that mClock takes an OSD to have."""

from collections.abc import Iterator
from typing import ClassVar

from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import plain, size
from lsmlens.analyzer.qos.in_force import SchedulerInForce
from lsmlens.analyzer.qos.log_lines import LineKind, QosLine
from lsmlens.analyzer.qos.remedies import measure, set_option, show_option, unset_option
from lsmlens.analyzer.qos.settings import QosSetting
from lsmlens.analyzer.qos.view import OsdView, QosView

# What Ceph itself takes for plausible since 18.2.7: low and high threshold of the benchmark's result.
PLAUSIBLE = {"hdd": (50.0, 500.0), "ssd": (1000.0, 80_000.0)}
COMPILED_DEFAULT = {"hdd": 315.0, "ssd": 21_500.0}
# Ours: fio at depth, on all OSDs, comes this near to what the benchmark says of each.
TIMES_MEASURED = 1.5
# An HDD below this gets so large a charge for each small operation that clients and scrubs crawl.
WEAK_HDD_IOPS = 150.0


def capacity_of(osd: OsdView) -> QosSetting | None:
    """The capacity in force; None under WPQ and where it is not known."""
    return osd.in_force.capacity if osd.in_force.is_mclock else None


def evidence_of(setting: QosSetting) -> Evidence:
    """Where a setting was read, and what it is."""
    said = f" ({setting.origin})" if setting.origin else ""
    return Evidence(setting.source or "release's defaults", f"{setting.name} {setting.value}{said}")


def evidence_of_line(line: QosLine) -> Evidence:
    """A line of a log."""
    return Evidence(line.source, line.text, line.number)


class CapacityIsDefault:
    """The capacity is the compiled-in default: the OSD's benchmark was refused, skipped, or met it by chance.

    Evidence: osd_mclock_max_capacity_iops_hdd or _ssd is exactly 315 or 21500, and, where the logs have it, the warning
    "OSD bench result of X IOPS …". An OSD benchmarks itself at its start only under mClock, unless
    osd_mclock_skip_benchmark is set, and only as long as the value is the default: it does so at each start then.

    Threshold: equal to the default (PR 41308, 42133, 59743).

    Advice: measure the device, with fio or `ceph tell osd.N bench` on an idle OSD with its cache dropped, several
    times, and set what it gives by hand. No restart. All reservations and limits, and the charge of small operations,
    follow.

    Risk: a value above what the device does lets reservations promise more than there is: mClock then keeps none.

    Check: ceph config show osd.N osd_mclock_max_capacity_iops_hdd (or _ssd); the warning does not come again.
    """

    code: ClassVar[str] = "Q02"
    title: ClassVar[str] = "Capacity is the default"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        if not osd.in_force.is_mclock:
            return
        capacity, kind = capacity_of(osd), osd.in_force.kind
        if capacity is None or capacity.real is None or kind is None:
            yield NotAssessed(self.code, self.title, "config show, or the OSD's log from its start; osd metadata")
        elif capacity.real == COMPILED_DEFAULT[kind]:
            yield self._finding(osd, capacity, kind)

    def _finding(self, osd: OsdView, capacity: QosSetting, kind: str) -> Finding:
        refused = osd.material.last_line(LineKind.BENCH_REFUSED)
        bench = osd.material.last_line(LineKind.BENCH)
        measured = next((iops for line in (refused, bench) if line and (iops := line.real("iops"))), None)
        evidence = [evidence_of(capacity), *(evidence_of_line(line) for line in (refused, bench) if line is not None)]
        skip = osd.settings["osd_mclock_skip_benchmark"]
        why = "its benchmark was refused" if refused is not None else "its benchmark was skipped or refused, or met it"
        if refused is None and skip is not None and skip.is_true:
            why = "osd_mclock_skip_benchmark is set"
            evidence.append(evidence_of(skip))
        meaning = f"mClock takes the OSD to do {plain(round(capacity.real or 0))} writes of 4 KiB a second, for {why}"
        if measured:
            meaning = (
                f"a device that did {plain(round(measured))} writes a second is scheduled as one of"
                f" {plain(round(capacity.real or 0))}, for {why}: {_consequence(osd.in_force, measured)}"
            )
        value = f"{capacity.real:g} IOPS" + (f", measured {plain(round(measured))}" if measured else "")
        return Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING if refused is not None else Severity.INFO,
            confidence=Confidence.HIGH if refused is not None else Confidence.MEDIUM,
            meaning=meaning,
            value=value,
            threshold=f"= {COMPILED_DEFAULT[kind]:g}",
            threshold_source="Ceph's default; PR 41308, 42133, 59743",
            evidence=tuple(evidence),
            advice="measure the device and set its capacity by hand; no restart"
            + (". The benchmark is short and may have met a cache: let fio have the last word" if measured else ""),
            commands=(
                *measure(osd.number),
                set_option(osd.number, capacity.name, f"{measured:.0f}" if measured else "IOPS"),
            ),
            risk=f"too high a value makes reservations void; back: {unset_option(osd.number, capacity.name)}",
            check=show_option(osd.number, capacity.name),
        )


def _consequence(in_force: SchedulerInForce, measured: float) -> str:
    """What the difference does to small operations."""
    capacity, bandwidth = in_force.capacity, in_force.bandwidth
    if capacity is None or bandwidth is None or not capacity.real or not bandwidth.real:
        return f"{measured / (capacity.real or 1) if capacity else 0:.0f} times as much"
    now, then = bandwidth.real / capacity.real, bandwidth.real / measured
    return f"each small operation is charged {size(now)} of bandwidth instead of {size(max(4096.0, then))}"


class CapacityImplausible:
    """The capacity is outside what a device of its kind can do.

    Evidence: osd_mclock_max_capacity_iops_hdd or _ssd. Releases before 18.2.7 (HDD and SSD, below) and 17.2.6 (above)
    kept whatever the benchmark gave: a write cache inflates an HDD's, a busy device deflates any.

    Threshold: an HDD over 500 or under 50, an SSD over 80000 or under 1000 (Ceph's own thresholds since 18.2.7).

    Advice: measure on an idle OSD with its cache dropped, and set the value by hand. No restart.

    Risk: as with any capacity: too high a value makes reservations void, too low a one slows everything scheduled.

    Check: ceph config show osd.N osd_mclock_max_capacity_iops_hdd (or _ssd).
    """

    code: ClassVar[str] = "Q03"
    title: ClassVar[str] = "Capacity implausible"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        if not osd.in_force.is_mclock:
            return
        capacity, kind = capacity_of(osd), osd.in_force.kind
        if capacity is None or capacity.real is None or kind is None:
            yield NotAssessed(self.code, self.title, "config show, or the OSD's log from its start; osd metadata")
            return
        low, high = PLAUSIBLE[kind]
        if low <= capacity.real <= high:
            return
        is_high = capacity.real > high
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.HIGH,
            meaning=f"no {kind.upper()} does that: "
            + (
                "reservations promise what the device cannot give"
                if is_high
                else "every small operation is overcharged"
            ),
            value=f"{capacity.real:g} IOPS",
            threshold=f"{low:g} to {high:g}",
            threshold_source="osd_mclock_iops_capacity_threshold_* of 18.2.7; PR 59743",
            evidence=(evidence_of(capacity), Evidence(osd.in_force.kind_source, f"the device is taken for: {kind}")),
            advice="measure the idle device and set its capacity by hand; no restart",
            commands=(*measure(osd.number), set_option(osd.number, capacity.name, "IOPS")),
            risk=f"back: {unset_option(osd.number, capacity.name)}",
            check=show_option(osd.number, capacity.name),
        )


class WeakHdd:
    """An HDD of little capacity, and something is slow: each small operation is charged megabytes.

    Evidence: a capacity of 50 to 150 IOPS, and lines that tell of slow operations or of scrubs that are late. From
    17.2.7 on a small operation costs bandwidth / capacity: 1 to 3 MB here, and half the capacity is reserved for
    clients under the balanced profile: 25 to 75 IOPS. A deep scrub may take tens of minutes for one placement group.

    Threshold: 150 IOPS (cephci 4437, arithmetic), with slow operations or late scrubs.

    Advice: measure again on an idle OSD; if the device really does no more, put WAL and database on a faster one.

    Risk: none to measure.

    Check: slow operations cease; scrubs are in time.
    """

    code: ClassVar[str] = "Q05"
    title: ClassVar[str] = "Weak HDD overcharged"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        if not osd.in_force.is_mclock or osd.in_force.kind != "hdd":
            return
        capacity, costs = capacity_of(osd), osd.in_force.costs
        if capacity is None or capacity.real is None or costs is None:
            yield NotAssessed(self.code, self.title, "config show, or the OSD's log from its start")
            return
        slow = [line for kind in (LineKind.SLOW_OPERATIONS, LineKind.SCRUBS_LATE) for line in view.lines_of(kind)]
        if not PLAUSIBLE["hdd"][0] <= capacity.real <= WEAK_HDD_IOPS or not slow:
            return
        charge = costs.cost(4096) if osd.in_force.bandwidth is not None else 0
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            meaning=f"operations are slow while each small one is charged as if it moved {size(charge)}"
            if charge
            else "operations are slow on an HDD of little capacity",
            value=f"{capacity.real:g} IOPS",
            threshold=f"<= {WEAK_HDD_IOPS:g}, with slow operations or late scrubs",
            threshold_source="cephci 4437; arithmetic",
            evidence=(evidence_of(capacity), *(evidence_of_line(line) for line in slow[:2])),
            advice="measure the idle OSD again; set the capacity by hand, or move WAL and database to a faster device",
            commands=(*measure(osd.number), set_option(osd.number, capacity.name, "IOPS")),
            risk=f"back: {unset_option(osd.number, capacity.name)}",
            check="ceph health detail: no slow ops, no late scrubs",
        )


class CapacityAboveMeasured:
    """The capacity is far above what clients got out of the cluster.

    Evidence: the capacity against each OSD's share of the writes a load program made: IOPS * copies / OSDs, of results
    with small writes at depth 8 and more. A program that did not press hard shows less than there is.

    Threshold: over 1.5 times (ours).

    Advice: set the capacity to what the cluster did under full load. Reservations above what the device does are kept
    by nobody: mClock cannot hold recovery or best effort back. No restart.

    Risk: too low a value slows what is scheduled.

    Check: the study's runs on HDDs without a fast device, where the profiles miss their goals, look like this.
    """

    code: ClassVar[str] = "Q06"
    title: ClassVar[str] = "Capacity above what was measured"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        if not osd.in_force.is_mclock:
            return
        capacity, osds, writes = capacity_of(osd), view.osd_count, view.writes()
        if capacity is None or capacity.real is None or osds is None or not writes:
            needs = "config show, the number of OSDs (ceph status, versions), and a fio or rados bench result of small"
            yield NotAssessed(self.code, self.title, f"{needs} writes at depth")
            return
        copies = min(osds, view.material.cluster.size or 3)
        best = max(writes, key=lambda one: one.iops or 0.0)
        measured = (best.iops or 0.0) * copies / osds
        if capacity.real <= TIMES_MEASURED * measured:
            return
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.LOW,
            meaning="reservations may promise more than the device does: then mClock holds nothing back",
            value=f"{capacity.real:g} IOPS, {capacity.real / measured:.1f} times what clients got of each OSD",
            threshold=f"> {TIMES_MEASURED:g} times",
            threshold_source="lsmlens",
            evidence=(
                evidence_of(capacity),
                Evidence(
                    best.source,
                    f"{plain(round(best.iops or 0))} writes/s at depth {best.depth}: with {copies} copies on {osds}"
                    f" OSDs {plain(round(measured))} on each",
                ),
            ),
            advice="set the capacity to what the cluster does under full load; no restart",
            commands=(set_option(osd.number, capacity.name, f"{measured:.0f}"),),
            risk=f"too low a value slows what is scheduled; back: {unset_option(osd.number, capacity.name)}",
            check=show_option(osd.number, capacity.name),
        )
