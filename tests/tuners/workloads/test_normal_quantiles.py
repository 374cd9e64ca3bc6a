"""Normal quantiles, held against scipy's."""

import subprocess
import sys

import numpy as np
import pytest
from lsmlens.tuners.workloads.normal_quantiles import normal_quantiles
from scipy.special import ndtri


def test_they_are_scipys_from_the_median_into_the_far_tails() -> None:
    tails = 10.0 ** -np.arange(1, 300)
    shares = np.concatenate((np.random.default_rng(1).random(100_000), [0.5, 0.075, 0.925], tails, 1 - tails[:15]))
    assert normal_quantiles(shares) == pytest.approx(ndtri(shares), rel=1e-14, abs=1e-14)


def test_generation_does_not_import_scipy() -> None:
    program = """\
import sys
from lsmlens.tuners.workloads.sources import open_workload
next(open_workload("rbd-4k-randwrite").batches(1, 1000))
print("scipy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
