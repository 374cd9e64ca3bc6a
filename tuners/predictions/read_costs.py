"""What reads would have cost: the sorted runs that a Get looks into, anchored on the log as bytes are.

Per column family, what the log shows is multiplied by how much more or less the replays show under the other options.
The whole is the mean over the families, each by its share of the log's operations, under all options alike.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from lsmlens.analyzer.measures.sorted_runs import SortedRuns
from lsmlens.tuners.predictions.anchor import Anchor, weighed
from lsmlens.tuners.predictions.replays import Replayed
from lsmlens.tuners.predictions.uncertainty import Deviation, bounds, deviation, spread_of


class Estimate(NamedTuple):
    """A figure of the log, None where it tells none; what is predicted, and the ends of the 90 % interval."""

    log: float | None
    value: float
    low: float
    high: float


class ReadCosts(NamedTuple):
    """What reads would have cost; None where nothing tells. `sorted_runs`: means over time, see `SortedRuns`."""

    sorted_runs: Estimate | None = None

    def named(self, end: str = "value") -> dict[str, float | None]:
        """The `log`'s, the predicted `value`s, or an end of the intervals, by the names a prediction gives them."""
        return {"sorted_runs": None if self.sorted_runs is None else getattr(self.sorted_runs, end)}


NO_READ_COSTS: Final = ReadCosts()


def read_costs(anchor: Anchor, found: Sequence[Replayed], ended: Sequence[int]) -> ReadCosts:
    """What replays of the anchor's variants come to; `ended` are the places of these among the anchor's."""
    own = [anchor.own[number] for number in ended]
    seen = anchor.fitted.evidence.sorted_runs
    shares = anchor.fitted.evidence.operations
    parts: list[tuple[float, Estimate, Deviation]] = []
    for family, share in shares.items():
        every = zip(own, found, strict=True)
        runs = [(one.sorted_runs.get(family), other.sorted_runs.get(family)) for one, other in every]
        pairs = [(one, other) for one, other in runs if one is not None and other is not None]
        if pairs and len(pairs) == len(runs):
            weights = [anchor.weights[family][number] for number in ended]
            parts.append((share, *_of_family(pairs, weights, seen.get(family))))
    return ReadCosts(_mean(parts))


def mean_sorted_runs(runs: Mapping[str, SortedRuns], shares: Mapping[str, float]) -> float | None:
    """The mean over the families that are known, by their shares; None where none is."""
    known = {name: one for name, one in runs.items() if shares.get(name)}
    whole = sum(shares[name] for name in known)
    return sum(one.total * shares[name] for name, one in known.items()) / whole if whole else None


def _of_family(
    pairs: Sequence[tuple[SortedRuns, SortedRuns]], weights: Sequence[float], seen: SortedRuns | None
) -> tuple[Estimate, Deviation]:
    """The estimate of one family, and how far it may be off."""
    ratios = [math.log(other.total / one.total) for one, other in pairs]
    at_own = weighed([one.total for one, _ in pairs], weights)
    raw = weighed([other.total for _, other in pairs], weights)
    ratio = weighed(ratios, weights)
    value = raw if seen is None else seen.total * math.exp(ratio)
    error = 0.0 if seen is None else math.log(at_own / seen.total)
    off = deviation("sorted_runs", spread_of(ratios, weights, math.inf), error, ratio, 1.0)
    return Estimate(None if seen is None else seen.total, value, *bounds(value, off.whole)), off


def _mean(parts: Sequence[tuple[float, Estimate, Deviation]]) -> Estimate | None:
    """The estimates' mean by their shares; errors of families are apart in part, and together in part."""
    whole = sum(share for share, _, _ in parts)
    if not whole:
        return None
    value = sum(share * one.value for share, one, _ in parts) / whole
    apart = math.sqrt(sum((share * one.value * off.own) ** 2 for share, one, off in parts))
    together = sum(share * one.value * off.shared for share, one, off in parts)
    told = [(share, one.log) for share, one, _ in parts if one.log is not None]
    log = sum(share * seen for share, seen in told) / sum(share for share, _ in told) if told else None
    return Estimate(log, value, *bounds(value, math.hypot(apart, together) / whole / value))
