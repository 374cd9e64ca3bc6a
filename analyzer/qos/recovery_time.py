"""How long recovery takes, from charges and queues alone.

A class at its limit gets exactly that, whatever its reservation: a queue that conserves work reaches the limit at any
moment without a client's operation in it. So the time is that of the queue with the most to do,
(objects * charge of an object) / limit of one queue. A class without a limit may go as fast as devices and concurrency
let it; its reservation says how slow it can get while clients keep every queue full.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lsmlens.analyzer.qos.queue_loads import Peak, QueueLoad


class Bound(StrEnum):
    """What decides how long recovery takes."""

    LIMIT = "limit"
    RESERVATION = "reservation"


@dataclass(frozen=True, slots=True)
class RecoveryTime:
    """Seconds until all is recovered; `low` and `high` bound it, and are `seconds` where the queues are known.

    Of a class without limit it is the longest it can take, with clients in every queue.
    """

    seconds: float
    low: float
    high: float
    bound: Bound
    objects_per_second: float

    @property
    def is_exact(self) -> bool:
        """Whether the queues were known."""
        return self.low == self.high


# The charge of an object of so many bytes, in units of the cost model.
Charge = Callable[[float], float]


def recovery_time(
    loads: Sequence[QueueLoad], units_per_shard: float, charge: Charge, bound: Bound
) -> RecoveryTime | None:
    """The time with known queues, each of which gets so many units a second; None with nothing to recover."""
    objects = sum(load.objects for load in loads)
    if not objects or units_per_shard <= 0:
        return None
    seconds = max(load.objects * charge(load.object_bytes) for load in loads) / units_per_shard
    return RecoveryTime(seconds, seconds, seconds, bound, objects / seconds)


def recovery_time_by_chance(
    peak: Peak, groups: int, objects_per_group: float, units_per_shard: float, charge_of_object: float, bound: Bound
) -> RecoveryTime | None:
    """The time and its 90 % interval where groups fall on queues by chance; None with nothing to recover."""
    if not groups or objects_per_group <= 0 or units_per_shard <= 0:
        return None
    per_group = objects_per_group * charge_of_object / units_per_shard
    low, seconds, high = (count * per_group for count in (peak.low, peak.median, peak.high))
    return RecoveryTime(seconds, low, high, bound, groups * objects_per_group / seconds)


def objects_by(loads: Sequence[QueueLoad], units_per_shard: float, charge: Charge, seconds: float) -> float:
    """How many objects are recovered in the first so many seconds: each queue at its rate until it is done."""
    return sum(
        min(float(load.objects), seconds * units_per_shard / charge(load.object_bytes))
        for load in loads
        if load.objects
    )
