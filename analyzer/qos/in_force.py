"""What schedules an OSD's operations: scheduler, profile, capacity, queues, and where each was read."""

from dataclasses import dataclass, replace

from lsmlens.analyzer.qos.cost_model import CostModel, byte_costs, counts_bytes, unit_costs
from lsmlens.analyzer.qos.log_lines import LineKind
from lsmlens.analyzer.qos.material import OsdMaterial
from lsmlens.analyzer.qos.profiles import (
    BUILT_IN,
    CUSTOM,
    LEAST_UNITS,
    NO_LIMIT_UNITS,
    Allotment,
    Allotments,
    ProfileTable,
    matching_table,
    table_of_release,
)
from lsmlens.analyzer.qos.service_classes import SCHEDULED, ServiceClass
from lsmlens.analyzer.qos.settings import QosSetting, Release, Settings, default_of

OPTION_OF_CLASS = {
    ServiceClass.CLIENT: "client",
    ServiceClass.RECOVERY: "background_recovery",
    ServiceClass.BEST_EFFORT: "background_best_effort",
}
PARTS = ("res", "wgt", "lim")
MCLOCK = "mclock_scheduler"
WPQ = "wpq"
# As the log of 16 and earlier calls it.
_WPQ_NAMES = ("WeightedPriorityQueue", "ClassedOpQueueScheduler", "wpq")


@dataclass(frozen=True, slots=True)
class AllotmentsInForce:
    """Shares of the capacity by class, and where they were read.

    `table` is the set of built-in profiles they are of: it says what another profile would be. None where none agrees.
    `is_assumed` where they are not shown, but what the release's profile has.
    """

    classes: Allotments
    source: str
    table: ProfileTable | None
    is_assumed: bool = False


def allotments_in_force(
    settings: Settings, release: Release | None, profile: str, units_per_shard: float | None
) -> AllotmentsInForce | None:
    """Those shown; from 17.2.7 on else those of the release's profile; None where neither is to be had."""
    is_bytes = counts_bytes(release)
    found = _shown(settings, is_bytes, units_per_shard)
    if found is not None:
        classes, source = found
        table = None
        if profile in BUILT_IN and units_per_shard:
            table = matching_table(profile, classes, is_bytes, units_per_shard)
        elif profile == CUSTOM:
            table = table_of_release(release)
        return AllotmentsInForce(classes, source, table)
    table = table_of_release(release)
    if table is None or profile not in BUILT_IN:
        return None
    return AllotmentsInForce(table.profiles[profile], f"{profile} of the release's profiles", table, is_assumed=True)


def option_name(service_class: ServiceClass, part: str) -> str:
    """The option of a class's reservation (`res`), weight (`wgt`) or limit (`lim`)."""
    return f"osd_mclock_scheduler_{OPTION_OF_CLASS[service_class]}_{part}"


def _shown(settings: Settings, is_bytes: bool, units: float | None) -> tuple[Allotments, str] | None:
    """What config show says: shares of the capacity, or in older releases units a second of one queue."""
    found: dict[ServiceClass, Allotment] = {}
    source = ""
    for service_class in SCHEDULED:
        numbers = []
        for part in PARTS:
            name = option_name(service_class, part)
            setting = settings[name] if name in settings.shown_names else None
            if setting is None or setting.real is None:
                return None
            numbers.append(setting.real)
            source = setting.source
        reservation, weight, limit = numbers
        if not is_bytes:
            if not units:
                return None
            reservation = 0.0 if reservation <= LEAST_UNITS else reservation / units
            limit = 0.0 if limit >= NO_LIMIT_UNITS else limit / units
        found[service_class] = Allotment(reservation, weight, limit)
    return found, source


@dataclass(frozen=True, slots=True)
class SchedulerInForce:
    """What schedules an OSD's operations. None is what the bundle does not say.

    Each setting has its value, source and origin. `kind` is `hdd` or `ssd`, by the flag that Ceph goes by. `shares`
    are what classes get under mClock.
    """

    release: Release | None
    scheduler: QosSetting | None
    profile: QosSetting | None = None
    kind: str | None = None
    kind_source: str = ""
    capacity: QosSetting | None = None
    bandwidth: QosSetting | None = None
    shards: QosSetting | None = None
    threads: QosSetting | None = None
    cutoff: int = 196
    costs: CostModel | None = None
    shares: AllotmentsInForce | None = None
    max_backfills: QosSetting | None = None
    max_active: QosSetting | None = None
    throttle_bytes: QosSetting | None = None

    @property
    def is_mclock(self) -> bool:
        """Whether mClock is in force."""
        return self.scheduler is not None and self.scheduler.value == MCLOCK

    @property
    def is_wpq(self) -> bool:
        """Whether WPQ is in force."""
        return self.scheduler is not None and self.scheduler.value == WPQ

    @property
    def shard_count(self) -> int | None:
        """How many queues the OSD has."""
        return int(self.shards.real) if self.shards is not None and self.shards.real else None

    @property
    def thread_count(self) -> int | None:
        """How many workers serve each queue."""
        return int(self.threads.real) if self.threads is not None and self.threads.real else None

    @property
    def capacity_units(self) -> float | None:
        """The OSD's capacity in the cost model's units a second: operations, or bytes."""
        setting = self.bandwidth if counts_bytes(self.release) else self.capacity
        return None if setting is None else setting.real

    @property
    def capacity_units_per_shard(self) -> float | None:
        """The capacity of one queue, in the cost model's units a second."""
        units, shards = self.capacity_units, self.shard_count
        return None if units is None or not shards else units / shards


def scheduler_in_force(osd: OsdMaterial, settings: Settings) -> SchedulerInForce:
    """What schedules an OSD's operations."""
    release = settings.release
    kind, kind_source = _kind(osd, settings)
    scheduler = _scheduler(osd, settings)
    base = SchedulerInForce(
        release,
        scheduler,
        kind=kind,
        kind_source=kind_source,
        shards=_shards(osd, settings, kind),
        threads=_of_kind(settings, "osd_op_num_threads_per_shard", kind),
        cutoff=_cutoff(osd, settings),
        max_backfills=settings["osd_max_backfills"],
        max_active=_of_kind(settings, "osd_recovery_max_active", kind),
        throttle_bytes=settings["bluestore_throttle_bytes"],
    )
    if not base.is_mclock:
        return base
    capacity, bandwidth = _capacity(osd, settings, kind), _bandwidth(osd, settings, kind)
    mclock = replace(
        base,
        profile=settings["osd_mclock_profile"],
        capacity=capacity,
        bandwidth=bandwidth,
        costs=_costs(settings, kind, capacity, bandwidth),
    )
    profile = mclock.profile.value if mclock.profile is not None else ""
    said = allotments_in_force(settings, release, profile, mclock.capacity_units_per_shard)
    return mclock if said is None else replace(mclock, shares=said)


def _scheduler(osd: OsdMaterial, settings: Settings) -> QosSetting | None:
    """By the line every shard writes at the start, by the queues' dump, else by the option."""
    option = settings["osd_op_queue"]
    line = osd.last_line(LineKind.SCHEDULER)
    default = default_of("osd_op_queue", settings.release)
    if line is not None:
        name = WPQ if {line.values["scheduler"], line.values.get("queue")} & set(_WPQ_NAMES) else MCLOCK
        said = "set" if option is None else option.origin
        source = f"{line.source}:{line.number}" if line.number is not None else line.source
        return QosSetting("osd_op_queue", name, source, said, default)
    if osd.queue_states:
        source, states = osd.queue_states[-1]
        return QosSetting("osd_op_queue", states[0].scheduler, source, "" if option is None else option.origin, default)
    return option


def _kind(osd: OsdMaterial, settings: Settings) -> tuple[str | None, str]:
    """Whether Ceph takes the device for rotating, and where that was read."""
    if osd.metadata is not None and osd.metadata.rotational is not None:
        return ("hdd" if osd.metadata.rotational else "ssd"), osd.metadata_source
    line = osd.last_line(LineKind.DEVICE)
    if line is not None:
        return ("hdd" if line.values["kind"] == "rotational" else "ssd"), f"{line.source}:{line.number}"
    # Up to 17.2.6 the other kind's capacity is set to 0.
    for kind, other in (("hdd", "ssd"), ("ssd", "hdd")):
        zero = settings[f"osd_mclock_max_capacity_iops_{other}"]
        if zero is not None and zero.real == 0:
            return kind, zero.source
    return None, ""


def _of_kind(settings: Settings, name: str, kind: str | None) -> QosSetting | None:
    """An option that has a value of its own for HDDs and SSDs, unless the common one is set (not 0)."""
    common = settings[name]
    if common is not None and common.real:
        return common
    return settings[f"{name}_{kind}"] if kind is not None else None


def _shards(osd: OsdMaterial, settings: Settings, kind: str | None) -> QosSetting | None:
    """By the shards that were logged at the last start, else by the option."""
    option = _of_kind(settings, "osd_op_num_shards", kind)
    if settings.is_shown and option is not None:
        return option
    lines = osd.lines_of(LineKind.SCHEDULER)
    numbers = {line.values["shard"] for line in lines if line.values.get("shard") is not None}
    if numbers:
        name = option.name if option is not None else "osd_op_num_shards"
        origin = "" if option is None else option.origin
        return QosSetting(name, str(len(numbers)), lines[-1].source, origin, option.default if option else None)
    if osd.queue_states:
        source, states = osd.queue_states[-1]
        return QosSetting("osd_op_num_shards", str(len(states)), source, "")
    return option


def _cutoff(osd: OsdMaterial, settings: Settings) -> int:
    line = osd.last_line(LineKind.SCHEDULER)
    if line is not None and line.values.get("cutoff"):
        return int(line.values["cutoff"])
    option = settings["osd_op_queue_cut_off"]
    return 64 if option is not None and option.value == "low" else 196


def _capacity(osd: OsdMaterial, settings: Settings, kind: str | None) -> QosSetting | None:
    name = f"osd_mclock_max_capacity_iops_{kind}"
    option = settings[name] if kind is not None else None
    if settings.is_shown:
        return option
    refused = osd.last_line(LineKind.BENCH_REFUSED)
    if refused is not None:
        source = f"{refused.source}:{refused.number}"
        return QosSetting(
            name, refused.values["unchanged"], source, "benchmark refused", option.default if option else None
        )
    line = osd.last_line(LineKind.CAPACITY)
    if line is not None:
        per_io, per_shard = line.real("bytes_per_io"), line.real("bytes_per_shard")
        shards = _shards(osd, settings, kind)
        iops = line.real("iops_per_shard")
        if shards is not None and shards.real:
            found = iops * shards.real if iops is not None else None
            if per_io and per_shard:
                found = per_shard * shards.real / per_io
            if found is not None:
                return QosSetting(
                    name, f"{found:.6g}", f"{line.source}:{line.number}", "", option.default if option else None
                )
    return option


def _bandwidth(osd: OsdMaterial, settings: Settings, kind: str | None) -> QosSetting | None:
    if kind is None or not counts_bytes(settings.release):
        return None
    option = settings[f"osd_mclock_max_sequential_bandwidth_{kind}"]
    line, shards = osd.last_line(LineKind.CAPACITY), _shards(osd, settings, kind)
    if not settings.is_shown and line is not None and shards is not None and shards.real:
        per_shard = line.real("bytes_per_shard")
        if per_shard is not None:
            name = f"osd_mclock_max_sequential_bandwidth_{kind}"
            source = f"{line.source}:{line.number}"
            return QosSetting(name, f"{per_shard * shards.real:.0f}", source, "", option.default if option else None)
    return option


def _costs(
    settings: Settings, kind: str | None, capacity: QosSetting | None, bandwidth: QosSetting | None
) -> CostModel | None:
    if kind is None:
        return None
    if counts_bytes(settings.release):
        if capacity is None or bandwidth is None or capacity.real is None or bandwidth.real is None:
            return None
        return byte_costs(bandwidth.real, capacity.real)
    per_io = _of_kind(settings, "osd_mclock_cost_per_io_usec", kind)
    per_byte = _of_kind(settings, "osd_mclock_cost_per_byte_usec", kind)
    return unit_costs(kind, per_io.real if per_io else None, per_byte.real if per_byte else None)
