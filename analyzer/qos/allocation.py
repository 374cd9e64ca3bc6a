"""The allocation: what each class may and must get, in operations, bytes and objects a second.

A share of the capacity means so many units of the release's cost model a second, in each queue. What that is in
operations depends on their size: small ones are charged alike up to `crossover_bytes`, larger ones by their bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lsmlens.analyzer.qos.cost_model import CostModel, RecoveryCharges, recovery_charges
from lsmlens.analyzer.qos.in_force import SchedulerInForce
from lsmlens.analyzer.qos.service_classes import SCHEDULED, ServiceClass
from lsmlens.analyzer.qos.settings import Settings

SMALL_BYTES = 4096
OBJECT_BYTES = 4 << 20
# Beyond copying its bytes, what an object costs a device: seeks, and the transaction's small writes.
OVERHEAD_SECONDS = 12.9e-3
# Without a fast device for WAL and database, as the same row on plain HDDs has it.
OVERHEAD_SECONDS_ON_ONE_DEVICE = 79.3e-3


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate in units of the cost model a second, and what it comes to.

    `iops` are operations of 4 KiB, `bytes_per_second` those of operations of 4 MiB, `objects_per_second` such
    operations; `recovered_per_second` counts all that a recovered object of 4 MiB is charged.
    """

    units_per_second: float
    iops: float
    bytes_per_second: float
    objects_per_second: float
    recovered_per_second: float


@dataclass(frozen=True, slots=True)
class ClassAllocation:
    """What one class gets. A reservation or limit that is none is None.

    The first two rates are the OSD's, the others one queue's.
    """

    service_class: ServiceClass
    reservation_share: float
    weight: float
    limit_share: float
    reservation: Rate | None
    limit: Rate | None
    reservation_per_shard: Rate | None
    limit_per_shard: Rate | None


def charges_in_force(settings: Settings, costs: CostModel, object_bytes: float = OBJECT_BYTES) -> RecoveryCharges:
    """What one recovered object is charged on an OSD with these settings."""

    def number(name: str, otherwise: float) -> float:
        setting = settings[name]
        return setting.real if setting is not None and setting.real is not None else otherwise

    return recovery_charges(
        costs,
        object_bytes,
        number("osd_recovery_cost", 20 << 20),
        number("osd_push_per_object_cost", 1000) + number("osd_recovery_max_chunk", 8 << 20),
    )


def allocation_of(in_force: SchedulerInForce, charges: RecoveryCharges | None) -> tuple[ClassAllocation, ...]:
    """The allocation of each class; empty for WPQ, which has none, and where too little is known."""
    shares = None if in_force.shares is None else in_force.shares.classes
    costs, units, shards = in_force.costs, in_force.capacity_units, in_force.shard_count
    if shares is None or costs is None or charges is None or units is None or not shards:
        return ()

    def rate(share: float, queues: int) -> Rate | None:
        return _rate(share * units / queues, costs, charges) if share > 0 else None

    return tuple(
        ClassAllocation(
            one,
            shares[one].reservation,
            shares[one].weight,
            shares[one].limit,
            rate(shares[one].reservation, 1),
            rate(shares[one].limit, 1),
            rate(shares[one].reservation, shards),
            rate(shares[one].limit, shards),
        )
        for one in SCHEDULED
    )


def _rate(units: float, costs: CostModel, charges: RecoveryCharges) -> Rate:
    objects = units / costs.cost(OBJECT_BYTES)
    return Rate(units, units / costs.cost(SMALL_BYTES), objects * OBJECT_BYTES, objects, units / charges.at_primary)


def of_class(allocation: Sequence[ClassAllocation], service_class: ServiceClass) -> ClassAllocation | None:
    """One class's allocation."""
    return next((one for one in allocation if one.service_class is service_class), None)


def seconds_per_object(bytes_per_second: float, has_own_db: bool, object_bytes: float = OBJECT_BYTES) -> float:
    """An HDD's seconds for one recovered object.

    Fitted on one row of the published study (WPQ without limits, HDD with WAL and database on NVMe: 146 of 340 IOPS at
    14.4 objects/s): 39.6 ms, of which 26.7 ms are 4 MiB at 150 MiB/s.
    """
    overhead = OVERHEAD_SECONDS if has_own_db else OVERHEAD_SECONDS_ON_ONE_DEVICE
    return object_bytes / bytes_per_second + overhead


def client_iops(base_iops: float, objects_per_second: float, object_seconds: float) -> float:
    """What is left for clients at a rate of recovery; nothing once recovery takes all the time.

    IOPS = base * (1 - objects per second * seconds per object), `base` without recovery. Rates are of the cluster; the
    seconds are those of the OSD that gets the objects, for it is in most writes and its device is the first without
    time.
    """
    return base_iops * (1 - min(1.0, objects_per_second * object_seconds))
