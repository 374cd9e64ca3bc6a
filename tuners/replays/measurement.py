"""What one replay came to: the engine's own log, measured by the analyzer, and what the process itself took."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, TypeVar

from lsmlens.analyzer.measures.amplification import FamilyWrites, LevelWrites
from lsmlens.analyzer.measures.compaction_statistics import CompactionStatistics
from lsmlens.analyzer.measures.flushes import FlushView
from lsmlens.analyzer.measures.sorted_runs import SortedRuns, mean_sorted_runs
from lsmlens.tuners.engines.read_counts import ReadCounts
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.replays.course import CoursePoint
from lsmlens.tuners.replays.manifest import FlushEdits
from lsmlens.tuners.replays.write_stalls import WriteStalls

# The percentiles of write latency that are kept.
PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99, 100.0)


class Mode(StrEnum):
    """How a replay goes on in time.

    Settled: after each step the database finishes its flushes and compactions; nearly the same result every time.
    Paced: at the workload's own rate, compactions running freely; for stalls, latency and CPU.
    """

    SETTLED = "settled"
    PACED = "paced"


class FailureKind(StrEnum):
    """Why a replay has no figures."""

    REFUSED = "refused"
    CRASHED = "crashed"
    NO_ROOM = "no room"
    STOPPED = "stopped"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class TrialFailure:
    """A replay that did not come to its end, and why."""

    seed: int
    kind: FailureKind
    reason: str


@dataclass(frozen=True, slots=True)
class Latencies:
    """Latency of writes in microseconds, by percentile from 50 to 100.

    `response_micros` counts from the moment the workload meant to write, so that a stalled database is charged for
    the writes that waited behind (no coordinated omission); `service_micros` from the call of RocksDB's Write.
    """

    writes: int
    response_micros: Mapping[float, float]
    service_micros: Mapping[float, float]
    mean_response_micros: float


@dataclass(frozen=True, slots=True)
class Stalls:
    """Writes slowed or stopped: seconds by RocksDB's own count, and its warnings by family, kind and cause."""

    seconds: float | None
    lines: Mapping[tuple[str, str, str], int]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One replay, measured. Figures are as replayed; `multiplied` gives them in the workload's own units.

    `statistics` to `flushes` are the analyzer's, of the engine's LOG. `preloaded_records` were there before and are
    in no figure but space; `records` and `user_bytes` are what was written (batches in their wire format),
    `memtable_entries` what was left in each family's memtables, `wal_bytes` what the engine's ticker says,
    `flush_edits` what flushes wrote into the MANIFEST, `blob_frame_bytes` heads and feet of blob files, which the log
    leaves out, of flushes and of compactions. `cpu_seconds` are of the whole process without the
    generation of batches, `peak_memory_bytes` is its resident memory at its highest, `memory_before_open_bytes`
    before the database was opened. `space_bytes` are live tables at the end, `peak_space_bytes` all files at the
    most. `write_stalls` are what writers met where jobs lasted and they were made to wait (`Conditions`), by the
    workload's clock. `course` is how bytes grew over the workload's time, `sorted_runs` what a read of each family
    would have had to look into over it, and `reads` what the workload's own came to. `notes` say what to know before
    believing the figures, those of them that are about latencies and stalls stand in `disturbances` too.
    """

    seed: int
    scale: float
    mode: Mode
    engine: str
    rocksdb_version: str
    library: str | None
    options: ResolvedOptions
    statistics: CompactionStatistics
    families: tuple[FamilyWrites, ...]
    levels: tuple[LevelWrites, ...]
    total: FamilyWrites
    flushes: tuple[FlushView, ...]
    stalls: Stalls
    tickers: Mapping[str, int]
    preloaded_records: int
    records: int
    user_bytes: int
    wal_bytes: int | None
    flush_edits: FlushEdits
    memtable_entries: Mapping[str, int]
    workload_seconds: float
    wall_seconds: float
    settle_seconds: float
    generation_seconds: float
    cpu_seconds: float
    memory_before_open_bytes: int
    peak_memory_bytes: int
    space_bytes: int
    peak_space_bytes: int
    sorted_runs: Mapping[str, SortedRuns]
    reads: ReadCounts
    latencies: Latencies | None = None
    blob_frame_bytes: tuple[int, int] = (0, 0)
    write_stalls: WriteStalls | None = None
    course: tuple[CoursePoint, ...] = ()
    disturbances: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def total_write_amplification(self) -> float | None:
        """(WAL + flush + compaction bytes) / user bytes; None where the engine does not tell the WAL's bytes."""
        if self.wal_bytes is None or not self.user_bytes:
            return None
        return (self.wal_bytes + self.total.flush_bytes + self.total.compaction_output_bytes) / self.user_bytes

    @property
    def mean_sorted_runs(self) -> float | None:
        """What a read had to look into, the mean over the families by the records written to each."""
        written = {one.name: one.flush_input_records for one in self.families}
        weights = {name: written.get(name, 0) + left for name, left in self.memtable_entries.items()}
        return mean_sorted_runs(self.sorted_runs, weights)

    def multiplied(self) -> "Measurement":
        """The same in the workload's own units: what a replay at scale 1 stands to show.

        Bytes, records and compaction seconds are multiplied by the scale, for every population, lifetime and size
        was divided by it; counts of flushes and compactions, ratios and rates stay. The log lasts as long as the
        workload. CPU, memory, wall seconds and latencies stay as replayed: they do not scale.
        """
        k = self.scale
        by_size: dict[str, Any] = {
            "preloaded_records": round(self.preloaded_records * k),
            "records": round(self.records * k),
            "user_bytes": round(self.user_bytes * k),
            "wal_bytes": None if self.wal_bytes is None else round(self.wal_bytes * k),
            "memtable_entries": {family: round(count * k) for family, count in self.memtable_entries.items()},
            "space_bytes": round(self.space_bytes * k),
            "peak_space_bytes": round(self.peak_space_bytes * k),
            "reads": self.reads.times(k),
        }
        return replace(
            self,
            **by_size,
            statistics=replace(_times(self.statistics, k), log_duration_seconds=self.workload_seconds),
            families=tuple(_times(one, k) for one in self.families),
            levels=tuple(_times(one, k) for one in self.levels),
            total=_times(self.total, k),
            flushes=tuple(_times(one, k) for one in self.flushes),
            course=tuple(
                CoursePoint(one.seconds, one.flush_bytes * k, one.compaction_output_bytes * k) for one in self.course
            ),
        )


_COUNTS_AND_RATES = frozenset(
    (
        *("name", "level", "flushes", "compactions", "trivial_moves", "empty_flushes", "reasons", "memtables"),
        *("compaction_events", "log_duration_seconds", "avg_output_input_ratio", "output_input_ratio_of_sums"),
        *("avg_output_throughput_mib_per_second", "avg_input_records_per_second", "avg_output_records_per_second"),
    )
)
SumsT = TypeVar("SumsT", CompactionStatistics, FamilyWrites, LevelWrites, FlushView)


def _times(sums: SumsT, scale: float) -> SumsT:
    """Sums of bytes, records and seconds multiplied by a scale; counts of jobs, ratios and rates as they are."""
    changed: dict[str, Any] = {}
    for one in fields(sums):
        value = getattr(sums, one.name)
        if one.name not in _COUNTS_AND_RATES and value is not None:
            changed[one.name] = round(value * scale) if isinstance(value, int) else value * scale
    return replace(sums, **changed)
