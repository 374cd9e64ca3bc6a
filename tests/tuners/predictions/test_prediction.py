"""Predictions: anchored on the log, with an interval, and a word wherever one is called for."""

from collections.abc import Callable

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.units import MIB
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.run_options import options_of_run
from lsmlens.tuners.predictions.anchor import anchor_from, usual_variants
from lsmlens.tuners.predictions.figures import METRICS, Figures, by_family, total
from lsmlens.tuners.predictions.prediction import OptionsPrediction, Prediction, prediction_of
from lsmlens.tuners.predictions.replays import Replayed
from lsmlens.tuners.replays.measurement import FailureKind, TrialFailure

Predicting = Callable[..., Prediction]
ENGINE = EngineChoice("capi", "7.8.3")
FAILED = TrialFailure(1, FailureKind.CRASHED, "killed by SIGABRT")


def of(prediction: Prediction, place: int = 0) -> OptionsPrediction:
    found = prediction.predictions[place]
    assert found.predicted is not None
    return found


def values(one: OptionsPrediction) -> tuple[Figures, Figures, Figures]:
    assert one.predicted is not None
    return one.predicted.value, one.predicted.low, one.predicted.high


@pytest.mark.parametrize("bias", [0.5, 1.0, 1.8])
def test_bias_of_both_replays_falls_out(bias: float, predicting: Predicting, learned: FittedWorkload) -> None:
    one = of(predicting(bias=bias, spread=0.0, half=0.5))
    value, low, high = values(one)
    seen = total(by_family(learned.evidence.run.families))
    for metric in METRICS:
        assert getattr(value, metric) == pytest.approx(0.5 * getattr(seen, metric), rel=0.1, abs=2)
        assert getattr(low, metric) < getattr(value, metric) < getattr(high, metric)
    raw = sum(family.raw.output_bytes for family in one.families)
    assert raw == pytest.approx(0.5 * bias * seen.output_bytes, rel=1e-6)


def test_a_small_bias_is_partly_chance_and_none_where_nothing_changes(
    predicting: Predicting, learned: FittedWorkload
) -> None:
    seen = total(by_family(learned.evidence.run.families))
    half, same = (values(of(predicting(bias=1.1, spread=0.0, changed=by)))[0] for by in (0.5, 1.0))
    assert 0.51 * seen.output_bytes < half.output_bytes < 0.55 * seen.output_bytes
    assert same.output_bytes == pytest.approx(seen.output_bytes)


def test_the_sum_is_of_the_families(predicting: Predicting) -> None:
    one = of(predicting(half=0.5))
    value, low, high = values(one)
    assert value.output_bytes == pytest.approx(sum(family.predicted.value.output_bytes for family in one.families))
    # families err apart in part, so the sum is surer than its parts
    widths = [family.predicted.high.output_bytes / family.predicted.value.output_bytes for family in one.families]
    assert 1 < high.output_bytes / value.output_bytes < max(widths)
    assert low.output_bytes * high.output_bytes == pytest.approx(value.output_bytes**2)


@pytest.mark.parametrize(("trigger", "may_be"), [(4, False), (8, True), (12, False)])
def test_flushes_just_too_few_to_be_compacted_may_be(
    trigger: int, may_be: bool, predicting: Predicting, learned: FittedWorkload
) -> None:
    # eight flushes less a few per cent, and none of them compacted
    anchor = predicting(bias=1.0).anchor
    seen = by_family(learned.evidence.run.families)
    name = max(seen, key=lambda one: seen[one].output_bytes)
    flushed = seen[name].times(7.7 / seen[name].flushes)
    few = Figures(flushes=flushed.flushes, flush_bytes=flushed.flush_bytes)
    options = anchor.options.changed("level0_file_num_compaction_trigger", str(trigger))
    one = prediction_of(anchor, options, [Replayed({**seen, name: few}, {}, ()) for _ in anchor.variants])
    (family,) = [each for each in one.families if each.name == name]
    assert family.predicted.value.compactions == family.predicted.value.output_bytes == 0
    high = family.predicted.high
    assert (high.compactions, high.output_bytes) == ((1, high.flush_bytes) if may_be else (0, 0))
    assert (high.input_records > high.output_records > 0) is may_be
    whole = values(one)[2]
    assert whole.output_bytes > (high.output_bytes if may_be else 0)


def test_what_makes_intervals_wide(predicting: Predicting) -> None:
    def width(prediction: Prediction) -> float:
        value, _, high = values(of(prediction))
        return high.output_bytes / value.output_bytes

    usual = width(predicting(bias=1.0, spread=0.0, half=0.5))
    assert width(predicting(bias=1.0, spread=0.6, half=0.5)) > usual
    assert width(predicting(bias=1.6, spread=0.0, half=0.5)) > usual
    assert width(predicting(bias=1.0, spread=0.0, same=1.0)) < usual
    assert width(predicting(bias=1.0, spread=0.0, puts=200_000.0, half=0.5)) > usual


def test_write_amplification_is_of_the_figures(predicting: Predicting) -> None:
    one = of(predicting(half=0.5))
    value, low, _ = values(one)
    assert value.write_amplification == pytest.approx((value.flush_bytes + value.output_bytes) / value.flush_bytes)
    assert one.amplification_bounds is not None
    assert one.amplification_bounds[0] == pytest.approx((value.flush_bytes + low.output_bytes) / value.flush_bytes)
    assert one.ratio_bounds is not None
    assert value.output_input_ratio is not None
    assert one.ratio_bounds[0] < value.output_input_ratio < one.ratio_bounds[1] <= 1
    assert value.named()["flush_mib"] == value.flush_bytes / MIB


def test_families_that_do_not_fit_are_named(predicting: Predicting) -> None:
    assert not any("is off" in said for said in of(predicting(bias=1.02, half=0.5)).quality)
    said = of(predicting(bias=1.4, half=0.5)).quality
    assert sum("is off under the log's own options" in one for one in said) == 3


def test_windows_longer_than_the_log_showed_are_named(predicting: Predicting) -> None:
    # eight flushes of so many puts are merged at once; the log's longest windows are far shorter
    beyond = of(predicting(puts=100_000.0, half=0.5))
    said = [one for one in beyond.quality if "is a guess" in one]
    assert said
    need = next(one for one in beyond.needs if one.beyond > 1)
    assert said[0].startswith(f"{need.family}: these options merge about {need.needed_puts:.0f} puts at once")
    within = of(predicting(puts=100.0, half=0.5))
    assert not any("is a guess" in one for one in within.quality)
    assert all(one.beyond == 1 for one in within.needs)


def test_no_replay_no_figures(predicting: Predicting) -> None:
    lost, fine = predicting(lost=None, fine=0.8).predictions
    assert lost.predicted is None
    assert "no replay finished: this one failed (crashed)" in lost.quality[0]
    assert fine.predicted is not None


def test_a_replay_that_fails_is_left_out(predicting: Predicting, learned: FittedWorkload) -> None:
    anchor = predicting(bias=1.0).anchor
    seen = by_family(learned.evidence.run.families)
    half = Replayed({name: one.times(0.5) for name, one in seen.items()}, {}, ())
    found = prediction_of(anchor, anchor.options.named("half"), [half, FAILED, half])
    assert found.predicted is not None
    assert found.predicted.value.output_bytes == pytest.approx(0.5 * total(seen).output_bytes, rel=0.05)
    assert "one of the replays failed (crashed)" in found.quality[0]


def test_variants_nearer_to_the_log_count_more(learned: FittedWorkload) -> None:
    own = options_of_run(learned.evidence.run)
    seen = by_family(learned.evidence.run.families)
    variants = usual_variants(learned, [own], 3)
    replays = [Replayed({name: one.times(by) for name, one in seen.items()}, {}, ()) for by in (1.5, 1.01, 0.6)]
    anchor = anchor_from(learned, own, ENGINE, variants, replays)
    for best, near, far in anchor.weights.values():
        assert near > best > 0
        assert near > far > 0
    family = max(seen, key=lambda name: seen[name].output_bytes)
    assert anchor.mean(family, "output_bytes") == pytest.approx(seen[family].output_bytes, rel=0.1)


def test_without_any_replay_of_the_log_there_is_no_anchor(learned: FittedWorkload) -> None:
    own = options_of_run(learned.evidence.run)
    variants = usual_variants(learned, [own], 2)
    with pytest.raises(InputError, match="no replay of the fitted workload finished: killed by SIGABRT"):
        anchor_from(learned, own, ENGINE, variants, [FAILED, FAILED])


def test_options_that_the_log_cannot_answer_for_are_named(predicting: Predicting) -> None:
    anchor = predicting().anchor
    replays = list(anchor.own)
    other = anchor.options.changed("compression", "kZSTD").changed("ttl", "60").named("other")
    said = prediction_of(anchor, other, replays).quality
    assert any("the options compress otherwise than the log's" in one for one in said)
    assert any("ttl acts by the log's own time" in one for one in said)
