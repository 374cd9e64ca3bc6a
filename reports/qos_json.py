"""The assessment of scheduling as the document `lsmlens.qos/1`."""

from typing import Annotated, Final, Literal

from lsmlens.analyzer.analysis_document import Amount, Count, EvidenceJson, means
from lsmlens.analyzer.findings import Confidence, Finding, Severity
from lsmlens.analyzer.qos.allocation import ClassAllocation, Rate
from lsmlens.analyzer.qos.cost_model import CostUnit
from lsmlens.analyzer.qos.queue_loads import Bound
from lsmlens.analyzer.qos.service_classes import ServiceClass, message_classes
from lsmlens.analyzer.qos.settings import QosSetting
from lsmlens.analyzer.qos.view import OsdView
from lsmlens.reports.json_form import made_of, to_text
from lsmlens.tuners.qos.assessment import ProfileForm, QosAssessment
from lsmlens.tuners.qos.recommendation import QosObjective, QosPrediction, QosRecommendation
from lsmlens.tuners.qos.simulation import ClientFigures
from msgspec import Meta, Struct, field

SCHEMA: Final = "lsmlens.qos/1"

OsdName = Annotated[str | None, means("The OSD; null for one of the cluster.")]


class SettingJson(Struct, kw_only=True):
    """One option in force."""

    option: Annotated[str, means("Ceph's name of the option.")]
    value: Annotated[str, means("As it was printed.")]
    number: Annotated[float | None, means("The value as a number; null where it is none.")]
    set_by: Annotated[
        str,
        means(
            "Who set it: default, configuration store (section), ceph.conf, the OSD itself; empty where that is not"
            " known."
        ),
    ]
    source: Annotated[
        str, means("The member it was read in, with a line number for logs; empty for a release's default.")
    ]
    default: Annotated[str | None, means("The release's default.")]


class DeviceJson(Struct, kw_only=True):
    """The OSD's device."""

    kind: Annotated[Literal["hdd", "ssd"] | None, means("As Ceph takes it, by the rotational flag.")]
    source: Annotated[str, means("What tells of it.")]


class CostModelJson(Struct, kw_only=True):
    """What mClock charges for an operation."""

    unit: Annotated[CostUnit, means("What it counts in.")]
    per_io: Annotated[float, means("Charged for each operation.")]
    per_byte: Annotated[float, means("Charged for each byte.")]
    crossover_bytes: Annotated[float, means("Below this size operations are charged alike.")]
    cost_4kib: Annotated[int, means("Charged for an operation of 4 KiB.")]
    cost_4mib: Annotated[int, means("Charged for an operation of 4 MiB.")]


class RecoveryChargesJson(Struct, kw_only=True):
    """What a recovered object of 4 MiB is charged, in the cost model's unit."""

    start: Annotated[int, means("To begin, at the primary.")]
    reply: Annotated[int, means("For the reply, at the primary.")]
    push: Annotated[int, means("For the push, where the copy is made.")]
    at_primary: Annotated[int, means("start + reply")]


class RateJson(Struct, kw_only=True):
    """What so many units a second come to."""

    units_per_second: Annotated[Amount, means("Units of the cost model a second.")]
    iops: Annotated[Amount, means("Operations of 4 KiB a second.")]
    bytes_per_second: Annotated[Amount, means("Of operations of 4 MiB.")]
    objects_per_second: Annotated[Amount, means("Operations of 4 MiB a second, by size alone.")]
    recovered_per_second: Annotated[
        Amount, means("Objects of 4 MiB recovered a second, with all that one is charged at its primary.")
    ]


class AllocationJson(Struct, kw_only=True):
    """What one class is given."""

    class_: Annotated[ServiceClass, means("The class.")] = field(name="class")
    reservation_share: Annotated[Amount, means("Share of the capacity; 0 is none.")]
    weight: Annotated[Amount, means("By which what is left is divided.")]
    limit_share: Annotated[float | None, means("Share of the capacity; null is none.")]
    reservation: Annotated[RateJson | None, means("Of the OSD.")]
    limit: Annotated[RateJson | None, means("Of the OSD.")]
    reservation_per_shard: Annotated[RateJson | None, means("Of each queue.")]
    limit_per_shard: Annotated[RateJson | None, means("Of each queue.")]


class MessageClassJson(Struct, kw_only=True):
    """Which class a message falls in."""

    message: Annotated[str, means("The message.")]
    class_: Annotated[str, means("Its class.")] = field(name="class")
    note: Annotated[str, means("What to know of it.")]


class CompactionLoadJson(Struct, kw_only=True):
    """What flushes and compactions take of the device."""

    active_share: Annotated[float, means("Of the log's time.")]
    bytes_per_second: Annotated[float, means("Read and written while active.")]
    seconds: Annotated[float, means("Of log.")]


class OsdJson(Struct, kw_only=True):
    """One OSD's scheduler and what it gives to whom."""

    name: Annotated[str, means("The OSD.")]
    release: Annotated[str | None, means("Its Ceph.")]
    scheduler: Annotated[SettingJson | None, means("osd_op_queue.")]
    profile: Annotated[SettingJson | None, means("osd_mclock_profile.")]
    device: DeviceJson
    capacity_iops: Annotated[SettingJson | None, means("osd_mclock_max_capacity_iops_*.")]
    bandwidth_bytes_per_second: Annotated[SettingJson | None, means("osd_mclock_max_sequential_bandwidth_*.")]
    shards: Annotated[SettingJson | None, means("osd_op_num_shards.")]
    threads_per_shard: Annotated[SettingJson | None, means("osd_op_num_threads_per_shard.")]
    cutoff_priority: Annotated[int, means("From this priority on operations pass the scheduler by.")]
    max_backfills: Annotated[SettingJson | None, means("osd_max_backfills.")]
    recovery_max_active: Annotated[SettingJson | None, means("osd_recovery_max_active.")]
    bluestore_throttle_bytes: Annotated[SettingJson | None, means("bluestore_throttle_bytes.")]
    cost_model: Annotated[CostModelJson | None, means("Of the release; null for WPQ and where it is not known.")]
    recovery_charges: Annotated[RecoveryChargesJson | None, means("null for WPQ and where it is not known.")]
    profile_table: Annotated[str | None, means("Which release's set of built-in profiles the shares are of.")]
    shares_assumed: Annotated[bool | None, means("Whether shares were not shown but taken from the release's profile.")]
    allocation: Annotated[list[AllocationJson], means("By class; empty for WPQ.")]
    message_classes: Annotated[list[MessageClassJson], means("Which class a message falls in.")]
    compaction: Annotated[CompactionLoadJson | None, means("null without a log.")]


class QueueRecoveringJson(Struct, kw_only=True):
    """A queue with something to recover."""

    primary: Annotated[int, means("Its OSD.")]
    shard: Annotated[int, means("Its number in it.")]
    groups: Annotated[int, means("Placement groups that recover.")]
    objects: Annotated[int, means("Copies to be made.")]
    byte_count: Annotated[float, means("Bytes of them.")]


class ObservedRecoveryJson(Struct, kw_only=True):
    """A recovery that was seen."""

    source: Annotated[str, means("Where it was seen.")]
    points: Annotated[int, means("How often its state was told.")]
    objects_per_second: Annotated[float, means("Its rate.")]
    client_iops: Annotated[float | None, means("Of clients meanwhile.")]
    base_iops: Annotated[float | None, means("Of clients, over moments without recovery.")]


class ClusterJson(Struct, kw_only=True):
    """The cluster, as far as the bundle tells of it."""

    osds: Annotated[int | None, means("How many OSDs it has.")]
    pool_size: Annotated[int | None, means("Of most replicated pools.")]
    erasure_coded_pools: Annotated[list[int], means("By number.")]
    placement_groups_recovering: Annotated[int | None, means("Null without a dump.")]
    queues_recovering: Annotated[
        list[QueueRecoveringJson], means("Queues with something to recover, the longest first.")
    ]
    observed_recovery: Annotated[ObservedRecoveryJson | None, means("null where none was seen.")]


class QosFindingJson(Struct, kw_only=True):
    """What a rule saw, how sure it is, what proves it and what to do."""

    osd: OsdName
    code: Annotated[str, Meta(pattern=r"^Q\d\d$"), means("The rule, as `lsmlens explain` takes it.")]
    title: Annotated[str, means("What the rule is about.")]
    severity: Annotated[Severity, means("How much it matters.")]
    confidence: Annotated[Confidence, means("How sure it is that this means what it says.")]
    meaning: Annotated[str, means("What it means for this OSD.")]
    value: Annotated[str, means("As shown, with units.")]
    threshold: Annotated[str, means("From where on it is a finding, with its unit.")]
    threshold_source: Annotated[str, means("Where the threshold comes from.")]
    evidence: Annotated[list[EvidenceJson], means("What proves it.")]
    advice: Annotated[str, means("What to change.")]
    commands: Annotated[list[str], means("Commands to paste.")]
    risk: Annotated[str, means("What the change may cost.")]
    check: Annotated[str, means("How to see that the change worked.")]


class QosNotAssessedJson(Struct, kw_only=True):
    """A rule that could not be applied."""

    osd: OsdName
    code: Annotated[str, means("The rule.")]
    title: Annotated[str, means("What the rule is about.")]
    needs: Annotated[str, means("What it needs.")]


class MendedJson(Struct, kw_only=True):
    """The allocation, were the capacity right."""

    capacity_iops: Annotated[float, means("What the OSD's own benchmark gave.")]
    allocation: Annotated[list[AllocationJson], means("By class.")]


class ClosedFormJson(Struct, kw_only=True):
    """Recovery's time by charges and queues alone."""

    profile: Annotated[str, means("Under this profile.")]
    in_force: Annotated[bool, means("Whether it is the one in force.")]
    class_: Annotated[ServiceClass, means("The class that recovery is in.")] = field(name="class")
    bound: Annotated[Bound, means("What bounds it.")]
    recovery_seconds: Annotated[float, means("How long it takes.")]
    recovery_seconds_low: Annotated[float, means("At least.")]
    recovery_seconds_high: Annotated[float, means("At most.")]
    objects_per_second: Annotated[float, means("Its rate.")]
    client_iops: Annotated[float | None, means("HDDs: what recovery at this rate leaves to clients.")]


class LittlesLawJson(Struct, kw_only=True):
    """A client's result, checked: operations in flight are rate times latency."""

    source: Annotated[str, means("The file.")]
    operation: Annotated[str | None, means("read, write or trim.")]
    depth: Annotated[int, means("Operations in flight, as asked for.")]
    in_flight: Annotated[float, means("IOPS x mean latency.")]
    deviation: Annotated[float, means("Of the two, as a share.")]
    holds: Annotated[bool, means("Whether they agree.")]


class ClientFiguresJson(Struct, kw_only=True):
    """What clients get."""

    iops: Annotated[Amount, means("Operations a second.")]
    mean_seconds: Annotated[Amount, means("Mean latency.")]
    p95_seconds: Annotated[Amount, means("95th percentile of latency.")]


class CalibrationJson(Struct, kw_only=True):
    """What the simulation was fitted with to what was seen."""

    client: Annotated[float, means("Factor on clients' rate.")]
    recovery: Annotated[float, means("Factor on the rate of a recovery no limit bounds.")]
    source: Annotated[str, means("Empty where nothing was observed.")]
    note: Annotated[str, means("What to know of it.")]


class SimulatedJson(Struct, kw_only=True):
    """What was simulated."""

    osds: Annotated[int, means("OSDs.")]
    copies: Annotated[int, means("Copies of each object.")]
    hardware: Annotated[Literal["nvme", "hdd"], means("The devices.")]
    depth: Annotated[int, means("Clients' operations in flight.")]
    block_bytes: Annotated[int, means("Size of one.")]
    groups: Annotated[int, means("Placement groups.")]
    objects: Annotated[int, means("Objects to recover.")]
    object_bytes: Annotated[int, means("Size of one.")]
    facts: Annotated[list[str], means("What of this the bundle tells.")]
    assumptions: Annotated[list[str], means("What was assumed.")]


class CandidateSettingsJson(Struct, kw_only=True):
    """Settings that were simulated."""

    scheduler: Annotated[str, means("osd_op_queue.")]
    profile: Annotated[str, means("Empty for WPQ.")]
    max_backfills: Annotated[int, Meta(ge=1), means("osd_max_backfills.")]
    max_active: Annotated[int, Meta(ge=1), means("osd_recovery_max_active.")]
    shards: Annotated[int, Meta(ge=1), means("osd_op_num_shards.")]
    threads: Annotated[int, Meta(ge=1), means("osd_op_num_threads_per_shard.")]
    capacity: Annotated[float | None, means("IOPS; null for what is in force.")]
    is_current: Annotated[bool, means("Whether this is what is in force.")]


class CourseJson(Struct, kw_only=True):
    """A stretch of a simulated recovery."""

    seconds: Annotated[Amount, means("From the beginning of the recovery.")]
    client_iops: Annotated[Amount, means("Of clients.")]
    client_mean_seconds: Annotated[float | None, means("Of clients' operations.")]
    objects_per_second: Annotated[Amount, means("Of the recovery.")]


class SimulationJson(Struct, kw_only=True):
    """What a candidate would do, simulated."""

    settings: CandidateSettingsJson
    client_iops: Annotated[Amount, means("During the recovery.")]
    client_mean_seconds: Annotated[Amount, means("Clients' mean latency meanwhile.")]
    client_mean_error: Annotated[Amount, means("As a share, either way, as measured against the published study.")]
    client_p95_seconds: Annotated[float | None, means("Null on HDDs.")]
    recovery_seconds: Annotated[Amount, means("How long the recovery takes.")]
    recovery_seconds_low: Annotated[Amount, means("At least.")]
    recovery_seconds_high: Annotated[Amount, means("At most.")]
    recovery_objects_per_second: Annotated[Amount, means("Its rate.")]
    bound_by: Annotated[Literal["limit", "concurrency"], means("What bounds the recovery.")]
    on_front: Annotated[bool, means("No other candidate is better in both clients' mean and recovery's time.")]
    contended_share: Annotated[
        Amount, Meta(le=1), means("Part of the queues' turns in which the scheduler had something to order.")
    ]
    course: Annotated[list[CourseJson], means("Means over stretches of the recovery.")]


class QosRecommendationJson(Struct, kw_only=True):
    """Which settings to run with."""

    objective: Annotated[QosObjective, means("What counted most.")]
    pick: Annotated[Count, means("Place in predictions.")]
    reasons: Annotated[list[str], means("Why.")]
    commands: Annotated[list[str], means("Commands to paste.")]
    way_back: Annotated[list[str], means("Commands that undo them.")]
    needs_restart: Annotated[bool, means("Whether OSDs must be restarted.")]
    clients_alone: Annotated[ClientFiguresJson | None, means("Without a recovery.")]
    clients_alone_without_compactions: Annotated[ClientFiguresJson | None, means("Without either.")]
    calibration: CalibrationJson
    played: SimulatedJson
    predictions: Annotated[list[SimulationJson], means("What is in force first.")]


class QosJson(Struct, kw_only=True):
    """What `lsmlens qos --format json` prints."""

    schema: Annotated[Literal["lsmlens.qos/1"], means("The document's kind and version.")] = SCHEMA
    osds: Annotated[list[OsdJson], means("The OSDs the bundle tells of.")]
    cluster: ClusterJson
    findings: Annotated[list[QosFindingJson], means("Most severe first, of the cluster and then of each OSD.")]
    not_assessed: Annotated[list[QosNotAssessedJson], means("Rules that could not be applied.")]
    subject: Annotated[str, means("The OSD that mended allocation, closed forms and recommendation are of.")]
    mended: Annotated[MendedJson | None, means("null where the capacity in force is right.")]
    closed_forms: Annotated[list[ClosedFormJson], means("By profile.")]
    littles_law: Annotated[list[LittlesLawJson], means("By client's result.")]
    recommendation: Annotated[QosRecommendationJson | None, means("Null without simulation.")]


def to_json(assessment: QosAssessment) -> str:
    """The document as indented JSON text, ending in a newline; the same bytes for the same input."""
    return to_text(document(assessment))


def document(assessment: QosAssessment) -> QosJson:
    """Everything an assessment says."""
    view = assessment.view
    recovering = view.recovering
    return QosJson(
        osds=[_osd(osd) for osd in view.osds],
        cluster=ClusterJson(
            osds=view.osd_count,
            pool_size=view.material.cluster.size,
            erasure_coded_pools=list(view.material.cluster.erasure_coded),
            placement_groups_recovering=None if recovering is None else len(recovering),
            queues_recovering=[made_of(QueueRecoveringJson, load) for load in view.loads],
            observed_recovery=None if view.observed is None else made_of(ObservedRecoveryJson, view.observed),
        ),
        findings=[_finding(finding, one.subject) for one in assessment.diagnoses for finding in one.findings],
        not_assessed=[
            made_of(QosNotAssessedJson, rule, osd=one.subject)
            for one in assessment.diagnoses
            for rule in one.not_assessed
        ],
        subject=assessment.subject.name,
        mended=None
        if assessment.mended_capacity is None
        else MendedJson(
            capacity_iops=assessment.mended_capacity, allocation=[_allocation(one) for one in assessment.mended]
        ),
        closed_forms=[_form(form) for form in assessment.forms],
        littles_law=[made_of(LittlesLawJson, check) for check in view.littles_law],
        recommendation=None if assessment.recommendation is None else _recommendation(assessment.recommendation),
    )


def _osd(osd: OsdView) -> OsdJson:
    one = osd.in_force
    costs, shares = one.costs, one.shares
    return OsdJson(
        name=osd.name,
        release=".".join(map(str, one.release)) if one.release is not None else None,
        scheduler=_setting(one.scheduler),
        profile=_setting(one.profile),
        device=DeviceJson(kind=one.kind, source=one.kind_source),  # type: ignore[arg-type]
        capacity_iops=_setting(one.capacity),
        bandwidth_bytes_per_second=_setting(one.bandwidth),
        shards=_setting(one.shards),
        threads_per_shard=_setting(one.threads),
        cutoff_priority=one.cutoff,
        max_backfills=_setting(one.max_backfills),
        recovery_max_active=_setting(one.max_active),
        bluestore_throttle_bytes=_setting(one.throttle_bytes),
        cost_model=None
        if costs is None
        else made_of(CostModelJson, costs, cost_4kib=costs.cost(4096), cost_4mib=costs.cost(4 << 20)),
        recovery_charges=None if osd.charges is None else made_of(RecoveryChargesJson, osd.charges),
        profile_table=None if shares is None or shares.table is None else shares.table.name,
        shares_assumed=None if shares is None else shares.is_assumed,
        allocation=[_allocation(allotted) for allotted in osd.allocation],
        message_classes=[
            MessageClassJson(message=said.message, class_=said.service_class.value, note=said.note)
            for said in message_classes(one.release)
        ],
        compaction=None if osd.compaction is None else made_of(CompactionLoadJson, osd.compaction),
    )


def _setting(setting: QosSetting | None) -> SettingJson | None:
    if setting is None:
        return None
    return made_of(SettingJson, setting, option=setting.name, number=setting.real, set_by=setting.origin)


def _allocation(allotted: ClassAllocation) -> AllocationJson:
    return made_of(
        AllocationJson,
        allotted,
        class_=allotted.service_class,
        limit_share=allotted.limit_share or None,
        reservation=_rate(allotted.reservation),
        limit=_rate(allotted.limit),
        reservation_per_shard=_rate(allotted.reservation_per_shard),
        limit_per_shard=_rate(allotted.limit_per_shard),
    )


def _rate(rate: Rate | None) -> RateJson | None:
    return None if rate is None else made_of(RateJson, rate)


def _finding(finding: Finding, osd: str | None) -> QosFindingJson:
    evidence = [made_of(EvidenceJson, one) for one in finding.evidence]
    return made_of(QosFindingJson, finding, osd=osd, evidence=evidence, commands=list(finding.commands))


def _form(form: ProfileForm) -> ClosedFormJson:
    time = form.recovery
    return ClosedFormJson(
        profile=form.profile,
        in_force=form.is_current,
        class_=form.service_class,
        bound=time.bound,
        recovery_seconds=time.seconds,
        recovery_seconds_low=time.low,
        recovery_seconds_high=time.high,
        objects_per_second=time.objects_per_second,
        client_iops=form.client_iops,
    )


def _recommendation(one: QosRecommendation) -> QosRecommendationJson:
    model = one.model
    return made_of(
        QosRecommendationJson,
        one,
        pick=one.predictions.index(one.pick),
        reasons=list(one.reasons),
        commands=list(one.commands),
        way_back=list(one.way_back),
        clients_alone=_client(one.base),
        clients_alone_without_compactions=_client(one.base_without_compactions),
        calibration=made_of(CalibrationJson, one.calibration),
        played=SimulatedJson(
            osds=model.osds,
            copies=model.copies,
            hardware=model.hardware.name,  # type: ignore[arg-type]
            depth=model.client.depth,
            block_bytes=model.client.block_bytes,
            groups=len(model.groups),
            objects=model.objects,
            object_bytes=model.object_bytes,
            facts=list(model.facts),
            assumptions=list(model.assumptions),
        ),
        predictions=[_simulation(prediction) for prediction in one.predictions],
    )


def _client(figures: ClientFigures | None) -> ClientFiguresJson | None:
    return None if figures is None else made_of(ClientFiguresJson, figures)


def _simulation(one: QosPrediction) -> SimulationJson:
    return SimulationJson(
        settings=made_of(CandidateSettingsJson, one.candidate),
        client_iops=one.client_iops,
        client_mean_seconds=one.mean_seconds,
        client_mean_error=one.mean_error,
        client_p95_seconds=one.p95_seconds,
        recovery_seconds=one.recovery_seconds,
        recovery_seconds_low=one.recovery_low,
        recovery_seconds_high=one.recovery_high,
        recovery_objects_per_second=one.objects_per_second,
        bound_by="limit" if one.is_limited else "concurrency",
        on_front=one.is_on_front,
        contended_share=one.play.contended_share,
        course=[made_of(CourseJson, point) for point in one.play.course],
    )
