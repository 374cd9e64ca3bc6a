"""Survivor curves of declared workloads, whose truth is known."""

import numpy as np
import pytest
from lsmlens.tuners.search.survival import NODE_BYTES, FamilySurvival, survival_of
from lsmlens.tuners.workloads.yaml_form import parse_workload

HEAD = """
schema: lsmlens.workload/1
name: known
seconds: 100
column_families:
- name: default
  keys: {length: 24}
  values: 68
  components:
"""
RECORD = 24 + 8 + 68


def family(component: str) -> FamilySurvival:
    return survival_of(parse_workload(HEAD + component, "known")).families[0]


def test_uniform_overwrites_leave_the_keys_that_were_hit() -> None:
    keys = 20_000
    found = family(f"  - {{kind: overwrite, rate: 2000, working_sets: [{{keys: {keys}}}]}}")
    windows = np.array([1000.0, 20_000.0, 100_000.0])
    expected = keys * (1 - np.exp(-windows / keys)) * RECORD
    assert found.left(windows) == pytest.approx(expected, rel=0.05)
    assert found.window(expected) == pytest.approx(windows, rel=0.15)
    assert found.operations[-1] == pytest.approx(200_000, rel=0.01)
    assert found.live_bytes[-1] == pytest.approx(keys * RECORD, rel=0.02)
    assert found.memory_bytes == pytest.approx(24 + 68 + NODE_BYTES)
    assert found.record_bytes(1000.0) == pytest.approx(RECORD, rel=0.01)
    assert found.overlaps


def test_keys_that_only_grow_all_stay_and_overlap_nothing() -> None:
    found = family("  - {kind: growth, rate: 1000}")
    assert found.left(np.array([5000.0])) == pytest.approx(5000 * RECORD, rel=0.02)
    # beyond the longest window it goes on as before
    assert found.left(np.array([400_000.0])) == pytest.approx(400_000 * RECORD, rel=0.02)
    assert found.live_bytes[-1] == pytest.approx(100_000 * RECORD, rel=0.02)


def test_of_a_queue_the_puts_beyond_its_length_go_and_tombstones_stay() -> None:
    found = family("  - {kind: queue, rate: 1000, lifetime_puts: 1000}")
    short, long = found.left(np.array([200.0, 40_000.0]))
    # half of the operations are deletes, which hit nothing within a short window
    assert short == pytest.approx(100 * RECORD + 100 * 32, rel=0.1)
    assert long == pytest.approx(1000 * RECORD + 20_000 * 32, rel=0.1)
    assert found.live_bytes[-1] == pytest.approx(1000 * RECORD, rel=0.1)


def test_curves_are_the_workload_s_own_amounts_at_any_size() -> None:
    small = family("  - {kind: overwrite, rate: 2000, working_sets: [{keys: 20000}]}")
    large = family("  - {kind: overwrite, rate: 50000, working_sets: [{keys: 500000}]}")
    assert large.left(np.array([250_000.0])) == pytest.approx(25 * small.left(np.array([10_000.0])), rel=0.05)


def test_the_wal_grows_with_the_operations() -> None:
    found = survival_of(parse_workload(HEAD + "  - {kind: growth, rate: 1000}", "known"))
    assert found.wal_bytes[0] == 0
    assert found.wal_bytes[-1] == pytest.approx(100_000 * (24 + 68 + 6), rel=0.02)
    assert np.all(np.diff(found.wal_bytes) > 0)
