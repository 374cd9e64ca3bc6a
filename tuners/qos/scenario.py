"""A scenario: the cluster, settings and loads that a simulation plays."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lsmlens.analyzer.qos.cost_model import CostModel, RecoveryCharges
from lsmlens.analyzer.qos.service_classes import HIGH_PRIORITY, ServiceClass
from lsmlens.tuners.qos.dmclock import Share
from lsmlens.tuners.qos.hardware import OBJECT_BYTES, Hardware


@dataclass(frozen=True, slots=True)
class Scheduler:
    """The operation queue of every OSD.

    `shares` are per queue, in units of `costs`; empty for WPQ. `charges` are those of one recovered object. `spins`
    where a worker that waits for a limit keeps a processor busy, as up to 17.2.3.
    """

    shares: Mapping[ServiceClass, Share]
    costs: CostModel
    charges: RecoveryCharges
    shards: int
    threads_per_shard: int
    cutoff: int = HIGH_PRIORITY
    recovery_priority: int = 3
    recovery_cost_bytes: int = 20 << 20
    spins: bool = False

    @property
    def is_mclock(self) -> bool:
        """Whether this is mClock; WPQ otherwise."""
        return bool(self.shares)


@dataclass(frozen=True, slots=True)
class ClientLoad:
    """Clients that keep `depth` writes of `block_bytes` on their way, each to a random placement group."""

    depth: int = 64
    block_bytes: int = 4096
    replicas: int = 3
    placement_groups: int = 64


@dataclass(frozen=True, slots=True)
class RecoveringGroup:
    """A placement group that gets a copy on `target`, pushed by its primary; `seed` is its number in the pool."""

    primary: int
    target: int
    seed: int
    objects: int
    object_bytes: int = OBJECT_BYTES
    service_class: ServiceClass = ServiceClass.RECOVERY


@dataclass(frozen=True, slots=True)
class Recovery:
    """What is recovered, and how much of it at once.

    An OSD takes part in `max_backfills` groups as primary and as many as target, with `max_active` objects on their
    way as primary. Those that may begin at once do so within `start_seconds`, as after peering.
    """

    groups: tuple[RecoveringGroup, ...] = ()
    max_backfills: int = 1
    max_active: int = 10
    start_seconds: float = 0.3


@dataclass(frozen=True, slots=True)
class Background:
    """Writes of RocksDB's compactions, which no queue schedules: bursts at a rate, for a share of each period."""

    bytes_per_second: float
    duty: float
    period_seconds: float = 1.0
    piece_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a simulation plays, for so many seconds; the same twice for the same seed."""

    osds: int
    hardware: Hardware
    scheduler: Scheduler
    throttle_bytes: int
    client: ClientLoad | None = field(default_factory=ClientLoad)
    recovery: Recovery = field(default_factory=Recovery)
    background: Background | None = None
    seconds: float = 5.0
    seed: int = 1
