"""Refinement: where a fitted family does not do what the log shows, other structures of it are tried.

All replays are under the log's own options. The fit is replayed first; if every family that matters comes out well,
that is all. Else it is replayed with compactions that last as long as the log's did: where these ran behind the
flushes, that comes much nearer, and stays. Then the structures that the log leaves open are replayed, those of all such
families at once, and each family keeps the one that comes nearest to the log, if it comes clearly nearer than what it
had.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.estimation.structures import rounds
from lsmlens.tuners.predictions.figures import Figures, by_family
from lsmlens.tuners.predictions.replays import Replayed, Variant
from lsmlens.tuners.predictions.self_consistency import log_ratio
from lsmlens.tuners.replays.measurement import TrialFailure

if TYPE_CHECKING:
    from lsmlens.tuners.estimation.family_parts import Variation

# Families with less of all bytes are left as they are.
LEAST_SHARE = 0.05
# Rounds of replays at the most.
MOST_ROUNDS = 3
# Logarithms of replay over log up to these are well enough.
WELL_ENOUGH: Mapping[str, float] = {"output_bytes": 0.08, "compactions": 0.15}
# Another structure must bring the error down this far to be taken.
CLEARLY = 0.7

Replay = Callable[[Sequence[Variant]], list[Replayed | TrialFailure]]


def refined(fitted: FittedWorkload, replay: Replay, scale: float) -> FittedWorkload:
    """The fit, with other structures of the families that call for it; `replay` runs the log's own options."""
    weights = _weights(fitted)
    errors = _errors(fitted, weights, replay, scale)
    if errors is None or max(errors.values(), default=0.0) <= 1.0:
        return fitted
    timed = fitted.timed()
    if timed.compaction_seconds:
        slower = _errors(timed, weights, replay, scale)
        if slower is not None and _sum(slower, weights) < CLEARLY * _sum(errors, weights):
            fitted, errors = timed, slower
    errors = {name: error for name, error in errors.items() if error > 1.0}
    tried = rounds([one for one in fitted.families if one.column_family.name in errors])[:MOST_ROUNDS]
    variants = [_variant(fitted.varied(one), scale) for one in tried]
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


def _weights(fitted: FittedWorkload) -> dict[str, float]:
    """The bytes of the families that count."""
    written = {name: one.written_bytes for name, one in by_family(fitted.evidence.run.families).items()}
    return {name: one for name, one in written.items() if one >= LEAST_SHARE * sum(written.values())}


def _variant(fitted: FittedWorkload, scale: float) -> Variant:
    return Variant(fitted.workload, scale, 1, tails_of(fitted), fitted.compaction_seconds)


def _errors(fitted: FittedWorkload, names: Collection[str], replay: Replay, scale: float) -> dict[str, float] | None:
    """The error of each of these families; None where the replay fails."""
    result = replay([_variant(fitted, scale)])[0]
    if not isinstance(result, Replayed):
        return None
    observed = by_family(fitted.evidence.run.families)
    return {name: _error(result.families.get(name, Figures()), observed[name]) for name in names}


def _sum(errors: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(error * weights[name] for name, error in errors.items())


def tails_of(fitted: FittedWorkload) -> dict[str, float]:
    """Operations that are to be expected in each family's memtables at the log's end: half of a flush's."""
    found = {}
    for one in fitted.families:
        flushed = [interval.operations for interval in one.evidence.intervals if interval.flush is not None]
        found[one.column_family.name] = sum(flushed) / len(flushed) / 2 if flushed else 0.0
    return found


def _error(replayed: Figures, observed: Figures) -> float:
    """The larger error of bytes and of jobs, in units of what is well enough."""
    return max(abs(log_ratio(metric, replayed, observed)) / limit for metric, limit in WELL_ENOUGH.items())
