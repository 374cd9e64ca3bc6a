"""Lifetimes of puts: known distributions come back from the windows of a log."""

from collections.abc import Callable

import numpy as np
import pytest
from lsmlens.tuners.estimation.history import History
from lsmlens.tuners.estimation.intervals import intervals_of
from lsmlens.tuners.estimation.lifetimes import (
    Lifetimes,
    fit_lifetimes,
    kept_share,
    mean_lifetime,
    samples_of,
    single_lifetimes,
)
from lsmlens.tuners.estimation.windows import windows_of
from lsmlens.tuners.workloads.components import Growth, Overwrite, WorkingSet

Logged = Callable[..., History]


def fitted(history: History) -> Lifetimes:
    intervals = intervals_of(history, "default")
    windows = windows_of(history.families["default"], intervals)
    regimes, steady = np.zeros(len(intervals), np.int64), np.ones(len(intervals))
    samples = samples_of(windows, intervals, regimes, steady)
    return fit_lifetimes(samples, single_lifetimes(intervals, regimes, steady))


def kept(lifetimes: Lifetimes, puts: float) -> float:
    return float((lifetimes.shares[0] * puts * kept_share(puts / lifetimes.means)).sum())


def distinct(keys: int, puts: float) -> float:
    return keys * -float(np.expm1(puts * np.log1p(-1 / keys)))


def test_kept_share_is_its_limits() -> None:
    assert kept_share(np.array([0.0, 1e-9, 1.0, 1e6])) == pytest.approx([1, 1, 1 - np.exp(-1), 1e-6])


@pytest.mark.parametrize("keys", [50, 3000, 200_000])
def test_mean_lifetime_undoes_kept_share(keys: int) -> None:
    assert mean_lifetime(2000, keys * -np.expm1(-2000 / keys)) == pytest.approx(keys, rel=1e-3)
    assert mean_lifetime(2000, 2000) == float("inf")


def test_one_population(logged: Logged) -> None:
    found = fitted(logged(Overwrite(working_sets=(WorkingSet(9000),), rate=100.0)))
    assert found.misfit < 0.02
    for puts in (500, 2000, 8000, 30_000, 90_000):
        assert kept(found, puts) == pytest.approx(distinct(9000, puts), rel=0.04)


def test_growth_beside_hot_keys(logged: Logged) -> None:
    found = fitted(logged(Overwrite(working_sets=(WorkingSet(60),), rate=60.0), Growth(rate=40.0)))
    assert found.misfit < 0.03
    assert found.shares[0, -1] == pytest.approx(0.4, abs=0.03)
    for puts in (2000, 8000, 60_000):
        assert kept(found, puts) == pytest.approx(0.4 * puts + distinct(60, 0.6 * puts), rel=0.05)


def test_unequal_popularity_between_windows_and_beyond(logged: Logged) -> None:
    keys, skew = 20_000, 0.9
    found = fitted(logged(Overwrite(working_sets=(WorkingSet(keys, skew),), rate=100.0)))
    chance = np.arange(1, keys + 1) ** -skew
    chance /= chance.sum()
    assert found.misfit < 0.03
    for puts in (1000, 2000, 5000, 20_000, 80_000):
        assert kept(found, puts) == pytest.approx(float((-np.expm1(-puts * chance)).sum()), rel=0.07)


def test_a_load_and_its_updates_share_keys(logged: Logged) -> None:
    sets = (WorkingSet(20_000, filled_first=True),)
    history = logged(Overwrite(working_sets=sets, rate=100.0), flush=1000)
    intervals = intervals_of(history, "default")
    windows = windows_of(history.families["default"], intervals)
    regimes = (np.arange(len(intervals)) >= 20).astype(np.int64)
    steady = np.ones(len(intervals))
    samples = samples_of(windows, intervals, regimes, steady)
    single = single_lifetimes(intervals, regimes, steady)
    apart = fit_lifetimes(samples, single)
    shared = fit_lifetimes(samples, single, loaded=0)
    assert shared.misfit < 0.03
    assert shared.misfit < 0.5 * apart.misfit


def test_draws_differ_and_fit_alike(logged: Logged) -> None:
    history = logged(Overwrite(working_sets=(WorkingSet(20_000, 0.8),), rate=100.0))
    intervals = intervals_of(history, "default")
    windows = windows_of(history.families["default"], intervals)
    regimes, steady = np.zeros(len(intervals), np.int64), np.ones(len(intervals))
    samples = samples_of(windows, intervals, regimes, steady)
    single = single_lifetimes(intervals, regimes, steady)
    best = fit_lifetimes(samples, single)
    smooth = fit_lifetimes(samples, single, smoothing=0.001, offset=0.4)
    assert (smooth.shares > 0).sum() > (best.shares > 0).sum()
    for puts in (2000, 8000, 80_000):
        assert kept(smooth, puts) == pytest.approx(kept(best, puts), rel=0.05)


def test_no_window_no_claim() -> None:
    samples = samples_of([], [], np.zeros(0, np.int64), np.ones(0))
    found = fit_lifetimes(samples, np.ones(1))
    assert found.shares[0, -1] == 1  # everything lives for ever
    assert found.misfit == 0
