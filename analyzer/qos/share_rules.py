"""Q17, Q22: reservations, weights and limits themselves."""

from collections.abc import Iterator
from typing import ClassVar

from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import percent
from lsmlens.analyzer.qos.capacity_rules import evidence_of
from lsmlens.analyzer.qos.cost_model import counts_bytes
from lsmlens.analyzer.qos.in_force import option_name
from lsmlens.analyzer.qos.profiles import CUSTOM
from lsmlens.analyzer.qos.remedies import set_option, unset_option
from lsmlens.analyzer.qos.service_classes import SCHEDULED, ServiceClass
from lsmlens.analyzer.qos.view import OsdView, QosView

# A share above this is no share: built-in profiles' limits were up to 2 in older releases.
LARGEST_SHARE = 1.0
# Ours: a class without reservation and with less than this part of the largest weight may starve.
TINY_WEIGHT = 0.1
# PR 52809 and its backports: all clients outside share one reservation and one limit.
ONE_CLIENT_SINCE = ((17, 2, 7), (18, 2, 1), (19, 0, 0))


class CustomShares:
    """A custom profile books more than there is, starves a class, or has another release's unit.

    Evidence: the nine osd_mclock_scheduler_* options under the profile `custom`: reservations that add up to more than
    the capacity, a limit below its reservation, a class without reservation and with next to no weight; shares above 1
    on 17.2.7 and later, which takes shares, or of 1 and less before, where they are operations a second of one queue.

    Threshold: sum of reservations > 1; limit < reservation; weight under a tenth of the largest (ours).

    Advice: correct the values, or go back to a built-in profile. No restart.

    Risk: shares count at once, on all OSDs they are set for.

    Check: the allocation table of this report.
    """

    code: ClassVar[str] = "Q17"
    title: ClassVar[str] = "Custom profile in doubt"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding, with all that is wrong."""
        profile, shares = osd.in_force.profile, osd.in_force.shares
        if not osd.in_force.is_mclock or profile is None or profile.value != CUSTOM:
            return
        if shares is None or shares.is_assumed:
            yield NotAssessed(self.code, self.title, "config show")
            return
        wrong = list(self._wrong(osd))
        if wrong:
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.WARNING,
                confidence=Confidence.HIGH,
                meaning="; ".join(wrong),
                value=", ".join(
                    f"{one} {shares.classes[one].reservation:g}/{shares.classes[one].weight:g}/"
                    f"{shares.classes[one].limit:g}"
                    for one in SCHEDULED
                ),
                threshold="sum of reservations <= 1, limit >= reservation",
                threshold_source="Ceph's documentation of mClock; PR 49975",
                evidence=(evidence_of(profile), Evidence(shares.source, "osd_mclock_scheduler_*: res/wgt/lim")),
                advice="correct the values, or go back to a built-in profile; no restart",
                commands=(set_option("*", "osd_mclock_profile", "balanced"),),
                risk=f"counts at once; back: {set_option('*', 'osd_mclock_profile', CUSTOM)}",
                check="ceph config show osd.N | grep osd_mclock_scheduler",
            )

    def _wrong(self, osd: OsdView) -> Iterator[str]:
        shares = osd.in_force.shares
        assert shares is not None
        classes = shares.classes
        is_bytes = counts_bytes(osd.in_force.release)
        if is_bytes and any(max(one.reservation, one.limit) > LARGEST_SHARE for one in classes.values()):
            yield "shares above 1: these look like operations a second, which releases before 17.2.7 took"
            return
        printed = [osd.settings[option_name(one, part)] for one in SCHEDULED for part in ("res", "lim")]
        if not is_bytes and any(one is not None and one.real is not None and 0 < one.real < 1 for one in printed):
            yield "values below 1: these look like shares, which only 17.2.7 and later take"
            return
        total = sum(one.reservation for one in classes.values())
        if total > 1:
            yield f"reservations add up to {percent(total, 0)} of the capacity"
        largest = max(one.weight for one in classes.values())
        for service_class, one in classes.items():
            if one.limit and one.limit < one.reservation:
                yield f"{service_class}: the limit is below the reservation"
            if not one.reservation and one.weight < TINY_WEIGHT * largest:
                yield f"{service_class}: no reservation and hardly any weight: it may starve"


class LimitPerClient:
    """Each client outside has a reservation and a limit of its own, so together they have many times as much.

    Evidence: a limit on clients, on a release before PR 52809 (in 17.2.7, 18.2.1 and 19), and more than one client in
    the queues' dump where there is one.

    Threshold: a limit, and several clients (PR 52809).

    Advice: upgrade; until then do not count on the limit.

    Risk: none to know it.

    Check: dump_op_pq_state: one client of class 3.
    """

    code: ClassVar[str] = "Q22"
    title: ClassVar[str] = "Client limit counts for each client"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        release, shares = osd.in_force.release, osd.in_force.shares
        if not osd.in_force.is_mclock:
            return
        if release is None or shares is None:
            yield NotAssessed(self.code, self.title, "the OSD's release and config show")
            return
        fixed = next((since for since in ONE_CLIENT_SINCE if since[0] == release[0]), ONE_CLIENT_SINCE[-1])
        limit = shares.classes[ServiceClass.CLIENT].limit
        if release >= fixed or not limit:
            return
        clients = max((state.clients or 0 for _, states in osd.material.queue_states for state in states), default=None)
        if clients is not None and clients < 2:
            return
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING if clients else Severity.INFO,
            confidence=Confidence.HIGH if clients else Confidence.MEDIUM,
            meaning="the limit holds for each client by itself: many clients together pass it"
            + ("" if clients else "; how many there are is not known"),
            value=f"limit {percent(limit, 0)}" + (f", {clients} clients in one queue" if clients else ""),
            threshold=f"any limit before {'.'.join(map(str, fixed))}",
            threshold_source="PR 52809",
            evidence=(Evidence(shares.source, f"client limit {percent(limit, 0)} of the capacity"),),
            advice="upgrade; until then do not count on the limit",
            commands=(),
            risk=f"a limit of your own: {unset_option('*', option_name(ServiceClass.CLIENT, 'lim'))}",
            check=f"ceph daemon osd.{osd.number} dump_op_pq_state: one client of class 3",
        )
