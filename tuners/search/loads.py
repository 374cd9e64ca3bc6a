"""Loads: a workload at another rate than the log's, the same work in less or more time."""

from typing import Any

import msgspec
from lsmlens.tuners.workloads.document import Workload

TIMES = frozenset({"seconds", "start", "end"})
RATES = frozenset({"rate", "puts_per_second"})


def at_load(workload: Workload, load: float) -> Workload:
    """The workload `load` times as fast: times are divided by it, rates multiplied. Raises ValueError for load <= 0."""
    if not load > 0:
        raise ValueError(f"a load is positive, not {load}")
    return msgspec.convert(_times(msgspec.to_builtins(workload), load), Workload)


def _times(said: Any, load: float) -> Any:
    if isinstance(said, dict):
        return {
            name: value / load
            if name in TIMES and isinstance(value, int | float)
            else value * load
            if name in RATES and isinstance(value, int | float)
            else _times(value, load)
            for name, value in said.items()
        }
    return [_times(one, load) for one in said] if isinstance(said, list | tuple) else said
