"""What reads would have cost: sorted runs and blocks that a Get looks into, anchored on the log as bytes are.

Per column family, what the log shows is multiplied by how much more or less the replays show under the other options.
The whole is the mean over the families, each by its share of the log's operations, under all options alike.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from lsmlens.tuners.predictions.anchor import Anchor, weighed
from lsmlens.tuners.predictions.replays import Replayed
from lsmlens.tuners.predictions.uncertainty import Deviation, bounds, deviation, spread_of

# So much of what the replays are off by under the log's own options may stay in a ratio.
LEFT_OF_ERROR = 0.7


class Estimate(NamedTuple):
    """A figure of the log, None where it tells none; what is predicted, and the ends of the 90 % interval."""

    log: float | None
    value: float
    low: float
    high: float


class ReadCosts(NamedTuple):
    """What reads would have cost; None where nothing tells.

    `sorted_runs`: means over time, see `SortedRuns`. `blocks_per_get`: blocks of data, indexes and filters looked into.
    """

    sorted_runs: Estimate | None = None
    blocks_per_get: Estimate | None = None

    def named(self, end: str = "value") -> dict[str, float | None]:
        """The `log`'s, the predicted `value`s, or an end of the intervals, by the names a prediction gives them."""
        return {name: None if one is None else getattr(one, end) for name, one in self._asdict().items()}


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
            totals = [(one.total, other.total) for one, other in pairs]
            known = seen[family].total if family in seen else None
            parts.append((share, *_anchored("sorted_runs", known, totals, weights)))
    heaviest = max(shares, key=lambda name: shares[name])
    weights = [anchor.weights[heaviest][number] for number in ended]
    return ReadCosts(_mean(parts), _blocks(anchor.fitted.evidence.reads.blocks_per_get, own, found, weights))


def _blocks(
    seen: float | None, own: Sequence[Replayed], found: Sequence[Replayed], weights: Sequence[float]
) -> Estimate | None:
    """Blocks for a Get; None where no replay made any."""
    every = [(one.reads.blocks_per_get, other.reads.blocks_per_get) for one, other in zip(own, found, strict=True)]
    pairs = [(one, other) for one, other in every if one and other]
    if not pairs or len(pairs) < len(every):
        return None
    return _anchored("blocks_per_get", seen, pairs, weights)[0]


def _anchored(
    metric: str, seen: float | None, pairs: Sequence[tuple[float, float]], weights: Sequence[float]
) -> tuple[Estimate, Deviation]:
    """The estimate of what the log shows, by replays under its own options and others; and how far it may be off."""
    ratios = [math.log(other / one) for one, other in pairs]
    at_own, raw = (weighed([pair[place] for pair in pairs], weights) for place in (0, 1))
    ratio = weighed(ratios, weights)
    value = seen * math.exp(ratio) if seen else raw
    error = math.log(at_own / seen) if seen else 0.0
    off = deviation(metric, spread_of(ratios, weights, math.inf), LEFT_OF_ERROR * error, ratio, 1.0)
    return Estimate(seen, value, *bounds(value, off.whole)), off


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
