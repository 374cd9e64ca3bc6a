"""Working sets and growth, as bottoms show how much came to live."""

from collections.abc import Callable

import numpy as np
import pytest
from lsmlens.tuners.estimation.history import History
from lsmlens.tuners.estimation.intervals import intervals_of
from lsmlens.tuners.estimation.lifetimes import Lifetimes
from lsmlens.tuners.estimation.overwrites import overwrite_parts
from lsmlens.tuners.estimation.windows import Layer, Window, WindowKind
from lsmlens.tuners.workloads.components import Growth

Logged = Callable[..., History]


@pytest.mark.parametrize(("records", "fresh"), [((4000, 4000), 0), ((4000, 5000), 1000), ((4000, 9000), 4000)])
def test_growth_is_what_came_to_live_from_bottom_to_bottom(
    logged: Logged, records: tuple[int, int], fresh: int
) -> None:
    intervals = intervals_of(logged(Growth(rate=8.0), flush=2000), "default")
    assert len(intervals) == 4
    # half of the puts are of two keys, the others would live for ever
    lifetimes = Lifetimes(np.array([4.0, np.inf]), np.array([[0.5, 0.5]]), 0.0)
    bottoms = [
        Window(WindowKind.BOTTOM, float(last), (Layer(1.0, 0, last),), count + 2, None)
        for last, count in zip((1, 3), records, strict=True)
    ]
    regimes = np.zeros(4, np.int64)
    parts = overwrite_parts(intervals, bottoms, lifetimes, regimes, np.ones(4))
    (grown,) = [part for part in parts if isinstance(part.component, Growth)]
    assert grown.puts[:2].sum() == pytest.approx(2000, abs=2)
    assert grown.puts[2:].sum() == pytest.approx(min(fresh, 2000), abs=2)
    assert sum(int(part.puts.sum()) for part in parts) == sum(one.puts for one in intervals)
