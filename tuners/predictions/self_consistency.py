"""Self-consistency: does the fitted workload, under the log's own options, do what the log shows?

Family by family, however small: flushes within 5 %, compaction bytes within 15 %. What differs stays in every later
answer: it widens the intervals of that family's figures, and a warning says so.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsmlens.tuners.predictions.figures import METRICS, Figures, total

FLUSHES_WITHIN = 0.05
OUTPUT_WITHIN = 0.15
# Families with less of all bytes share one warning.
SMALL_SHARE = 0.01
# So many jobs and bytes more on either side of a ratio: below that nothing is told by it.
SLACK: Mapping[str, float] = {
    "flushes": 0.5,
    "flush_bytes": 1 << 16,
    "compactions": 1.0,
    "output_bytes": 1 << 19,
    "level0_output_bytes": 1 << 19,
    "deeper_output_bytes": 1 << 19,
    "input_records": 5000.0,
    "output_records": 5000.0,
}


@dataclass(frozen=True, slots=True)
class Check:
    """One family: relative differences of the replay from the log, None where the log has none to compare with.

    `share` is the family's share of all bytes that the log shows written. `is_consistent`: flushes and compaction bytes
    are within their limits; where the log has none, the replay has none either.
    """

    family: str
    share: float
    flushes: float | None
    flush_bytes: float | None
    output_bytes: float | None
    compactions: float | None
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
    """What a reader must know: families that the learned workload does not bring out as logged, the heaviest first."""
    off = sorted((one for one in checks if not one.is_consistent), key=lambda one: -one.share)
    said = [
        f"{one.family}, {_share(one.share)} of the bytes: the learned workload is off under the log's own options:"
        f" {_off_by(one)}; its intervals are wider by that"
        for one in off
        if one.share >= SMALL_SHARE
    ]
    small = [one for one in off if one.share < SMALL_SHARE]
    if small:
        families = "; ".join(f"{one.family}, {_share(one.share)}: {_off_by(one)}" for one in small)
        said.append(
            f"the learned workload is off in {len(small)} small {'families' if len(small) > 1 else 'family'} too, with"
            f" {_share(sum(one.share for one in small))} of the bytes in all, and their intervals are wider by that:"
            f" {families}"
        )
    return said


def error(metric: str, replayed: Figures, observed: Figures) -> float:
    """The model's error in one metric: the logarithm of replay over log."""
    if metric not in METRICS:
        raise ValueError(metric)
    return log_ratio(metric, replayed, observed)


def _check(name: str, replayed: Figures, observed: Figures, share: float) -> Check:
    flushes = _difference(replayed.flushes, observed.flushes)
    output = _difference(replayed.output_bytes, observed.output_bytes)
    return Check(
        name,
        share,
        flushes,
        _difference(replayed.flush_bytes, observed.flush_bytes),
        output,
        _difference(replayed.compactions, observed.compactions),
        _is_within(flushes, replayed.flushes, FLUSHES_WITHIN)
        and _is_within(output, replayed.compactions, OUTPUT_WITHIN),
    )


def _is_within(difference: float | None, jobs: float, limit: float) -> bool:
    """Whether the difference is within its limit; where the log has nothing, whether the replay has no whole job."""
    return abs(difference) <= limit if difference is not None else jobs < 1


def _difference(value: float, reference: float) -> float | None:
    return value / reference - 1 if reference else None


def _off_by(one: Check) -> str:
    parts = (
        ("flushes", one.flushes),
        ("flush bytes", one.flush_bytes),
        ("compaction bytes", one.output_bytes),
        ("compactions", one.compactions),
    )
    return ", ".join(
        f"{name} {'not in the log' if value is None else f'{100 * value:+.0f} %'}" for name, value in parts
    )


def _share(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.001 else "below 0.1 %"
