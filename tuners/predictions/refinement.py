"""Refinement: where a fitted family does not do what the log shows, other structures of it are tried.

All replays are under the log's own options. The fit is replayed with compactions that end before more is written, and
with compactions that last as long as the log's did; these stay unless they are farther from the log. If every family
that matters comes out well, that is all. Else the structures that the log leaves open are replayed, those of all such
families at once, and each family keeps the one that comes nearest to the log, if it comes clearly nearer than what it
had.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.estimation.structures import rounds
from lsmlens.tuners.predictions.figures import Figures, by_family
from lsmlens.tuners.predictions.replays import Replay, Replayed, Variant
from lsmlens.tuners.predictions.self_consistency import log_ratio
from lsmlens.tuners.workloads.document import Workload

if TYPE_CHECKING:
    from lsmlens.tuners.estimation.family_parts import Variation

# Families with less of all bytes are left as they are.
LEAST_SHARE = 0.05
# Rounds of replays at the most.
MOST_ROUNDS = 6
# Logarithms of replay over log up to these are well enough; where keys lie decides at which levels bytes are written.
WELL_ENOUGH: Mapping[str, float] = {
    "output_bytes": 0.08,
    "compactions": 0.15,
    "level0_output_bytes": 0.25,
    "deeper_output_bytes": 0.25,
}
# Another structure must bring the error down this far to be taken.
CLEARLY = 0.7


def refined(fitted: FittedWorkload, replay: Replay, scale: float) -> FittedWorkload:
    """The fit, with other structures of the families that call for it; `replay` runs the log's own options."""
    found = _nearer(fitted, replay, scale)
    if found is None:
        return fitted
    fitted, every = found
    errors = {name: error for name, error in every.items() if error > 1.0}
    tried = rounds([one for one in fitted.families if one.column_family.name in errors])[:MOST_ROUNDS]
    variants = [variant_of(fitted.varied(one), scale) for one in tried]
    observed = by_family(fitted.evidence.run.families)
    chosen: dict[str, Variation] = {}
    for round_, result in zip(tried, replay(variants) if variants else [], strict=True):
        if not isinstance(result, Replayed):
            continue
        for name, variation in round_.items():
            error = _error(result.families.get(name, Figures()), observed[name])
            if error < CLEARLY * errors[name] or (name in chosen and error < errors[name]):
                errors[name], chosen[name] = error, variation
    return fitted.varied(chosen) if chosen else fitted


def _nearer(fitted: FittedWorkload, replay: Replay, scale: float) -> tuple[FittedWorkload, dict[str, float]] | None:
    """The fit with compactions that last, or end at once where that is nearer, and its errors; None if none ended."""
    timed = fitted.timed()
    both = [fitted, timed] if timed.compaction_seconds else [fitted]
    weights = _weights(fitted)
    observed = by_family(fitted.evidence.run.families)
    found: list[tuple[FittedWorkload, dict[str, float]]] = []
    for one, result in zip(both, replay([variant_of(one, scale) for one in both]), strict=True):
        if isinstance(result, Replayed):
            errors = {name: _error(result.families.get(name, Figures()), observed[name]) for name in weights}
            found.append((one, errors))
    # where the log's own options show no difference, others may: compactions do last
    if len(found) == len(both) == 2 and _sum(found[1][1], weights) > _sum(found[0][1], weights):
        found.pop()
    return found[-1] if found else None


def _weights(fitted: FittedWorkload) -> dict[str, float]:
    """The bytes of the families that count."""
    written = {name: one.written_bytes for name, one in by_family(fitted.evidence.run.families).items()}
    return {name: one for name, one in written.items() if one >= LEAST_SHARE * sum(written.values())}


def _sum(errors: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(error * weights[name] for name, error in errors.items())


def variant_of(fitted: FittedWorkload, scale: float, workload: Workload | None = None, seed: int = 1) -> Variant:
    """The best fit, or another workload with as many operations, to be replayed at this scale."""
    return Variant(workload or fitted.workload, scale, seed, tails_of(fitted), fitted.compaction_seconds)


def tails_of(fitted: FittedWorkload) -> dict[str, float]:
    """Operations that are to be expected in each family's memtables at the log's end: half of a flush's."""
    found = {}
    for one in fitted.families:
        flushed = [interval.operations for interval in one.evidence.intervals if interval.flush is not None]
        found[one.column_family.name] = sum(flushed) / len(flushed) / 2 if flushed else 0.0
    return found


def _error(replayed: Figures, observed: Figures) -> float:
    """The largest error of bytes, of jobs and of bytes by level, in units of what is well enough."""
    return max(abs(log_ratio(metric, replayed, observed)) / limit for metric, limit in WELL_ENOUGH.items())
