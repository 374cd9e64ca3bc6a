"""Records of before the log: of the populations that its own operations are on, and those that nothing touches."""

import numpy as np
from lsmlens.tuners.estimation.family_fit import preloads
from lsmlens.tuners.estimation.parts import Part, overwritten, queued
from lsmlens.tuners.workloads.components import Component, Growth, GrowthRow, Row

HOT = overwritten(300.0, np.array([5000, 5000]))
ROWS = (Row(0.0, 10.0, 10_000, 9000), Row(10.0, 20.0, 10_000, 9000))


def queue(puts: int = 10_000, deletes: int = 9000) -> Part:
    return queued(np.full(2, puts), np.full(2, deletes), np.zeros(2)).with_(schedule=ROWS)


def preloaded(parts: list[Part], records: float, lost: float = 0.0) -> list[tuple[str, int]]:
    components: list[Component] = [part.component for part in parts]
    return [(type(one).__name__, one.preload) for one in preloads(components, parts, records, lost)]


def test_populations_are_full_and_the_rest_stays() -> None:
    assert preloaded([HOT, queue()], 7000) == [("Overwrite", 300), ("Queue", 0), ("Growth", 6700)]
    grown = Growth(schedule=(GrowthRow(0.0, 10.0, 100),))
    (one,) = preloads([grown], [queue()], 500)
    assert one.preload == 500


def test_what_was_deleted_was_in_the_queue() -> None:
    # hot keys are overwritten, so 300 of the lost ones were theirs
    assert preloaded([HOT, queue()], 7000, 4300) == [("Overwrite", 300), ("Queue", 4000), ("Growth", 2700)]
    assert preloaded([HOT, queue()], 7000, 7000) == [("Overwrite", 300), ("Queue", 6700)]
    # no more than it deletes, and at least what it deletes beyond its own
    assert preloaded([queue(deletes=1000)], 7000, 7000) == [("Queue", 2000), ("Growth", 5000)]
    assert preloaded([queue(puts=1000)], 70_000, 0) == [("Queue", 16_000), ("Growth", 54_000)]
