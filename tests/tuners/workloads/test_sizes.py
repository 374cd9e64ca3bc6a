"""Sizes: their means, bounds and shares."""

import numpy as np
import pytest
from lsmlens.tuners.workloads.sizes import LogNormal, Mixture, SizeClass, Uniform, mean_bytes, sizes_at

QUANTILES = (np.arange(200_000) + 0.5) / 200_000
Size = float | Uniform | LogNormal | Mixture


@pytest.mark.parametrize(
    ("size", "mean"),
    [
        (17, 17),
        (412.3, 412.3),
        (Uniform(10, 20), 15),
        (LogNormal(400, 0.5), 400 * np.exp(0.125)),
        (Mixture((SizeClass(3, 100), SizeClass(1, Uniform(0, 100)))), 87.5),
    ],
)
def test_means(size: Size, mean: float) -> None:
    assert sizes_at(size, QUANTILES).mean() == pytest.approx(mean, rel=2e-4)
    assert mean_bytes(size) == pytest.approx(mean, rel=2e-3)


def test_a_fraction_is_the_share_of_those_one_longer() -> None:
    drawn = sizes_at(10.3, np.random.default_rng(1).random(100_000))
    assert set(drawn.tolist()) == {10, 11}
    assert (drawn == 11).mean() == pytest.approx(0.3, abs=0.01)


def test_uniform_reaches_both_ends_evenly() -> None:
    counts = np.bincount(sizes_at(Uniform(3, 6), QUANTILES))
    assert counts.tolist() == [0, 0, 0, 50_000, 50_000, 50_000, 50_000]


def test_lognormal_has_its_median_and_stays_within_its_cuts() -> None:
    drawn = sizes_at(LogNormal(400, 1.0, 100, 1000), np.concatenate(([0.0], QUANTILES)))
    assert drawn.min() == 100
    assert drawn.max() == 1000
    assert np.median(drawn) == pytest.approx(400, abs=1)
    assert (sizes_at(LogNormal(400, 0), QUANTILES) == 400).all()


def test_a_mixture_has_its_shares() -> None:
    mixture = Mixture((SizeClass(8, LogNormal(480, 0.15)), SizeClass(2, 7)))
    drawn = sizes_at(mixture, QUANTILES)
    assert (drawn == 7).mean() == pytest.approx(0.2, abs=1e-4)
    assert np.median(drawn[drawn != 7]) == pytest.approx(480, abs=1)


def test_lognormal_at_the_ends_of_its_arguments() -> None:
    ends = np.array([0.0, np.nextafter(1, 0)])
    assert sizes_at(LogNormal(400, 5.0, 3, 1 << 20), ends).tolist() == [3, 1 << 20]
    assert sizes_at(LogNormal(400, 0), ends).tolist() == [400, 400]
