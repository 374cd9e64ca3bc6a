"""The cluster that candidates are tried on: as the bundle describes it, and what had to be assumed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from lsmlens.analyzer.numbers import percent, plain, size
from lsmlens.analyzer.qos.capacity_rules import COMPILED_DEFAULT, PLAUSIBLE
from lsmlens.analyzer.qos.log_lines import LineKind
from lsmlens.analyzer.qos.placement_groups import PlacementGroup
from lsmlens.analyzer.qos.service_classes import DEGRADED_PRIORITY, MISPLACED_PRIORITY, ServiceClass, recovery_class
from lsmlens.analyzer.qos.settings import Release
from lsmlens.analyzer.qos.view import OsdView, QosView
from lsmlens.tuners.qos.candidates import Candidate, Candidates
from lsmlens.tuners.qos.devices import spins_at_limit
from lsmlens.tuners.qos.hardware import HDD, NVME, OBJECT_BYTES, Hardware
from lsmlens.tuners.qos.scenario import Background, ClientLoad, RecoveringGroup, Recovery, Scenario

# Where the bundle does not say: the published study's cluster and load.
ASSUMED_OSDS, ASSUMED_COPIES, ASSUMED_DEPTH = 4, 3, 64
ASSUMED_GROUPS, ASSUMED_OBJECTS_PER_GROUP = 48, 500
# More OSDs than these are not played: one that gets copies, and those that push to it.
MOST_OSDS = 8
THROTTLE_BYTES = 64 << 20
# How long a simulation lasts, by the kind of device: some hundred objects, thousands of writes.
SIMULATED_SECONDS = {"hdd": 120.0, "nvme": 2.0}
START_SECONDS = {"hdd": 2.0, "nvme": 0.1}
SEED = 1


@dataclass(frozen=True, slots=True)
class ClusterModel:
    """What is played: hardware, clients and what recovers, in `groups` with their true numbers of objects.

    `facts` say what the bundle told, `assumptions` what it did not.
    """

    osds: int
    copies: int
    hardware: Hardware
    client: ClientLoad
    groups: tuple[RecoveringGroup, ...]
    object_bytes: int
    throttle_bytes: int
    background: Background | None
    is_placement_known: bool
    has_own_db: bool = False
    facts: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = field(default=())

    @property
    def objects(self) -> int:
        """Object copies to be made."""
        return sum(group.objects for group in self.groups)

    @property
    def seconds(self) -> float:
        """How long a simulation lasts."""
        return SIMULATED_SECONDS[self.hardware.name]

    def scenario(self, candidates: Candidates, candidate: Candidate, seed: int = SEED) -> Scenario:
        """A candidate's scenario, with objects in their true number."""
        return Scenario(
            osds=self.osds,
            hardware=self.hardware,
            scheduler=candidates.scheduler_of(candidate, self.object_bytes),
            throttle_bytes=self.throttle_bytes,
            client=self.client,
            recovery=Recovery(
                self.groups, candidate.max_backfills, candidate.max_active, START_SECONDS[self.hardware.name]
            ),
            background=self.background,
            seconds=self.seconds,
            seed=seed,
        )


def cluster_model(view: QosView, osd: OsdView, depth: int | None = None, osds: int | None = None) -> ClusterModel:
    """The cluster of a bundle; `depth` and `osds` override what it says of clients and size."""
    facts: list[str] = []
    assumed: list[str] = []
    hardware = _hardware(view, osd, facts, assumed)
    client = _client(view, depth, facts, assumed)
    count = osds or view.osd_count
    copies = view.material.cluster.size or ASSUMED_COPIES
    if view.material.cluster.size is None:
        assumed.append(f"{ASSUMED_COPIES} copies of each object")
    recovering = view.recovering or ()
    if recovering:
        groups, played, object_bytes = _known_groups(recovering, osd.in_force.release)
        facts.append(
            f"{len(groups)} groups recover {sum(group.objects for group in groups):,} object copies"
            f" (pg dump), on {played} OSDs"
        )
    else:
        played = min(MOST_OSDS, max(count or ASSUMED_OSDS, copies + 1))
        groups, object_bytes = _refill(osd, played, facts, assumed)
        if count is None or count < played:
            assumed.append(f"a cluster of {played} OSDs like this one")
    if count is not None and count > played:
        client = replace(client, depth=max(1, round(client.depth * played / count)))
        facts.append(f"{played} of {count} OSDs are played, with their share of the clients' depth")
    return ClusterModel(
        osds=max(played, copies),
        copies=copies,
        hardware=hardware,
        client=replace(client, replicas=min(copies, played)),
        groups=groups,
        object_bytes=object_bytes,
        throttle_bytes=int(_real(osd.in_force.throttle_bytes, THROTTLE_BYTES)),
        background=_background(osd, facts),
        is_placement_known=bool(recovering),
        has_own_db=osd.material.metadata is not None and osd.material.metadata.has_own_db,
        facts=tuple(facts),
        assumptions=tuple(assumed),
    )


def _hardware(view: QosView, osd: OsdView, facts: list[str], assumed: list[str]) -> Hardware:
    """The kind that the OSD's own benchmark or clients' results show, else the one that Ceph takes it for."""
    kind = osd.in_force.kind or "hdd"
    iops = _measured(view, osd)
    is_fast = kind == "ssd" if iops is None else iops > PLAUSIBLE["ssd"][0]
    hardware = NVME if is_fast else HDD
    if is_fast != (kind == "ssd"):
        facts.append(f"simulated as {hardware.name}: the device did {plain(iops)} writes a second")
    assumed.append(f"times of the published study's {'NVMe' if is_fast else 'HDDs'}")
    if osd.in_force.is_mclock and spins_at_limit(osd.in_force.release):
        facts.append("workers of queues at their limits keep a processor busy (before 17.2.4)")
        assumed.append(f"{hardware.processors_per_osd:g} hardware threads for each OSD")
    capacity = _real(osd.in_force.capacity, 0.0)
    low, high = PLAUSIBLE["hdd"]
    if hardware is HDD and low <= capacity <= high and capacity != COMPILED_DEFAULT["hdd"]:
        hardware = replace(hardware, small_write_seconds=1 / capacity)
        facts.append(f"a small write takes the device {1e3 / capacity:.1f} ms, by the capacity")
    return hardware


def _measured(view: QosView, osd: OsdView) -> float | None:
    """Small writes a second that one OSD did: by its own benchmark, else its part of what clients did."""
    bench = osd.material.last_line(LineKind.BENCH) or osd.material.last_line(LineKind.BENCH_REFUSED)
    if bench is not None:
        return bench.real("iops")
    writes = view.writes()
    if not writes or not view.osd_count:
        return None
    copies = min(view.osd_count, view.material.cluster.size or ASSUMED_COPIES)
    return max(one.iops or 0.0 for one in writes) * copies / view.osd_count


def _client(view: QosView, depth: int | None, facts: list[str], assumed: list[str]) -> ClientLoad:
    load = ClientLoad()
    writes = view.writes()
    if depth is not None:
        return replace(load, depth=depth)
    if writes:
        best = max(writes, key=lambda one: one.iops or 0.0)
        size, at_once = best.block_bytes or load.block_bytes, (best.depth or 0) * (best.processes or 1)
        facts.append(f"clients write {size} bytes at depth {at_once}, as in {best.source.rpartition('/')[2]}")
        return replace(load, depth=at_once, block_bytes=size)
    assumed.append(f"clients write 4 KiB at depth {ASSUMED_DEPTH}")
    return replace(load, depth=ASSUMED_DEPTH)


def _known_groups(
    recovering: Sequence[PlacementGroup], release: Release | None
) -> tuple[tuple[RecoveringGroup, ...], int, int]:
    """The groups of a dump, their OSDs numbered anew; of too many OSDs those around the fullest target."""
    moves = [
        (group, group.primary, target)
        for group in recovering
        if group.primary is not None
        for target in (group.targets or _missing(group))
    ]
    involved = {osd for _, primary, target in moves for osd in (primary, target)}
    if len(involved) > MOST_OSDS:
        fullest = Counter(target for _, _, target in moves).most_common(1)[0][0]
        moves = [move for move in moves if move[2] == fullest]
        primaries = [osd for osd, _ in Counter(primary for _, primary, _ in moves).most_common(MOST_OSDS - 1)]
        moves = [move for move in moves if move[1] in primaries]
        involved = {fullest, *primaries}
    number = {osd: place for place, osd in enumerate(sorted(involved))}
    byte_count = sum(group.byte_count for group, _, _ in moves)
    objects = sum(group.objects for group, _, _ in moves)
    object_bytes = max(1, round(byte_count / objects)) if objects else OBJECT_BYTES
    groups = tuple(
        RecoveringGroup(
            number[primary],
            number[target],
            group.seed,
            max(1, group.objects_to_recover // max(1, len(group.targets))),
            object_bytes,
            _class_of(group, release),
        )
        for group, primary, target in moves
    )
    return groups, len(involved), object_bytes


def _missing(group: PlacementGroup) -> tuple[int, ...]:
    """Where a degraded group's copies go that is not remapped: to members of its acting set that lack objects."""
    return tuple(osd for osd in group.acting if osd is not None and osd != group.primary)[-1:]


def _class_of(group: PlacementGroup, release: Release | None) -> ServiceClass:
    return recovery_class(MISPLACED_PRIORITY if group.is_only_misplaced else DEGRADED_PRIORITY, release)


def _refill(osd: OsdView, osds: int, facts: list[str], assumed: list[str]) -> tuple[tuple[RecoveringGroup, ...], int]:
    """What if: an OSD like this one is filled anew, by the others."""
    random = Random(SEED)
    count, per_group = ASSUMED_GROUPS, ASSUMED_OBJECTS_PER_GROUP
    dumps = sorted(osd.material.perf_dumps, key=lambda dump: dump.number("osd.stat_bytes_used") or 0)
    held = dumps[-1].number("osd.numpg") if dumps else None
    used = dumps[-1].number("osd.stat_bytes_used") if dumps else None
    if held and used:
        count = int(held)
        per_group = max(1, round(used / OBJECT_BYTES / count))
        facts.append(f"what if an OSD like this is refilled: {count} groups, {size(used)} (perf dump)")
    else:
        assumed.append(f"what if an OSD is refilled: {count} groups of {per_group} objects of 4 MiB")
    target = osds - 1
    service_class = recovery_class(DEGRADED_PRIORITY, osd.in_force.release)
    groups = tuple(
        RecoveringGroup(number % target, target, random.randrange(1 << 16), per_group, OBJECT_BYTES, service_class)
        for number in range(count)
    )
    return groups, OBJECT_BYTES


def _background(osd: OsdView, facts: list[str]) -> Background | None:
    load = osd.compaction
    if load is None or load.active_share <= 0:
        return None
    facts.append(
        f"compactions run {percent(load.active_share, 0)} of the time at"
        f" {size(load.bytes_per_second)}/s (the OSD's log)"
    )
    return Background(load.bytes_per_second, min(1.0, load.active_share))


def _real(setting: object, otherwise: float) -> float:
    value = getattr(setting, "real", None)
    return value if isinstance(value, int | float) and value else otherwise
