"""Intervals: what makes them wide, and what does not."""

import math

import numpy as np
import pytest
from lsmlens.tuners.predictions.uncertainty import NINETY_PERCENT, bounds, deviation, spread_of


def test_bounds_hold_nine_in_ten() -> None:
    low, high = bounds(200.0, 0.1)
    assert low * high == pytest.approx(200.0**2)
    drawn = 200.0 * np.exp(np.random.default_rng(1).normal(0, 0.1, 100_000))
    assert ((drawn > low) & (drawn < high)).mean() == pytest.approx(0.9, abs=0.005)
    assert pytest.approx(1.645) == NINETY_PERCENT


def test_replays_that_differ_make_it_wide() -> None:
    equal, near, far = ([0.1, 0.1, 0.1], [0.1, 0.12, 0.08], [0.1, 0.3, -0.1])
    spreads = [spread_of(ratios, [1, 1, 1], 1e9) for ratios in (equal, near, far)]
    assert spreads[0] == pytest.approx(0, abs=1e-9)
    assert spreads[1] == pytest.approx(np.std(near, ddof=1))
    assert spreads[2] == pytest.approx(np.std(far, ddof=1))
    # a replay that hardly counts adds hardly anything
    assert spread_of(far, [1, 0.001, 0.001], 1e9) < 0.2 * spreads[2]
    # chance alone moves few jobs
    assert spread_of(equal, [1, 1, 1], 5) > 0.05


def test_a_family_that_does_not_fit_makes_it_wide() -> None:
    fine = deviation("output_bytes", 0.01, 0.0, 0.5, 1.0)
    off = deviation("output_bytes", 0.01, math.log(1.5), 0.5, 1.0)
    assert off.whole > 3 * fine.whole
    assert off.shared == fine.shared


def test_options_that_change_little_are_answered_narrowly() -> None:
    same = deviation("output_bytes", 0.0, 0.2, 0.0, 1.0)
    other = deviation("output_bytes", 0.0, 0.2, 0.7, 1.0)
    assert 0 < same.whole < 0.3 * other.whole


def test_windows_beyond_the_log_make_survivors_uncertain_but_not_flushes() -> None:
    within, beyond = (deviation("output_bytes", 0.01, 0.0, 0.5, times) for times in (1.0, 6.0))
    assert beyond.whole > 2 * within.whole
    assert deviation("flush_bytes", 0.01, 0.0, 0.5, 6.0) == deviation("flush_bytes", 0.01, 0.0, 0.5, 1.0)
