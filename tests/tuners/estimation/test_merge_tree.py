"""What a log's own merges leave of any stream, beside what a log made by hand shows of its own."""

from dataclasses import replace

import numpy as np
from lsmlens.tuners.estimation.evidence import FamilyEvidence, gather
from lsmlens.tuners.estimation.history import Compaction, FamilyHistory, Move
from lsmlens.tuners.estimation.merge_tree import MergeTree
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.components import Component, Growth, Keys, Overwrite, WorkingSet
from lsmlens.tuners.workloads.document import ColumnFamily, Workload
from lsmlens.tuners.workloads.generator import DeclaredStream

from .conftest import KEY_BYTES, VALUE_BYTES, Logged

MIXED = (
    Overwrite(working_sets=(WorkingSet(3000, zipf=0.7),), rate=30.0, deletes_per_put=0.3),
    Growth(rate=20.0, deletes_per_put=0.5),
)


def stream_of(*components: Component) -> tuple[np.ndarray, np.ndarray]:
    family = ColumnFamily("default", Keys(float(KEY_BYTES)), VALUE_BYTES, components)
    parts = list(DeclaredStream(Workload(name="made", seconds=1000.0, column_families=(family,))).operations(1))
    keys = np.unique(np.concatenate([part.key for part in parts]), return_inverse=True)[1]
    return keys.astype(np.int64), np.concatenate([part.tag for part in parts]) == Tag.PUT


def ends_of(evidence: FamilyEvidence) -> np.ndarray:
    return np.cumsum([one.operations for one in evidence.intervals])


def test_a_log_s_own_stream_leaves_what_the_log_shows(logged: Logged) -> None:
    evidence = gather(logged(*MIXED, flush=2500), "default")
    tree = MergeTree.of(evidence.history, evidence.intervals)
    flushed, merged = tree.merge(*stream_of(*MIXED), ends_of(evidence))
    assert flushed.puts.tolist() == [one.kept_puts for one in evidence.intervals]
    assert flushed.tombstones.tolist() == [one.kept_deletes for one in evidence.intervals]
    assert flushed.read.tolist() == [one.operations for one in evidence.intervals]
    assert merged.read.tolist() == [job.input_records for job in tree.compactions]
    assert merged.puts.tolist() == [job.output_records for job in tree.compactions]
    assert not merged.tombstones.any()
    assert tree.whole.all()
    assert len(tree.whole) > 3


def test_compactions_of_tables_of_before_the_log_are_not_whole(logged: Logged) -> None:
    evidence = gather(logged(*MIXED, flush=2500), "default")
    first, *rest = evidence.history.compactions
    first = replace(first, inputs={0: (*first.inputs[0], 999)})
    changed = FamilyHistory("default", evidence.history.flushes, [first, *rest])
    tree = MergeTree.of(changed, evidence.intervals)
    # each merge reads what the one before it wrote
    assert not tree.whole.any()
    merged = tree.merge(*stream_of(*MIXED), ends_of(evidence))[1]
    assert (merged.puts > 0).all()


def test_tombstones_stay_above_deeper_tables_that_may_hold_their_keys(logged: Logged) -> None:
    evidence = gather(logged(*MIXED, flush=2500), "default")
    history = evidence.history
    last = history.compactions[-1]
    down = Move(history.compactions[0].seconds + 1e-6, 1, (history.compactions[0].outputs[0].number,), 3)

    def without_level1(job: Compaction) -> Compaction:
        return replace(job, inputs={0: job.inputs[0]})

    changed = FamilyHistory(
        "default",
        history.flushes,
        [history.compactions[0], *map(without_level1, history.compactions[1:])],
        moves=[down],
    )
    merged = MergeTree.of(changed, evidence.intervals).merge(*stream_of(*MIXED), ends_of(evidence))[1]
    assert merged.tombstones[0] == 0
    assert (merged.tombstones[1:] > 0).all()
    assert last.output_level == 1
