"""How long the stages of operations take, by class of operation: between two events, and by what was waited for.

The operations in a dump are a choice: the slowest of the last ten minutes and those beyond a threshold, not all
(osd_op_history_size, osd_op_history_duration). Their figures compare stages with each other, not OSDs.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lsmlens.analyzer.clients.operations import Operation, OperationClass
from lsmlens.analyzer.clients.stages import StageGroup


@dataclass(frozen=True, slots=True)
class Durations:
    """Durations in seconds. Percentiles are by nearest rank: a duration that occurred."""

    count: int
    total_seconds: float
    mean_seconds: float
    p50_seconds: float
    p95_seconds: float
    p99_seconds: float
    max_seconds: float


@dataclass(frozen=True, slots=True)
class StageTime:
    """One pair of consecutive events; counted as often as it occurred, which may be twice in one operation."""

    since: str
    until: str
    group: StageGroup
    durations: Durations


@dataclass(frozen=True, slots=True)
class GroupTime:
    """All stages of one group, added up in each operation that has any.

    `share` is the group's sum / the sum of all stages of the class; None where that is 0.
    """

    group: StageGroup
    durations: Durations
    share: float | None


@dataclass(frozen=True, slots=True)
class StageTimes:
    """The operations of one class: the whole, and its parts, most time first."""

    operation_class: OperationClass
    operations: int
    whole: Durations | None
    stages: tuple[StageTime, ...]
    groups: tuple[GroupTime, ...]

    @property
    def longest_stage(self) -> StageTime | None:
        """The stage that holds the most time in sum; None without stages."""
        return self.stages[0] if self.stages else None

    @property
    def longest_group(self) -> GroupTime | None:
        """The group that holds the most time in sum; None without stages."""
        return self.groups[0] if self.groups else None


def measure_stages(operations: Iterable[Operation]) -> tuple[StageTimes, ...]:
    """Stage times of each class that occurs, in the order of `OperationClass`."""
    by_class: dict[OperationClass, list[Operation]] = defaultdict(list)
    for operation in operations:
        by_class[operation.operation_class].append(operation)
    return tuple(_measure(one, by_class[one]) for one in OperationClass if one in by_class)


def durations_of(seconds: Sequence[float]) -> Durations | None:
    """Statistics of durations; None for none."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    total = math.fsum(ordered)

    def rank(share: float) -> float:
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)]

    return Durations(len(ordered), total, total / len(ordered), rank(0.5), rank(0.95), rank(0.99), ordered[-1])


def _measure(operation_class: OperationClass, operations: Sequence[Operation]) -> StageTimes:
    pairs: dict[tuple[str, str, StageGroup], list[float]] = defaultdict(list)
    groups: dict[StageGroup, list[float]] = defaultdict(list)
    for operation in operations:
        in_groups: dict[StageGroup, float] = defaultdict(float)
        for stage in operation.stages:
            pairs[stage.since, stage.until, stage.group].append(stage.seconds)
            in_groups[stage.group] += stage.seconds
        for group, seconds in in_groups.items():
            groups[group].append(seconds)
    whole = [operation.duration_seconds for operation in operations if operation.duration_seconds is not None]
    total = math.fsum(sum(seconds) for seconds in groups.values())
    stages = [StageTime(*pair, durations) for pair, seconds in pairs.items() if (durations := durations_of(seconds))]
    shares = [
        GroupTime(group, durations, durations.total_seconds / total if total else None)
        for group, seconds in groups.items()
        if (durations := durations_of(seconds))
    ]
    return StageTimes(
        operation_class,
        len(operations),
        durations_of(whole),
        tuple(sorted(stages, key=lambda stage: -stage.durations.total_seconds)),
        tuple(sorted(shares, key=lambda group: -group.durations.total_seconds)),
    )
