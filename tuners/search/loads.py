"""Loads: a workload at another rate than the log's, the same work in less or more time."""

from typing import Any

import msgspec
from lsmlens.tuners.workloads.document import Workload


def at_load(workload: Workload, load: float) -> Workload:
    """The workload `load` times as fast: times are divided by it, rates multiplied. Raises ValueError for load <= 0."""
    if not load > 0:
        raise ValueError(f"a load is positive, not {load}")
    return msgspec.convert(_at_load(msgspec.to_builtins(workload), load), Workload)


def _at_load(said: Any, load: float) -> Any:
    """Rows of a schedule begin with their start and end, steps of a rate are a start and puts a second."""
    if isinstance(said, dict):
        return {name: _of_field(name, value, load) for name, value in said.items()}
    return [_at_load(one, load) for one in said] if isinstance(said, list | tuple) else said


def _of_field(name: str, value: Any, load: float) -> Any:
    if value is None or isinstance(value, str):
        return value
    if name == "seconds":
        return value / load
    if name == "schedule":
        return [[row[0] / load, row[1] / load, *row[2:]] for row in value]
    if name == "rate":
        steps = isinstance(value, list | tuple)
        return [[start / load, rate * load] for start, rate in value] if steps else value * load
    return _at_load(value, load)
