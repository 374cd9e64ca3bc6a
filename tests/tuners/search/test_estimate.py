"""Estimates of a declared workload, against what levelled compaction is known to do and against replays."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.reading import read_options
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.replays.trial import Trial
from lsmlens.tuners.search.estimate import NODE_BYTES, Estimator, FamilySurvival, survival_of
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.yaml_form import parse_workload

WORKLOAD = """
schema: lsmlens.workload/1
name: two
seconds: 60
column_families:
- name: default
  keys: {length: 24}
  values: 100
  components:
  - {kind: overwrite, rate: 1500, working_sets: [{keys: 30000}]}
- name: rare
  keys: {length: 24}
  values: 100
  components:
  - {kind: queue, rate: 300, lifetime_puts: 500}
"""
MIB = 1 << 20
BASE = (
    "base=write_buffer_size=524288;max_write_buffer_number=4;level0_file_num_compaction_trigger=4;"
    "max_bytes_for_level_base=1048576;max_bytes_for_level_multiplier=8;target_file_size_base=262144;"
    "max_total_wal_size=16777216;compression=kNoCompression;level_compaction_dynamic_level_bytes=false"
)
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


@pytest.fixture(scope="module")
def workload() -> Workload:
    return parse_workload(WORKLOAD, "two")


@pytest.fixture(scope="module")
def base() -> OptionSet:
    return read_options(BASE)


@pytest.fixture(scope="module")
def estimator(workload: Workload, base: OptionSet) -> Estimator:
    return Estimator(survival_of(workload), base, {})


@pytest.fixture(scope="module")
def written(estimator: Estimator, base: OptionSet) -> Callable[..., float]:
    def estimated(**options: str) -> float:
        changed = base
        for option, value in options.items():
            changed = changed.changed(option, value)
        return estimator.scores(changed).written_bytes

    return estimated


def test_larger_windows_write_less(written: Callable[..., float]) -> None:
    assert written(write_buffer_size="2097152") < written() < written(write_buffer_size="131072")
    assert written(min_write_buffer_number_to_merge="2") == pytest.approx(written(write_buffer_size="1048576"))
    assert written(level0_file_num_compaction_trigger="8", max_bytes_for_level_base="16777216") < written(
        max_bytes_for_level_base="16777216"
    )


def test_a_level_that_holds_all_spares_the_ones_below(written: Callable[..., float]) -> None:
    assert written(max_bytes_for_level_base="16777216") < 0.9 * written()


def test_the_wal_s_limit_makes_flushes_of_what_is_there(estimator: Estimator, base: OptionSet) -> None:
    large = base.changed("write_buffer_size", str(64 * MIB))
    few = estimator.scores(large.changed("max_total_wal_size", str(8 * MIB)))
    many = estimator.scores(large.changed("max_total_wal_size", str(1 * MIB)))
    assert many.flush_bytes > 1.3 * few.flush_bytes


def test_what_the_log_shows_corrects_a_family(workload: Workload, base: OptionSet, estimator: Estimator) -> None:
    plain = estimator.scores(base)
    seen = {"default": Figures(flush_bytes=plain.flush_bytes * 2), "rare": Figures(flush_bytes=1.0)}
    corrected = Estimator(estimator.survival, base, seen).scores(base)
    assert corrected.flush_bytes == pytest.approx(2 * plain.flush_bytes, rel=0.05)


def test_other_styles_than_levelled_are_not_estimated(estimator: Estimator, base: OptionSet) -> None:
    universal = base.changed("compaction_style", "kCompactionStyleUniversal")
    assert estimator.covers(estimator.present)
    assert not estimator.covers(universal)


def test_estimates_rank_as_replays_do(
    workload: Workload, base: OptionSet, estimator: Estimator, engine: EngineChoice, tmp_path: Path
) -> None:
    every = [
        base,
        base.changed("write_buffer_size", "131072"),
        base.changed("write_buffer_size", "2097152"),
        base.changed("max_bytes_for_level_base", "16777216"),
        base.changed("max_bytes_for_level_base", "16777216").changed("level0_file_num_compaction_trigger", "12"),
        base.changed("max_total_wal_size", "262144"),
    ]
    stream = DeclaredStream(workload)
    trials = [Trial(stream, one.resolve(stream.families, engine.version), engine, work_dir=tmp_path) for one in every]
    replayed = []
    for result in Replayer(engine).make(trials):
        assert isinstance(result, Measurement)
        replayed.append(sum(one.flush_bytes + one.compaction_output_bytes for one in result.families))
    estimated = [estimator.scores(one).written_bytes for one in every]
    order = sorted(range(len(every)), key=lambda place: replayed[place])
    for better, worse in pairwise(order):
        # of those that come to the same, chance says which is first
        assert estimated[better] < estimated[worse] or replayed[worse] < 1.15 * replayed[better]
    for mine, theirs in zip(estimated, replayed, strict=True):
        assert mine / estimated[0] == pytest.approx(theirs / replayed[0], rel=0.4)


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
