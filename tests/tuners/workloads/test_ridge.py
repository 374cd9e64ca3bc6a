"""Points of a ridge: other parameters of one component."""

from collections.abc import Callable

import numpy as np
import pytest
from lsmlens.tuners.workloads.components import Overwrite, WorkingSet
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.ridge import drawn, with_point


def test_a_point_changes_the_fields_it_names() -> None:
    one = Overwrite(working_sets=(WorkingSet(10), WorkingSet(20, 0.5)), rate=1.0)
    changed = with_point(one, {"working_sets[1].keys": 35.0, "working_sets[1].zipf": 1.0, "deletes_per_put": 0.25})
    assert isinstance(changed, Overwrite)
    assert changed.working_sets == (WorkingSet(10), WorkingSet(35, 1.0))
    assert changed.deletes_per_put == 0.25
    assert changed.rate == 1


@pytest.mark.parametrize(
    "path", ["keyz", "working_sets[3].keys", "working_sets.keys", "working_sets[0].skew", "rate", ""]
)
def test_other_names_and_values_are_refused(path: str) -> None:
    with pytest.raises(ValueError):
        with_point(Overwrite(working_sets=(WorkingSet(10),), rate=1.0), {path: -1})


def test_draws_reach_every_point(family: Callable[..., Workload]) -> None:
    workload = family(
        "{kind: overwrite, rate: 1, working_sets: [{keys: 5}],"
        " ridge: [{'working_sets[0].keys': 6}, {deletes_per_put: 1}]}"
    )
    rng = np.random.default_rng(1)
    found = set()
    for _ in range(60):
        (one,) = drawn(workload, rng).column_families[0].components
        assert isinstance(one, Overwrite)
        found.add((one.working_sets[0].keys, one.deletes_per_put))
    assert found == {(5, 0), (6, 0), (5, 1)}
    assert drawn(workload, np.random.default_rng(3)) == drawn(workload, np.random.default_rng(3))
