"""How recovering placement groups share the queues of their primaries: what decides how long recovery takes.

A group's operations wait in one queue of its primary, `seed % shards`; groups that meet in a queue share its limit.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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


def peak_by_chance(groups: int, primaries: int, shards: int, pool_groups: int | None = None) -> Peak:
    """The fullest queue of `primaries` OSDs with so many shards, out of random placements.

    `pool_groups` is how many groups the pool has, among which those that recover were chosen: a third more than them
    by default, as when one OSD of four comes back.
    """
    random = Random(SEED)
    pool = range(max(groups, pool_groups if pool_groups is not None else groups * 4 // 3))
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
