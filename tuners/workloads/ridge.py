"""Other workloads that explain a log as well: a component's `ridge` holds the parameter points of each."""

import re
from typing import Any

import msgspec
import numpy as np
from lsmlens.tuners.workloads.components import Component
from lsmlens.tuners.workloads.document import Workload

_STEP = re.compile(r"(?P<name>\w+)|\[(?P<place>\d+)\]")


def with_point(component: Component, point: dict[str, float]) -> Component:
    """The component with the fields that `point` names, as `working_sets[0].keys`, at the values given there.

    Raises ValueError for a name of no field, or a value that the field does not take.
    """
    said = msgspec.to_builtins(component)
    for path, value in point.items():
        _set(said, path, int(value) if value == int(value) else value)
    changed: Component = msgspec.convert(said, type(component))
    return changed


def drawn(workload: Workload, rng: np.random.Generator) -> Workload:
    """The workload with every component that has a ridge at one of its points, or where it is, all equally likely."""
    families = []
    for family in workload.column_families:
        components = []
        for one in family.components:
            place = int(rng.integers(0, len(one.ridge) + 1))
            components.append(with_point(one, one.ridge[place]) if place < len(one.ridge) else one)
        families.append(msgspec.structs.replace(family, components=tuple(components)))
    return msgspec.structs.replace(workload, column_families=tuple(families))


def _set(said: dict[str, Any], path: str, value: float) -> None:
    steps = [match["name"] or int(match["place"]) for match in _STEP.finditer(path)]
    target: Any = said
    try:
        for step in steps[:-1]:
            target = target[step]
        target[steps[-1]] = value
    except (LookupError, TypeError) as error:
        raise ValueError(f"no field `{path}`") from error
