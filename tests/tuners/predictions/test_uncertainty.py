"""Intervals: what makes them wide, and what does not."""

import math

import numpy as np
import pytest
from lsmlens.tuners.predictions.uncertainty import (
    NINETY_PERCENT,
    bounds,
    deviation,
    effective,
    lasting_share,
    not_lasting,
    part_of,
    spread_of,
)


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
    fine, off = (
        deviation("output_bytes", 0.01, math.sqrt(lasting_share("output_bytes", error, passing)) * passing, 0.5, 1.0)
        for error in (0.0, math.log(2))
        for passing in [not_lasting("output_bytes", error, 0.01, 4)]
    )
    assert off.whole > 2 * fine.whole
    assert off.shared == fine.shared


def test_errors_beyond_chance_last() -> None:
    def share(error: float, spread: float = 0.05, replays: float = 2) -> float:
        return lasting_share("output_bytes", error, not_lasting("output_bytes", error, spread, replays))

    # of small ones what is usual counts as much as what these options do, twice over, and chance takes from it
    assert share(0.0, spread=0.0) == pytest.approx(2**2 / (2**2 + 1))
    assert share(0.02, spread=0.2) < 0.25
    assert share(-0.3) == share(0.3)
    shares = [share(error) for error in (0.1, 0.2, 0.3, 0.5)]
    assert shares == sorted(shares)
    assert shares[0] < 0.7
    assert 0.7 < shares[-1] < 1
    # replays that scatter say little, and so do few of them
    assert share(0.3, spread=0.2) < share(0.3, spread=0.02)
    assert share(0.3, replays=1) < share(0.3, replays=8)
    # of flushed bytes less is of the options
    assert share(0.1, 0.01) < lasting_share("flush_bytes", 0.1, not_lasting("flush_bytes", 0.1, 0.01, 2))


def test_what_changes_little_keeps_what_the_log_shows() -> None:
    assert part_of(0.0) == 0
    assert 0 < part_of(-0.1) < part_of(0.2) < part_of(2.0) == 1


def test_a_replay_that_hardly_counts_is_hardly_one() -> None:
    assert effective([1, 1, 1, 1]) == pytest.approx(4)
    assert 1 < effective([3, 0.1]) < 1.1


def test_options_that_change_little_are_answered_narrowly() -> None:
    same = deviation("output_bytes", 0.0, 0.2, 0.0, 1.0)
    other = deviation("output_bytes", 0.0, 0.2, 0.7, 1.0)
    assert 0 < same.whole < 0.3 * other.whole


def test_windows_beyond_the_log_make_survivors_uncertain_but_not_flushes() -> None:
    within, beyond = (deviation("output_bytes", 0.01, 0.0, 0.5, times) for times in (1.0, 6.0))
    assert beyond.whole > 2 * within.whole
    assert deviation("flush_bytes", 0.01, 0.0, 0.5, 6.0) == deviation("flush_bytes", 0.01, 0.0, 0.5, 1.0)
