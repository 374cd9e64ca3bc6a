"""Zipf's law: frequencies against its chances, by chi-square."""

import numpy as np
import pytest
from lsmlens.tuners.workloads.zipf import HEAD, Zipf
from scipy.stats import chisquare

DRAWN = 400_000


def p_value(drawn: Zipf, expected: Zipf, least: int) -> float:
    """Of ranks drawn from one law by the other's chances, rare ranks taken together, about `least` expected in each."""
    ranks = drawn.ranks(DRAWN, np.random.default_rng(7))
    assert ranks.min() >= 0
    assert ranks.max() < drawn.keys
    counts = expected.chances() * DRAWN
    bins = np.unique((np.cumsum(counts) - counts / 2) // least, return_inverse=True)[1]
    observed = np.bincount(bins[ranks], minlength=bins.max() + 1)
    return float(chisquare(observed, np.bincount(bins, counts)).pvalue) if len(observed) > 1 else 1.0


@pytest.mark.parametrize("skew", [0, 0.5, 0.99, 1, 1.000001, 1.4, 3])
@pytest.mark.parametrize("keys", [1, 2, 100, HEAD, HEAD + 1, 50_000])
def test_frequencies(keys: int, skew: float) -> None:
    assert p_value(Zipf(keys, skew), Zipf(keys, skew), 20) > 1e-3
    assert p_value(Zipf(keys, skew), Zipf(keys, skew), 4000) > 1e-3


@pytest.mark.parametrize("skew", [0, 0.8, 1.4])
def test_another_law_is_seen(skew: float) -> None:
    assert p_value(Zipf(50_000, skew), Zipf(50_000, skew + 0.02), 4000) < 1e-6
    assert p_value(Zipf(45_000, skew), Zipf(50_000, skew), 400) < 1e-6 or skew > 1


def test_a_population_of_any_size_takes_no_memory() -> None:
    ranks = Zipf(1 << 40, 0.9).ranks(1000, np.random.default_rng(1))
    assert 0 <= ranks.min() < ranks.max() < 1 << 40
