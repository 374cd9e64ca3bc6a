"""From single runs to the outcome of a set of options."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.measures.amplification import FamilyWrites
from lsmlens.analyzer.units import MIB
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.options.presets import preset
from lsmlens.tuners.options.reading import read_options
from lsmlens.tuners.replays.measurement import FailureKind, Measurement, Mode, TrialFailure
from lsmlens.tuners.replays.outcome import ReplayPlan, outcome_of
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.presets import load_preset

Measured = Callable[..., Measurement]
REPLAYER = Replayer(EngineChoice("rocksdict", "9.8.4"))


def test_one_run_is_its_own_mean(measured: Measured) -> None:
    run = measured()
    outcome = outcome_of(run.options, run.mode, 1.0, [run])
    assert outcome.figures is not None
    assert outcome.figures.statistics == replace(run.statistics, log_duration_seconds=600.0)
    assert outcome.as_replayed is not None
    assert outcome.as_replayed.statistics == run.statistics
    assert outcome.figures.families == run.families
    assert outcome.figures.levels == run.levels
    assert outcome.figures.total == run.total
    assert outcome.figures.flushes == run.flushes
    assert outcome.figures.memory_bytes == 40 << 20
    assert outcome.spreads["write_amplification"].standard_deviation is None
    assert (outcome.seeds, outcome.name, outcome.failures, outcome.quality) == ((1,), "stock", (), ())


def test_means_and_spread_over_seeds(measured: Measured) -> None:
    one = measured()
    total = replace(one.total, flush_bytes=one.total.flush_bytes + 2 * MIB, compactions=one.total.compactions + 2)
    statistics = replace(
        one.statistics,
        compaction_events=one.statistics.compaction_events + 2,
        total_input_records=one.statistics.total_input_records * 3,
        avg_output_input_ratio=None,
    )
    other = measured(seed=2, total=total, statistics=statistics, cpu_seconds=10.25, records=one.records + 1)
    outcome = outcome_of(one.options, one.mode, 1.0, [one, other])
    assert outcome.seeds == (1, 2)
    figures = outcome.figures
    assert figures is not None
    assert figures.total.flush_bytes == one.total.flush_bytes + MIB
    assert figures.statistics.compaction_events == one.statistics.compaction_events + 1
    assert figures.statistics.total_input_records == 2 * one.statistics.total_input_records
    assert figures.statistics.output_input_ratio_of_sums == pytest.approx(
        (one.statistics.output_input_ratio_of_sums or 0) / 2
    )
    assert figures.statistics.avg_output_input_ratio == one.statistics.avg_output_input_ratio
    assert figures.cpu_seconds == 9.25
    spread = outcome.spreads["flush_mib"]
    assert spread.high - spread.low == pytest.approx(2.0)
    assert spread.standard_deviation == pytest.approx(2.0**0.5)


def test_a_family_that_one_seed_lacks_counts_as_nothing_there(measured: Measured) -> None:
    one, other = measured(), measured(seed=2)
    extra = FamilyWrites("extra", flushes=4, flush_bytes=1000)
    outcome = outcome_of(one.options, one.mode, 1.0, [one, replace(other, families=(*other.families, extra))])
    assert outcome.figures is not None
    found = {family.name: family for family in outcome.figures.families}
    assert (found["extra"].flushes, found["extra"].flush_bytes) == (2, 500)


def test_scaled_figures_are_multiplied_back(measured: Measured) -> None:
    run = measured(scale=16.0)
    outcome = outcome_of(run.options, run.mode, 16.0, [run])
    figures, raw = outcome.figures, outcome.as_replayed
    assert figures is not None
    assert raw is not None
    assert figures.total.flush_bytes == 16 * raw.total.flush_bytes
    assert figures.total.flushes == raw.total.flushes
    assert figures.total.write_amplification == raw.total.write_amplification
    assert figures.statistics.compaction_events == raw.statistics.compaction_events
    assert figures.statistics.total_output_size_mib == pytest.approx(16 * raw.statistics.total_output_size_mib)
    assert figures.statistics.avg_output_size_mib == pytest.approx(16 * (raw.statistics.avg_output_size_mib or 0))
    assert figures.statistics.avg_output_input_ratio == raw.statistics.avg_output_input_ratio
    rates = "avg_output_throughput_mib_per_second", "avg_input_records_per_second", "avg_output_records_per_second"
    assert all(getattr(figures.statistics, name) == getattr(raw.statistics, name) for name in rates)
    assert figures.records == 16 * raw.records
    assert figures.memtable_entries == 16 * raw.memtable_entries
    assert figures.flushes[0].input_entries == 16 * raw.flushes[0].input_entries
    assert figures.flushes[0].dropped_share == pytest.approx(raw.flushes[0].dropped_share)
    assert figures.total_write_amplification == pytest.approx(raw.total_write_amplification)
    assert (figures.cpu_seconds, figures.wall_seconds, figures.memory_bytes) == (
        *(raw.cpu_seconds, raw.wall_seconds),
        raw.memory_bytes,
    )


def test_total_write_amplification_has_the_wal_in_it(measured: Measured) -> None:
    run = measured()
    tables = run.total.flush_bytes + run.total.compaction_output_bytes
    assert run.total_write_amplification == (run.user_bytes + tables) / run.user_bytes
    assert measured(wal_bytes=None).total_write_amplification is None


def test_a_failed_run_costs_itself_only(measured: Measured) -> None:
    run = measured(seed=2)
    failure = TrialFailure(1, FailureKind.CRASHED, "the process was killed by SIGABRT")
    outcome = outcome_of(run.options, run.mode, 1.0, [failure, run])
    assert outcome.seeds == (2,)
    assert outcome.figures is not None
    assert outcome.failures == (failure,)
    assert outcome.quality == ("run with seed 1 has no figures: crashed: the process was killed by SIGABRT",)


def test_no_run_no_figures(measured: Measured) -> None:
    failure = TrialFailure(1, FailureKind.REFUSED, "L0 trigger above slowdown")
    outcome = outcome_of(measured().options, Mode.PACED, 4.0, [failure])
    assert outcome.figures is None
    assert outcome.as_replayed is None
    assert outcome.spreads == {}
    assert outcome.rocksdb_version == "7.8.3"


def test_notes_of_some_runs_say_of_how_many(measured: Measured) -> None:
    runs = [measured(notes=("a", "b")), measured(seed=2, notes=("a",))]
    outcome = outcome_of(runs[0].options, Mode.SETTLED, 1.0, runs)
    assert outcome.quality == ("a", "b (1 of 2 runs)")


@pytest.fixture
def plan() -> ReplayPlan:
    stream = DeclaredStream(load_preset("rbd-4k-randwrite"))
    return ReplayPlan(stream, (preset("ceph:quincy"), preset("ceph:reef")), seeds=(1, 2, 3))


def test_the_options_take_turns(plan: ReplayPlan) -> None:
    trials = replace(plan, keep_log=Path("logs")).trials(REPLAYER)
    assert [(one.options.name, one.seed) for one in trials] == [
        (name, seed) for seed in (1, 2, 3) for name in ("ceph:quincy", "ceph:reef")
    ]
    assert [str(one.keep_log) for one in trials[:3]] == ["logs/1-1", "logs/2-1", "logs/1-2"]


def test_sizes_are_divided_by_the_scale(plan: ReplayPlan) -> None:
    whole, small = (replace(plan, scale=scale).trials(REPLAYER)[0] for scale in (1.0, 16.0))
    assert small.scale == 16.0
    assert int(small.options.families["P"]["write_buffer_size"]) * 16 == 256 << 20
    assert int(whole.options.families["P"]["write_buffer_size"]) == 256 << 20
    assert (whole.step_bytes, small.step_bytes) == (1 << 20, 1 << 16)


def test_a_step_never_fills_two_memtables(plan: ReplayPlan) -> None:
    tiny = read_options("tiny=write_buffer_size=65536")
    (one,) = replace(plan, options=(tiny,), seeds=(1,)).trials(REPLAYER)
    assert one.step_bytes == 65536 // 4


def test_keys_go_to_the_families_the_options_speak_of(plan: ReplayPlan) -> None:
    sets = preset("ceph:reef"), preset("ceph:luminous"), preset("rocksdb:default")
    reef, luminous, rocksdb = replace(plan, options=sets, seeds=(1,)).trials(REPLAYER)
    assert {"m-0", "p-2", "O-0", "O-2", "L", "P"} < set(reef.stream.families)
    assert luminous.stream.families == ("default",)
    assert set(rocksdb.stream.families) == {"default", "O-0", "O-1", "O-2", "L", "P"}
    for one in (reef, luminous, rocksdb):
        assert tuple(one.options.families) == one.stream.families


def test_options_that_cannot_be_are_refused_before_anything_runs(plan: ReplayPlan) -> None:
    wrong = preset("ceph:reef").changed("level0_file_num_compaction_trigger", "30")
    with pytest.raises(InputError, match="level0"):
        replace(plan, options=(preset("ceph:reef"), wrong)).trials(REPLAYER)
