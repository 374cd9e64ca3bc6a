"""Figures for dashboards that follow commits: the `customSmallerIsBetter` form of github-action-benchmark.

    [{"name": "osd.0/LSM write amplification", "unit": "ratio", "value": 4.948, "extra": "839 flushes"}]

Only figures of which less is better, and that are known. Totals are of what was logged: the points of one chart compare
only where the work was the same.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Measurement:
    """One point of one chart; `range` is its spread, as text."""

    name: str
    unit: str
    value: float
    range: str | None = None
    extra: str | None = None


def to_benchmark(measurements: Iterable[Measurement]) -> str:
    """The document, ending in a newline."""
    rows = [{key: value for key, value in asdict(one).items() if value is not None} for one in measurements]
    return json.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
