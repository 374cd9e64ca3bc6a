"""What was in the database before the log began: records of the same populations, and old ones nothing touches."""

from collections.abc import Sequence

import msgspec
from lsmlens.tuners.estimation.parts import Part
from lsmlens.tuners.workloads.components import Clustered, Component, Growth, GrowthRow, Overwrite, Queue


def preloads(
    components: Sequence[Component], parts: Sequence[Part], records: float, lost: float = 0.0
) -> list[Component]:
    """The components with `records` of before among them: populations are full, what is left had grown.

    Of these records `lost` are known to have been overwritten or deleted, in a queue before any of the log's own.
    """
    found: list[Component] = []
    left = records
    for component, part in zip(components, parts, strict=True):
        wanted = 0.0
        if isinstance(component, Overwrite):
            wanted = component.working_sets[0].keys
        elif isinstance(component, Clustered):
            wanted = part.live
        elif isinstance(component, Queue):
            deletes = float(part.deletes.sum())
            wanted = max(0.0, deletes - float(part.puts.sum()), min(deletes, lost))
        preload = round(min(left, wanted))
        left, lost = left - preload, lost - preload
        found.append(msgspec.structs.replace(component, preload=preload) if preload else component)
    rest = round(left)
    if rest:
        growth = next((place for place, one in enumerate(found) if isinstance(one, Growth)), None)
        if growth is None:
            start = found[0].schedule[0].start if found and found[0].schedule else 0.0
            found.append(Growth(schedule=(GrowthRow(start, start, 0),), preload=rest))
        else:
            found[growth] = msgspec.structs.replace(found[growth], preload=rest)
    return found
