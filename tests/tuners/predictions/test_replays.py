"""What a replay says, in the workload's own units, wherever its log happens to end."""

from collections.abc import Callable

import pytest
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.options.reading import read_options
from lsmlens.tuners.predictions.replays import Replayed, Variant, trial_of
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.workloads.presets import load_preset

Measured = Callable[..., Measurement]
ENGINE = EngineChoice("capi", "7.8.3")


def test_figures_are_in_the_workload_s_own_units(measured: Measured) -> None:
    one, scaled = Replayed.of(measured()), Replayed.of(measured(scale=16.0))
    for name, figures in one.families.items():
        assert scaled.families[name].output_bytes == 16 * figures.output_bytes
        assert scaled.families[name].flushes == figures.flushes
        assert scaled.puts_per_flush[name] == pytest.approx(16 * one.puts_per_flush[name])


def test_what_is_left_in_memory_counts_for_half_a_flush(measured: Measured) -> None:
    run = measured(memtable_entries={})
    plain = Replayed.of(run)
    view = next(view for view in run.flushes if view.flushes > 10)
    per_flush = view.input_entries / view.flushes
    as_long = Replayed.of(run, {view.name: per_flush / 2})
    assert as_long.families[view.name].flushes == pytest.approx(plain.families[view.name].flushes)
    longer = Replayed.of(measured(memtable_entries={view.name: per_flush}), {view.name: per_flush / 2})
    assert longer.families[view.name].flushes == pytest.approx(plain.families[view.name].flushes + 1)


def test_a_trial_s_options_are_scaled_with_its_workload() -> None:
    options = read_options("a=write_buffer_size=16777216")
    trial = trial_of(Variant(load_preset("overwrite"), 4.0, 3), options, ENGINE, None)
    assert (trial.scale, trial.seed) == (4.0, 3)
    assert {family["write_buffer_size"] for family in trial.options.families.values()} == {"4194304"}
