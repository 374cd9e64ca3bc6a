"""Simulated moments: what a family's components leave in the log's own tables, beside what the log shows there.

A model's operations go through the merge tree of the log, at a scale, and a few sums over its jobs are compared with
the log's. Those that tell models apart are what flushes drop, of puts and of tombstones, how unevenly deletes fall on
flushes, and what compactions of level 0 write; sums over deeper levels are left to replays, for which tables meet there
depends on where keys lie.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.estimation.evidence import FamilyEvidence
from lsmlens.tuners.estimation.merge_tree import MOST_KEY, MergeTree
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.component_streams import chunks
from lsmlens.tuners.workloads.document import ColumnFamily
from lsmlens.tuners.workloads.key_forms import KeyForm, unique
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Operations simulated at a time, at the most: the scale makes them so few.
OPERATIONS = 160_000
# Flushes with a lesser share of the largest one's puts do not count in a scatter.
LARGE_FLUSH = 0.3
# No scale makes the mean flush smaller than this.
LEAST_FLUSH = 400
# A drop of so little is none.
LEAST_DROP = 1e-3
LEAST_SCATTER = 1e-3
LEAST_LEVEL0 = 4


@dataclass(frozen=True, slots=True)
class Jobs:
    """What flushes took in and kept (shapes: intervals,), and compactions read and kept (shapes: compactions,)."""

    puts: Floats
    deletes: Floats
    kept_puts: Floats
    kept_deletes: Floats
    read: Floats
    merged_puts: Floats
    merged_deletes: Floats


# By moment: the error up to which a model is as good as any, beside the scatter of one history.
TOLERANCES = {
    "deletes per put": 0.01,
    "puts kept in flushes": 0.006,
    "puts dropped in flushes": 0.03,
    "tombstones dropped in flushes": 0.1,
    "scatter of deletes": 0.15,
    "puts out of level 0, early": 0.03,
    "puts out of level 0, late": 0.03,
    "tombstones out of level 0": 0.05,
}


@dataclass(frozen=True)
class Simulation:
    """One family's merge tree and what its jobs show, for simulations of it."""

    tree: MergeTree
    logged: Jobs
    ends: Floats
    """Seconds at which intervals end, after the workload's start."""
    flushed: NDArray[np.bool_]
    level0: NDArray[np.int64]
    """Places of the compactions of level 0 whose inputs the log shows."""
    scale: float

    @classmethod
    def of(cls, evidence: FamilyEvidence, since: float) -> "Simulation":
        """The simulation of a family with operations."""
        tree = MergeTree.of(evidence.history, evidence.intervals)
        every = evidence.intervals

        def column(values: Sequence[float]) -> Floats:
            return np.array(values, np.float64)

        outputs = [job.outputs for job in tree.compactions]
        logged = Jobs(
            column([one.puts for one in every]),
            column([one.deletes for one in every]),
            column([one.kept_puts for one in every]),
            column([one.kept_deletes for one in every]),
            column([job.input_records for job in tree.compactions]),
            column([sum(table.puts for table in tables) for tables in outputs]),
            column([sum(table.tombstones or 0 for table in tables) for tables in outputs]),
        )
        level0 = np.array([0 in job.inputs and bool(job.outputs) for job in tree.compactions], np.bool_)
        operations = evidence.operations
        most = operations / max(1, len(every)) / LEAST_FLUSH
        return cls(
            tree,
            logged,
            column([one.end - since for one in every]),
            np.array([one.flush is not None and one.operations > 0 for one in every], np.bool_),
            np.flatnonzero(level0 & tree.whole) if len(level0) else np.empty(0, np.int64),
            max(1.0, min(operations / OPERATIONS, most)),
        )

    def jobs(self, family: ColumnFamily, seed: int) -> Jobs:
        """What the log's jobs would have shown of this family's components; counts are multiplied by the scale."""
        keys, tags, seconds = _stream(family, float(self.ends[-1]) + 1.0, self.scale, seed)
        ends = np.searchsorted(seconds, self.ends)
        is_put = tags != Tag.DELETE
        flushed, merged = self.tree.merge(keys, is_put, ends)
        taken = np.diff(np.concatenate(([0], np.cumsum(is_put)))[np.concatenate(([0], ends))])
        counts = (
            taken,
            flushed.read - taken,
            flushed.puts,
            flushed.tombstones,
            merged.read,
            merged.puts,
            merged.tombstones,
        )
        return Jobs(*((self.scale * one).astype(np.float64) for one in counts))

    def moments(self, jobs: Jobs) -> Floats:
        """The moments named in TOLERANCES, as logarithms; 0 where the log does not show one."""
        own = self.flushed
        puts, deletes = jobs.puts[own].sum(), jobs.deletes[own].sum()
        kept = jobs.kept_puts[own].sum() / max(puts, 1.0)
        found = np.zeros(len(TOLERANCES))
        found[1] = np.log(kept + LEAST_DROP)
        found[2] = np.log(max(0.0, 1 - kept) + LEAST_DROP)
        if self.logged.deletes[own].sum():
            large = own & (self.logged.puts > LARGE_FLUSH * self.logged.puts.max())
            dropped = 1 - jobs.kept_deletes[own].sum() / max(deletes, 1.0)
            scatter = np.std(jobs.deletes[large] / np.maximum(jobs.puts[large], 1.0))
            found[0] = np.log(deletes / max(puts, 1.0) + LEAST_DROP)
            found[3] = np.log(max(0.0, dropped) + LEAST_DROP)
            found[4] = np.log(scatter + LEAST_SCATTER)
        if len(self.level0) >= LEAST_LEVEL0:
            halves = np.array_split(self.level0, 2)
            found[5], found[6] = (np.log(jobs.merged_puts[half].sum() + 1.0) for half in halves)
            written = jobs.merged_puts[self.level0].sum()
            found[7] = np.log(1 + jobs.merged_deletes[self.level0].sum() / max(written, 1.0))
        return found


def _stream(
    family: ColumnFamily, seconds: float, scale: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.uint8], Floats]:
    """Keys as they sort, numbered from 0, tags and seconds of all operations, in order of time."""
    parts = []
    for place, one in enumerate(family.components):
        rng = np.random.default_rng([seed, place])
        keys = one.keys or family.keys
        form = KeyForm(keys)
        parts += [
            (form.identity(unique(chunk.key, place)), chunk.tag, chunk.seconds)
            for chunk in chunks(one, keys, seconds, scale, rng)
        ]
    identity, tags, when = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    if len(family.components) > 1:
        order = np.argsort(when, kind="stable")
        identity, tags, when = identity[order], tags[order], when[order]
    low = int(identity.min()) if len(identity) else 0
    if len(identity) and int(identity.max()) - low < MOST_KEY:
        return (identity - np.uint64(low)).astype(np.int64), tags, when
    return np.unique(identity, return_inverse=True)[1].astype(np.int64), tags, when
