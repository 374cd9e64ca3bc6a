"""The view that rules and reports have of a bundle: each OSD with what is in force on it, and the cluster.

Results of load programs are checked by Little's law: IOPS * mean latency = operations in flight. A closed loop keeps
`depth` operations on their way in each of its processes. A result that says otherwise is of another length of time than
it claims, of a rate-limited load, or of something else altogether, and no figure of it should be built on. fio's
completion latency leaves submission out, so a result may fall a little short.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
from lsmlens.analyzer.clients.client_results import ClientResult
from lsmlens.analyzer.qos.allocation import ClassAllocation, allocation_of, charges_in_force
from lsmlens.analyzer.qos.cost_model import RecoveryCharges
from lsmlens.analyzer.qos.in_force import SchedulerInForce, scheduler_in_force
from lsmlens.analyzer.qos.log_lines import LineKind, QosLine
from lsmlens.analyzer.qos.material import OsdMaterial, QosMaterial
from lsmlens.analyzer.qos.observed_recovery import ObservedRecovery, observed_recovery
from lsmlens.analyzer.qos.placement_groups import PlacementGroup
from lsmlens.analyzer.qos.queue_loads import QueueLoad, queue_loads
from lsmlens.analyzer.qos.settings import Settings
from lsmlens.analyzer.runs.jobs import COMPACTION
from lsmlens.analyzer.runs.run import Run
from lsmlens.analyzer.units import MICROS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lsmlens.analyzer.counters.counter_summary import CounterSummary

# Ours: the published study's rows agree within 3 %; submission and warm-up may take some per cent more.
TOLERANCE = 0.10


@dataclass(frozen=True, slots=True)
class CompactionLoad:
    """How much of the log's time compactions ran, and the bytes they read and wrote a second while they did.

    What they read is told by the files' sizes before (`input_data_size`); the operating system's cache may have had it.
    """

    active_share: float
    bytes_per_second: float
    seconds: float


def compaction_load(run: Run) -> CompactionLoad | None:
    """The load in a run's log; None where it has no compaction whose start and end are both known."""
    jobs = run.jobs.filter(pl.col("kind") == COMPACTION, pl.col("started_at") <= pl.col("finished_at"))
    times = jobs.select(pl.col("started_at", "finished_at").to_physical())
    moved_bytes = sum(jobs.select(pl.col("output_bytes", "input_bytes").sum()).row(0))
    length = (run.last_event_micros or 0) - (run.first_event_micros or 0)
    active = _union(list(times.iter_rows()))
    if not active or not length:
        return None
    return CompactionLoad(active / length, moved_bytes * MICROS / active, length / MICROS)


def _union(intervals: list[tuple[int, int]]) -> int:
    """How long at least one interval lasts."""
    total, reached = 0, 0
    for begin, end in sorted(intervals):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


@dataclass(frozen=True, slots=True)
class LittleCheck:
    """A result's operations on their way, as it says (`depth`) and as its figures come to (`in_flight`)."""

    source: str
    operation: str | None
    depth: int
    in_flight: float

    @property
    def deviation(self) -> float:
        """By what share the figures are off."""
        return self.in_flight / self.depth - 1

    @property
    def holds(self) -> bool:
        """Whether the figures agree with the depth."""
        return abs(self.deviation) <= TOLERANCE


def check_littles_law(result: ClientResult) -> LittleCheck | None:
    """The check of one result; None where it lacks a figure, or was cut."""
    if not result.is_complete or not result.depth or not result.iops or not result.latency_mean_seconds:
        return None
    depth = result.depth * (result.processes or 1)
    return LittleCheck(result.source, result.operation, depth, result.iops * result.latency_mean_seconds)


@dataclass(frozen=True, slots=True)
class QueueLengths:
    """Operations in an OSD's queues at one moment, by class, shards added up; `scheduled` are all below the strict."""

    source: str
    immediate: int
    scheduled: int
    recovery: int | None = None
    best_effort: int | None = None


@dataclass(frozen=True, slots=True)
class OsdView:
    """One OSD: its material, its settings, what schedules it and what that allots.

    `counters` are those of its last life up to the last dump, `intervals` what was counted between each two dumps of
    one life. `queues` are the queues' lengths at each moment they were dumped.
    """

    material: OsdMaterial
    settings: Settings
    in_force: SchedulerInForce
    charges: RecoveryCharges | None
    allocation: tuple[ClassAllocation, ...]
    compaction: CompactionLoad | None
    counters: "CounterSummary | None"
    intervals: "tuple[CounterSummary, ...]"
    queues: tuple[QueueLengths, ...]

    @property
    def name(self) -> str:
        """The OSD's name."""
        return self.material.name

    @property
    def number(self) -> str:
        """Its number, `N` where that is not known."""
        return self.material.number

    @property
    def has_recovered(self) -> bool:
        """Whether its counters say that it recovered objects."""
        return any((one.recovery_operations or 0) > 0 for one in (*self.intervals, self.counters) if one is not None)


@dataclass(frozen=True, slots=True)
class QosView:
    """A bundle: its OSDs, and what is the cluster's. `loads` are the queues that recover, where a dump tells."""

    material: QosMaterial
    osds: tuple[OsdView, ...]
    loads: tuple[QueueLoad, ...]
    observed: ObservedRecovery | None
    littles_law: tuple[LittleCheck, ...]

    @property
    def recovering(self) -> tuple[PlacementGroup, ...] | None:
        """The groups that recover or wait for it; None where no dump tells."""
        groups = self.material.placement_groups
        return None if groups is None else tuple(group for group in groups if group.recovers)

    @property
    def recovery_is_known(self) -> bool:
        """Whether anything says if there was recovery."""
        return (
            self.recovering is not None
            or self.observed is not None
            or any(osd.counters is not None for osd in self.osds)
        )

    @property
    def has_recovery(self) -> bool:
        """Whether something was recovered, or had to be."""
        return bool(self.recovering) or self.observed is not None or any(osd.has_recovered for osd in self.osds)

    @property
    def osd_count(self) -> int | None:
        """How many OSDs the cluster has; None where nothing says it."""
        return self.material.cluster.osds

    @property
    def scheduler(self) -> SchedulerInForce:
        """What schedules the first OSD: what the cluster is taken to run where only one is asked for."""
        return self.osds[0].in_force

    def lines_of(self, kind: LineKind) -> tuple[QosLine, ...]:
        """Lines of the cluster."""
        return tuple(line for line in self.material.cluster_lines if line.kind is kind)

    def writes(self) -> "Sequence[ClientResult]":
        """Results of small writes at depth, which say what the cluster can do."""
        return [
            result
            for result in self.material.client_results
            if result.operation == "write"
            and (result.block_bytes or 0) <= SMALL_WRITE_BYTES
            and (result.depth or 0) >= LEAST_DEPTH
            and result.iops
            and result.is_complete
        ]


SMALL_WRITE_BYTES = 8192
LEAST_DEPTH = 8


def view_of(material: QosMaterial) -> QosView:
    """Everything that is known, put together."""
    osds = tuple(_osd_view(osd, material) for osd in material.osds)
    shards = next((osd.in_force.shard_count for osd in osds if osd.in_force.shard_count), None)
    groups = material.placement_groups or ()
    checks = (check_littles_law(result) for result in material.client_results)
    return QosView(
        material,
        osds,
        queue_loads(groups, shards) if shards else (),
        observed_recovery(material.cluster_lines, material.statuses),
        tuple(check for check in checks if check is not None),
    )


def _osd_view(osd: OsdMaterial, material: QosMaterial) -> OsdView:
    settings = Settings(osd, material)
    in_force = scheduler_in_force(osd, settings)
    charges = charges_in_force(settings, in_force.costs) if in_force.costs is not None else None
    counters, intervals, queues = _counted(osd)
    return OsdView(
        osd,
        settings,
        in_force,
        charges,
        allocation_of(in_force, charges),
        compaction_load(osd.run.run) if osd.run is not None else None,
        counters,
        intervals,
        queues,
    )


def _counted(
    osd: OsdMaterial,
) -> "tuple[CounterSummary | None, tuple[CounterSummary, ...], tuple[QueueLengths, ...]]":
    dumped = [
        QueueLengths(source, sum(one.strict for one in states), sum(one.scheduled for one in states))
        for source, states in osd.queue_states
    ]
    if not osd.perf_dumps:
        return None, (), tuple(dumped)
    from lsmlens.analyzer.counters.counter_series import deltas, in_series
    from lsmlens.analyzer.counters.counter_summary import summarise

    series = in_series(list(osd.perf_dumps))
    for dump in (dump for life in series for dump in life):
        lengths = summarise(dump).mclock_queue_lengths
        if lengths:
            recovery, best_effort = int(lengths.get("recovery", 0)), int(lengths.get("best_effort", 0))
            scheduled = int(lengths.get("client", 0)) + recovery + best_effort
            dumped.append(QueueLengths(dump.source, int(lengths.get("immediate", 0)), scheduled, recovery, best_effort))
    intervals = tuple(summarise(delta) for life in series for delta in deltas(life))
    return summarise(series[-1][-1]), intervals, tuple(dumped)
