"""Scores: what settings cost, by which they are told apart; all of them better the lower."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.replays.measurement import Latencies


class Objective(StrEnum):
    """What matters most to whom asks."""

    WEAR = "wear"
    LATENCY = "latency"
    CPU = "cpu"
    READS = "reads"
    THROUGHPUT = "throughput"
    BALANCED = "balanced"


class Scores(NamedTuple):
    """What a set of options came to, for the work of the log and in its units.

    `written_bytes` are those of flushes and compactions, `flush_bytes` the flushes' share. `processed_records` are
    those that compactions read: what their CPU time grows with, and unlike `cpu_seconds`, of the replay itself, the
    same in every replay. `memory_bytes` is what memtables may take at most, `space_bytes` the files at their most.
    `stall_seconds`, `p50_micros` and `p99_micros` are of paced replays, None without. `sorted_runs` and
    `blocks_per_get` are what a read looks into, None where nothing tells.
    """

    written_bytes: float
    flush_bytes: float
    compactions: float
    processed_records: float
    cpu_seconds: float
    memory_bytes: float
    space_bytes: float
    stall_seconds: float | None = None
    p50_micros: float | None = None
    p99_micros: float | None = None
    sorted_runs: float | None = None
    blocks_per_get: float | None = None

    @property
    def write_amplification(self) -> float | None:
        """Bytes of flushes and compactions over those of flushes (LSM)."""
        return self.written_bytes / self.flush_bytes if self.flush_bytes else None

    @classmethod
    def of(
        cls,
        figures: Figures,
        cpu_seconds: float,
        memory_bytes: float,
        space_bytes: float,
        sorted_runs: float | None = None,
        blocks_per_get: float | None = None,
    ) -> "Scores":
        """The scores of what was predicted for a set of options."""
        return cls(
            figures.written_bytes,
            figures.flush_bytes,
            figures.compactions,
            figures.input_records,
            cpu_seconds,
            memory_bytes,
            space_bytes,
            sorted_runs=sorted_runs,
            blocks_per_get=blocks_per_get,
        )

    def paced(self, stall_seconds: float | None, latencies: Latencies | None) -> "Scores":
        """The same with what paced replays measured."""
        if latencies is None:
            return self
        response = latencies.response_micros
        return self._replace(stall_seconds=stall_seconds, p50_micros=response[50.0], p99_micros=response[99.0])


# How much each counts, as exponents of the ratio to the present options.
WEIGHTS: Mapping[Objective, Mapping[str, float]] = {
    Objective.WEAR: {"written_bytes": 1.0, "processed_records": 0.05, "memory_bytes": 0.05},
    Objective.LATENCY: {"p99_micros": 0.6, "stall_seconds": 0.4, "written_bytes": 0.4, "processed_records": 0.1},
    Objective.CPU: {"processed_records": 1.0, "written_bytes": 0.2, "memory_bytes": 0.05},
    Objective.READS: {
        "sorted_runs": 1.0,
        "blocks_per_get": 0.5,
        "written_bytes": 0.3,
        "processed_records": 0.1,
        "memory_bytes": 0.05,
    },
    Objective.THROUGHPUT: {
        **{"processed_records": 0.5, "written_bytes": 0.4, "stall_seconds": 0.4, "p99_micros": 0.2},
        "sorted_runs": 0.2,
    },
    Objective.BALANCED: {
        **{"written_bytes": 0.5, "processed_records": 0.3, "p99_micros": 0.3, "sorted_runs": 0.2},
        "memory_bytes": 0.1,
    },
}
# Reads that look into so many times as many sorted runs, or blocks, are said to be worse before anything else is said.
MOST_LOOKED_INTO = 1.25
# A stall or a latency this short is none: ratios of them say nothing.
LEAST = {"stall_seconds": 0.1, "p99_micros": 100.0}
SMALLEST = 1e-9
# Less than this of the present settings is no better: what a log does not show any more, it cannot tell apart.
LEAST_RATIO = 0.01


def cost(scores: Scores, present: Scores, objective: Objective) -> float:
    """One number to order settings by: a weighed product of ratios to the present ones, which have 1."""
    product = 1.0
    for name, weight in WEIGHTS[objective].items():
        mine, theirs = getattr(scores, name), getattr(present, name)
        if mine is None or theirs is None:
            continue
        least = LEAST.get(name, SMALLEST)
        product *= max(LEAST_RATIO, float(max(mine, least) / max(theirs, least))) ** weight
    return product


def worsened_reads(scores: Scores, present: Scores) -> dict[str, tuple[float, float]]:
    """What reads look into more of than now, beyond the bound of MOST_LOOKED_INTO: before and after, by score."""
    found = {}
    for name in ("sorted_runs", "blocks_per_get"):
        before, after = getattr(present, name), getattr(scores, name)
        if before is not None and after is not None and after > MOST_LOOKED_INTO * before:
            found[name] = before, after
    return found


def dominates(one: Scores, other: Scores) -> bool:
    """Whether one is nowhere worse and somewhere better, in what both were measured in."""
    pairs = [
        (mine, theirs)
        for mine, theirs in zip(_compared(one), _compared(other), strict=True)
        if mine is not None and theirs is not None
    ]
    return all(mine <= theirs for mine, theirs in pairs) and any(mine < theirs for mine, theirs in pairs)


def front(scores: Sequence[Scores]) -> list[int]:
    """The places of those that none of the others dominates, in order: the Pareto set."""
    return [
        place
        for place, one in enumerate(scores)
        if not any(dominates(other, one) for other in scores if other is not one)
    ]


def _compared(one: Scores) -> tuple[float | None, ...]:
    return (
        *(one.written_bytes, one.processed_records, one.memory_bytes, one.stall_seconds, one.p99_micros),
        one.sorted_runs,
    )
