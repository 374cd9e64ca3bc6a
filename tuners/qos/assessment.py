"""Everything `lsmlens qos` has to say of a bundle, in one value that reports read."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from math import inf

from lsmlens.analyzer.qos.allocation import (
    ClassAllocation,
    allocation_of,
    charges_in_force,
    client_iops,
    seconds_per_object,
)
from lsmlens.analyzer.qos.cost_model import CostModel, byte_costs, counts_bytes
from lsmlens.analyzer.qos.queue_loads import (
    Bound,
    Charge,
    RecoveryTime,
    peak_by_chance,
    recovery_time,
    recovery_time_by_chance,
)
from lsmlens.analyzer.qos.rules import Diagnosis, diagnose
from lsmlens.analyzer.qos.service_classes import ServiceClass
from lsmlens.analyzer.qos.view import OsdView, QosView
from lsmlens.tuners.qos.candidates import Candidate, Candidates
from lsmlens.tuners.qos.cluster_model import ClusterModel, cluster_model
from lsmlens.tuners.qos.recommendation import QosObjective, QosRecommendation, recommend


@dataclass(frozen=True, slots=True)
class ProfileForm:
    """What charges and queues alone say of a profile: how long recovery takes, and what HDDs leave to clients.

    `client_iops` are at the rate of that recovery; None on other devices and where clients' rate without recovery is
    not known.
    """

    profile: str
    is_current: bool
    service_class: ServiceClass
    recovery: RecoveryTime
    client_iops: float | None


@dataclass(frozen=True, slots=True)
class QosAssessment:
    """A bundle's view, what the rules say, the closed forms and the recommendation.

    `subject` is the OSD that allocation, closed forms and recommendation are of; `mended` is the allocation it would
    have with the capacity its own benchmark gave, None where that is in force or not known.
    """

    view: QosView
    diagnoses: tuple[Diagnosis, ...]
    subject: OsdView
    model: ClusterModel | None
    mended_capacity: float | None
    mended: tuple[ClassAllocation, ...]
    forms: tuple[ProfileForm, ...]
    recommendation: QosRecommendation | None


def assess(
    view: QosView,
    executor: Executor | None,
    objective: QosObjective = QosObjective.BALANCED,
    *,
    depth: int | None = None,
    osds: int | None = None,
    seed: int = 1,
    on_played: Callable[[str, int, int], None] | None = None,
) -> QosAssessment:
    """Everything of a bundle; without an executor nothing is simulated, and nothing recommended."""
    subject = _subject(view)
    is_known = subject.in_force.scheduler is not None and subject.in_force.kind is not None
    model = cluster_model(view, subject, depth, osds) if is_known else None
    recommendation = None
    if executor is not None:
        recommendation = recommend(
            view, subject, objective, executor, depth=depth, osds=osds, seed=seed, on_played=on_played
        )
    base = recommendation.base.iops if recommendation is not None and recommendation.base is not None else None
    candidates = Candidates(subject)
    capacity = candidates.mended_capacity
    return QosAssessment(
        view=view,
        diagnoses=diagnose(view),
        subject=subject,
        model=model,
        mended_capacity=capacity,
        mended=_mended(subject, capacity) if capacity is not None else (),
        forms=tuple(_forms(view, subject, candidates, model, base)) if model is not None else (),
        recommendation=recommendation,
    )


def _subject(view: QosView) -> OsdView:
    """The first OSD under mClock whose shares are known, else the first."""
    known = (osd for osd in view.osds if osd.in_force.is_mclock and osd.allocation)
    return next(known, view.osds[0])


def _mended(osd: OsdView, capacity: float) -> tuple[ClassAllocation, ...]:
    in_force = osd.in_force
    if in_force.bandwidth is None or not in_force.bandwidth.real or not counts_bytes(in_force.release):
        return ()
    costs = byte_costs(in_force.bandwidth.real, capacity)
    return allocation_of(replace(in_force, costs=costs), charges_in_force(osd.settings, costs))


def _forms(
    view: QosView, osd: OsdView, candidates: Candidates, model: ClusterModel, base_iops: float | None
) -> list[ProfileForm]:
    """One form for each profile that is known."""
    forms = []
    for candidate in _profiles(candidates):
        scheduler = candidates.scheduler_of(candidate, model.object_bytes)
        classes = {group.service_class for group in model.groups}
        service_class = ServiceClass.RECOVERY if ServiceClass.RECOVERY in classes else ServiceClass.BEST_EFFORT
        share = scheduler.shares.get(service_class)
        if share is None:
            continue
        is_limited = share.limit < inf
        units = share.limit if is_limited else share.reservation
        bound = Bound.LIMIT if is_limited else Bound.RESERVATION
        if view.loads:
            time = recovery_time(view.loads, units, _charge(osd, scheduler.costs), bound)
        else:
            count = len(model.groups)
            primaries = len({group.primary for group in model.groups})
            time = recovery_time_by_chance(
                peak_by_chance(count, primaries, candidate.shards),
                count,
                model.objects / count,
                units,
                scheduler.charges.at_primary,
                bound,
            )
        if time is not None:
            iops = _client_iops(osd, model, time, base_iops)
            forms.append(ProfileForm(candidate.profile, candidate.is_current, service_class, time, iops))
    return forms


def _charge(osd: OsdView, costs: CostModel) -> Charge:
    """What an object is charged at its primary, by its size."""
    return lambda object_bytes: charges_in_force(osd.settings, costs, object_bytes).at_primary


def _profiles(candidates: Candidates) -> list[Candidate]:
    """One candidate for each profile, with everything else as it is in force."""
    current = candidates.current
    if not current.profile:
        return []
    others = [] if candidates.table is None else [name for name in candidates.table.profiles if name != current.profile]
    return [current, *(replace(current, profile=name, is_current=False) for name in others)]


def _client_iops(osd: OsdView, model: ClusterModel, time: RecoveryTime, base_iops: float | None) -> float | None:
    if base_iops is None or not model.hardware.has_seeks:
        return None
    has_own_db = osd.material.metadata is not None and osd.material.metadata.has_own_db
    bandwidth = osd.in_force.bandwidth.real if osd.in_force.bandwidth is not None else None
    seconds = seconds_per_object(bandwidth or 157_286_400.0, has_own_db, model.object_bytes)
    return client_iops(base_iops, time.objects_per_second, seconds)
