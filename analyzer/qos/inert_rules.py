"""Q01, Q10, Q11, Q18, Q23: settings that do nothing, or something else, under the scheduler in force."""

from collections.abc import Iterator
from typing import ClassVar

from lsmlens.analyzer.findings import Confidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import counted
from lsmlens.analyzer.options.option_strings import same_value
from lsmlens.analyzer.qos.capacity_rules import evidence_of, evidence_of_line
from lsmlens.analyzer.qos.cost_model import counts_bytes
from lsmlens.analyzer.qos.in_force import PARTS, option_name
from lsmlens.analyzer.qos.log_lines import LineKind
from lsmlens.analyzer.qos.profiles import CUSTOM
from lsmlens.analyzer.qos.remedies import restart, set_option, show_option, unset_option
from lsmlens.analyzer.qos.service_classes import SCHEDULED
from lsmlens.analyzer.qos.settings import QosSetting, default_of
from lsmlens.analyzer.qos.view import OsdView, QosView

QUINCY = 17
CONCURRENCY = (
    "osd_max_backfills",
    "osd_recovery_max_active",
    "osd_recovery_max_active_hdd",
    "osd_recovery_max_active_ssd",
)
OVERRIDE = "osd_mclock_override_recovery_settings"
SLEEPS = tuple(
    f"osd_{work}_sleep{kind}"
    for work in ("recovery", "delete", "snap_trim", "scrub")
    for kind in ("", "_hdd", "_ssd", "_hybrid", "_degraded", "_degraded_hdd", "_degraded_ssd", "_degraded_hybrid")
)
COSTS = ("osd_recovery_cost", "osd_scrub_cost", "osd_snap_trim_cost")
SHARES = tuple(option_name(service_class, part) for service_class in SCHEDULED for part in PARTS)


def set_by_hand(osd: OsdView, view: QosView, name: str) -> QosSetting | None:
    """An option as the configuration store or ceph.conf has it for an OSD; None where neither sets it.

    It need not be in force: the OSD may have put it back.
    """
    stored = osd.settings.stored(name)
    default = default_of(name, osd.in_force.release)
    if stored is not None:
        origin = f"configuration store ({stored.section})"
        return QosSetting(name, stored.value, view.material.stored_source, origin, default)
    setting = osd.settings[name]
    return setting if setting is not None and setting.origin.startswith(("ceph.conf", "configuration store")) else None


class WpqOnPurpose:
    """WPQ is in force where mClock is the default: on purpose?

    Evidence: osd_op_queue, or the log's lines "OSDShard using op scheduler", or a FileStore OSD, which knows no mClock.
    mClock's options do nothing then, and rules on its shares are not applied.

    Threshold: Ceph 17 or later, or FileStore.

    Advice: none if on purpose (erasure-coded pools with slow operations are a good reason). Else take the setting away
    and restart the OSDs one after the other.

    Risk: with mClock recovery and clients share the OSD by profile: check its capacity first.

    Check: the log's line "OSDShard using op scheduler mclock_scheduler" after the restart.
    """

    code: ClassVar[str] = "Q01"
    title: ClassVar[str] = "WPQ in force"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        scheduler, release = osd.in_force.scheduler, osd.in_force.release
        if scheduler is None or release is None:
            yield NotAssessed(self.code, self.title, "the OSD's log from its start, config show or osd metadata")
            return
        store = osd.material.metadata.objectstore if osd.material.metadata is not None else None
        is_filestore = store == "filestore"
        if not osd.in_force.is_wpq or not (release[0] >= QUINCY or is_filestore):
            return
        mclock = [name for name in (*SHARES, "osd_mclock_profile") if osd.settings.stored(name) is not None]
        inert = f"; set, but without effect: {', '.join(mclock)}" if mclock else ""
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.INFO,
            confidence=Confidence.HIGH,
            meaning="operations are drawn by lot, by priority and cost: no reservation, no limit, no profile" + inert,
            value="FileStore" if is_filestore else f"wpq on Ceph {release[0]}",
            threshold=f"Ceph >= {QUINCY}, or FileStore",
            threshold_source="Ceph's documentation",
            evidence=(evidence_of(scheduler),),
            advice="nothing if on purpose; else take the setting away and restart OSDs one after the other",
            commands=() if is_filestore else (unset_option("*", "osd_op_queue"), restart(osd.number)),
            risk=f"check the capacity first; back: {set_option('*', 'osd_op_queue', 'wpq')}, restart",
            check="the log: OSDShard using op scheduler mclock_scheduler",
        )


class ConcurrencyIgnored:
    """Backfill and recovery concurrency is set, but mClock does not let it be set.

    Evidence: osd_max_backfills or osd_recovery_max_active* in the configuration store or ceph.conf while
    osd_mclock_override_recovery_settings is false. Set at runtime such a value is taken back, with the warning "Change
    to X on osd.N did not take effect"; one set before survives the OSD's start, and counts without anyone meaning it.

    Threshold: set to another value than the default (hotsos 683; Ceph's documentation).

    Advice: say so on purpose, with the override, or take the settings away. No restart.

    Risk: more backfills at once cost clients latency; 2 or 3 are enough on HDDs.

    Check: ceph config show osd.N osd_max_backfills.
    """

    code: ClassVar[str] = "Q10"
    title: ClassVar[str] = "Concurrency set but not allowed"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        release = osd.in_force.release
        if not osd.in_force.is_mclock or (release is not None and release[0] < QUINCY):
            return
        override = osd.settings[OVERRIDE]
        reverted = osd.material.lines_of(LineKind.REVERTED)
        if (
            not osd.settings.is_shown
            and view.material.stored is None
            and view.material.ceph_conf is None
            and not reverted
        ):
            yield NotAssessed(self.code, self.title, "config show, ceph config dump or ceph.conf")
            return
        if override is not None and override.is_true:
            return
        found = [
            one for name in CONCURRENCY if (one := set_by_hand(osd, view, name)) is not None and not one.is_default
        ]
        if not found and not reverted:
            return
        running = [osd.settings[one.name] for one in found]
        survived = [
            one.name
            for one, now in zip(found, running, strict=True)
            if now is not None and now.name in osd.settings.shown_names and same_value(now.value, one.value)
        ]
        first = found[0] if found else None
        name = first.name if first is not None else reverted[-1].values["option"]
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.HIGH,
            meaning=f"{', '.join(survived)} survived the OSD's start and counts, unlike values set since"
            if survived
            else "the value is ignored, or taken back when it is set",
            value=", ".join(f"{one.name} {one.value}" for one in found) or f"{name} taken back",
            threshold=f"set while {OVERRIDE} is false",
            threshold_source="Ceph's documentation of mClock; hotsos 683",
            evidence=(*map(evidence_of, found), *(evidence_of_line(line) for line in reverted[-2:])),
            advice="allow it on purpose, or take it away; no restart",
            commands=(
                set_option("*", OVERRIDE, "true"),
                set_option("*", name, first.value if first is not None else "VALUE"),
            ),
            risk=f"more at once costs clients latency; back: {unset_option('*', name)}; {unset_option('*', OVERRIDE)}",
            check=show_option(osd.number, name),
        )


class SleepsWithoutEffect:
    """Sleeps are set that mClock forces to 0.

    Evidence: osd_recovery_sleep*, osd_scrub_sleep, osd_delete_sleep* or osd_snap_trim_sleep* in the configuration store
    or ceph.conf. Under mClock, custom profile included, an OSD sets them all to 0.

    Threshold: not 0 (Ceph's documentation).

    Advice: take them away, and say what was meant with a profile.

    Risk: none: they do nothing. They would count again under WPQ.

    Check: ceph config dump | grep sleep.
    """

    code: ClassVar[str] = "Q11"
    title: ClassVar[str] = "Sleeps without effect"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        if not osd.in_force.is_mclock:
            return
        if view.material.stored is None and view.material.ceph_conf is None and not osd.material.config_diff:
            yield NotAssessed(self.code, self.title, "ceph config dump, config diff or ceph.conf")
            return
        found = [one for name in SLEEPS if (one := set_by_hand(osd, view, name)) is not None and one.real]
        if found:
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.INFO,
                confidence=Confidence.HIGH,
                meaning="mClock forces all sleeps to 0: they slow nothing down",
                value=", ".join(f"{one.name} {one.value}" for one in found),
                threshold="not 0",
                threshold_source="Ceph's documentation of mClock",
                evidence=tuple(map(evidence_of, found[:3])),
                advice="take them away; choose a profile instead",
                commands=tuple(unset_option("*", one.name) for one in found),
                risk="none; they would count again under WPQ",
                check="ceph config dump | grep sleep",
            )


class LeftoverShares:
    """Reservations, weights or limits of a custom profile are still stored, though a built-in one is in force.

    Evidence: osd_mclock_scheduler_* in the configuration store or ceph.conf, with a built-in profile. They are to have
    no effect; on some builds they win over the profile's.

    Threshold: any (Ceph's documentation; tracker 55153).

    Advice: take them away. No restart.

    Risk: where they did win, shares change to the profile's.

    Check: ceph config show osd.N | grep osd_mclock_scheduler.
    """

    code: ClassVar[str] = "Q18"
    title: ClassVar[str] = "Leftovers of a custom profile"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:
        """At most one finding."""
        profile = osd.in_force.profile
        if not osd.in_force.is_mclock:
            return
        if profile is None or (view.material.stored is None and view.material.ceph_conf is None):
            yield NotAssessed(self.code, self.title, "ceph config dump or ceph.conf")
            return
        if profile.value == CUSTOM:
            return
        found = [one for name in SHARES if (one := set_by_hand(osd, view, name)) is not None]
        if not found:
            return
        wins = [
            one.name
            for one in found
            if (now := osd.settings[one.name]) is not None
            and one.name in osd.settings.shown_names
            and same_value(now.value, one.value)
        ]
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING if wins else Severity.INFO,
            confidence=Confidence.HIGH,
            meaning=f"{len(wins)} of them are in force instead of the profile's" if wins else "the profile's count",
            value=f"{counted(len(found), 'option')} stored with profile {profile.value}",
            threshold="any",
            threshold_source="Ceph's documentation of mClock; tracker 55153",
            evidence=(*map(evidence_of, found[:2]), evidence_of(profile)),
            advice="take them away; no restart",
            commands=tuple(unset_option("*", one.name) for one in found),
            risk="where they won, shares change to the profile's",
            check=f"ceph config show osd.{osd.number} | grep osd_mclock_scheduler",
        )


class CostsWithoutEffect:
    """Costs of recovery, scrub or snapshot trim are set, which mClock no longer asks for.

    Evidence: osd_recovery_cost, osd_scrub_cost or osd_snap_trim_cost differ from their defaults on 17.2.7 or later,
    which charge by the objects' mean size.

    Threshold: other than the default (PR 49975, 51171, 51656).

    Advice: take them away.

    Risk: none under mClock; under WPQ they count.

    Check: ceph config dump | grep _cost.
    """

    code: ClassVar[str] = "Q23"
    title: ClassVar[str] = "Costs without effect"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        release = osd.in_force.release
        if not osd.in_force.is_mclock or release is None or not counts_bytes(release):
            return
        settings = [osd.settings[name] for name in COSTS]
        if not osd.settings.is_shown and all(one is None or not one.source for one in settings):
            yield NotAssessed(self.code, self.title, "config show, ceph config dump or ceph.conf")
            return
        found = [one for one in settings if one is not None and not one.is_default]
        if found:
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.INFO,
                confidence=Confidence.HIGH,
                meaning="mClock charges by the objects' mean size: these costs change nothing",
                value=", ".join(f"{one.name} {one.value}" for one in found),
                threshold="other than the default",
                threshold_source="PR 49975, 51171, 51656",
                evidence=tuple(evidence_of(one) for one in found),
                advice="take them away",
                commands=tuple(unset_option("*", one.name) for one in found),
                risk="none under mClock",
                check="ceph config dump | grep _cost",
            )
