"""What was in the database before the log began: records of the same populations, and old ones nothing touches."""

from collections.abc import Sequence

import msgspec
from lsmlens.tuners.estimation.parts import Part
from lsmlens.tuners.workloads.components import Clustered, Component, Growth, GrowthRow, Overwrite, Queue


def preloads(components: Sequence[Component], parts: Sequence[Part], records: float) -> list[Component]:
    """The components with `records` of before among them: populations are full, what is left had grown."""
    found: list[Component] = []
    left = records
    for component, part in zip(components, parts, strict=True):
        wanted = 0.0
        if isinstance(component, Overwrite):
            wanted = component.working_sets[0].keys
        elif isinstance(component, Clustered):
            wanted = part.live
        elif isinstance(component, Queue):
            wanted = max(0.0, float(part.deletes.sum() - part.puts.sum()))
        preload = round(min(left, wanted))
        left -= preload
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
