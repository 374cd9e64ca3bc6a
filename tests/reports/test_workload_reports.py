"""What was learned from a log, as a person reads it first."""

from collections.abc import Callable

import pytest
from lsmlens.reports.outputs import WORKLOAD
from lsmlens.tuners.estimation.fit import FittedWorkload


@pytest.mark.parametrize("width", [80, 120])
def test_first_screens(width: int, learned: FittedWorkload, golden: Callable[[str, str], None]) -> None:
    text = WORKLOAD.screen(learned, width=width)
    assert all(len(line) <= width for line in text.splitlines())
    golden(f"workload-{width}.txt", text)
