"""Self-consistency: does the fitted workload, under the log's own options, do what the log shows?

Family by family: flushes within 5 %, compaction bytes within 15 %. What differs stays in every later answer: it widens
the intervals of that family's figures.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsmlens.tuners.predictions.figures import METRICS, Figures, total

FLUSHES_WITHIN = 0.05
OUTPUT_WITHIN = 0.15
# Families with less of all bytes are let pass: chance moves them more than these limits.
LEAST_SHARE = 0.01
# So many jobs and bytes more on either side of a ratio: below that nothing is told by it.
SLACK: Mapping[str, float] = {
    "flushes": 0.5,
    "flush_bytes": 1 << 16,
    "compactions": 1.0,
    "output_bytes": 1 << 19,
    "input_records": 5000.0,
    "output_records": 5000.0,
}


@dataclass(frozen=True, slots=True)
class Check:
    """One family: relative differences of the replay from the log, None where the log has none to compare with.

    `share` is the family's share of all bytes that the log shows written.
    """

    family: str
    share: float
    flushes: float | None
    flush_bytes: float | None
    output_bytes: float | None
    is_consistent: bool


def log_ratio(metric: str, one: Figures, other: Figures) -> float:
    """The logarithm of how much more of a metric one has than the other, drawn to 0 where both are small."""
    slack = SLACK[metric]
    return math.log((getattr(one, metric) + slack) / (getattr(other, metric) + slack))


def check(replayed: Mapping[str, Figures], observed: Mapping[str, Figures]) -> tuple[Check, ...]:
    """The checks of all observed families, by name; `replayed` are means over replays of the log's own options."""
    whole = total(observed).written_bytes
    return tuple(
        _check(name, replayed.get(name, Figures()), seen, seen.written_bytes / whole if whole else 0.0)
        for name, seen in sorted(observed.items())
    )


def warnings(checks: Sequence[Check]) -> list[str]:
    """What a reader must know: families that the fitted workload does not bring out as the log shows them."""
    return [
        f"{one.family}: the fitted workload is off under the log's own options: flushes {_percent(one.flushes)},"
        f" flush bytes {_percent(one.flush_bytes)}, compaction bytes {_percent(one.output_bytes)};"
        " its intervals are as much wider"
        for one in checks
        if not one.is_consistent
    ]


def error(metric: str, replayed: Figures, observed: Figures) -> float:
    """The model's error in one metric: the logarithm of replay over log."""
    if metric not in METRICS:
        raise ValueError(metric)
    return log_ratio(metric, replayed, observed)


def _check(name: str, replayed: Figures, observed: Figures, share: float) -> Check:
    flushes = _difference(replayed.flushes, observed.flushes)
    output = _difference(replayed.output_bytes, observed.output_bytes)
    is_flush_fine = flushes is None or abs(replayed.flushes - observed.flushes) <= max(
        1.5, FLUSHES_WITHIN * observed.flushes
    )
    is_output_fine = output is None or abs(output) <= OUTPUT_WITHIN
    return Check(
        name,
        share,
        flushes,
        _difference(replayed.flush_bytes, observed.flush_bytes),
        output,
        share < LEAST_SHARE or (is_flush_fine and is_output_fine),
    )


def _difference(value: float, reference: float) -> float | None:
    return value / reference - 1 if reference else None


def _percent(difference: float | None) -> str:
    return "none to compare" if difference is None else f"{100 * difference:+.0f} %"
