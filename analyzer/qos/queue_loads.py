"""How recovering placement groups share the queues of their primaries: what decides how long recovery takes.

A group's operations wait in one queue of its primary, `seed % shards`; groups that meet in a queue share its limit.

A class at its limit gets exactly that, whatever its reservation: a queue that conserves work reaches the limit at any
moment without a client's operation in it. So recovery takes the time of the queue with the most to do,
(objects * charge of an object) / limit of one queue. A class without a limit may go as fast as devices and concurrency
let it; its reservation says how slow it can get while clients keep every queue full.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from lsmlens.analyzer.qos.placement_groups import PlacementGroup

SEED = 1
DRAWS = 2000
PERCENTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True, slots=True)
class QueueLoad:
    """What one queue of a primary has to recover: groups, object copies and their bytes."""

    primary: int
    shard: int
    groups: int
    objects: int
    byte_count: float

    @property
    def object_bytes(self) -> float:
        """Mean bytes of an object."""
        return self.byte_count / self.objects if self.objects else 0.0


@dataclass(frozen=True, slots=True)
class Peak:
    """Groups in the fullest queue when groups fall on queues by chance: 5th, 50th and 95th percentile."""

    low: int
    median: int
    high: int


def queue_loads(groups: Iterable[PlacementGroup], shards: int) -> tuple[QueueLoad, ...]:
    """The loads of all queues that have any, the longest first."""
    counts: Counter[tuple[int, int]] = Counter()
    objects: defaultdict[tuple[int, int], int] = defaultdict(int)
    sizes: defaultdict[tuple[int, int], float] = defaultdict(float)
    for group in groups:
        if not group.recovers or group.primary is None:
            continue
        queue = (group.primary, group.seed % shards)
        counts[queue] += 1
        objects[queue] += group.objects_to_recover
        sizes[queue] += group.objects_to_recover * group.object_bytes
    loads = [QueueLoad(*queue, count, objects[queue], sizes[queue]) for queue, count in counts.items()]
    return tuple(sorted(loads, key=lambda load: (-load.byte_count, -load.objects, load.primary, load.shard)))


def peak_by_chance(groups: int, primaries: int, shards: int) -> Peak:
    """The fullest queue of `primaries` OSDs with so many shards, out of random placements.

    They are chosen among a third more, as when one OSD of four comes back.
    """
    random = Random(SEED)
    pool = range(groups * 4 // 3)
    peaks = sorted(
        max(Counter((random.randrange(primaries), seed % shards) for seed in random.sample(pool, groups)).values())
        for _ in range(DRAWS)
    )
    return Peak(*(peaks[int(share * (DRAWS - 1))] for share in PERCENTILES))


def imbalance(loads: Sequence[QueueLoad]) -> float | None:
    """Groups of the fullest queue / mean of the queues that have any; None without any."""
    if not loads:
        return None
    return max(load.groups for load in loads) * len(loads) / sum(load.groups for load in loads)


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
