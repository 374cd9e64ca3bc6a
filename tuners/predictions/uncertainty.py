"""How far a predicted figure may be off: the spread of replays, what the fit leaves open, and the model's own error.

Three parts, as standard deviations of a figure's logarithm: how much the ratio to the log's own options differs from
seed to seed and draw to draw; a part of what self-consistency shows the family's model to be off by, for anchoring
takes the rest; and what remains of any model, found on logs of real OSDs and of synthetic workloads whose truth was
known. All shrink to little for options that change little.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# 90 % of a normal distribution lies within so many standard deviations.
NINETY_PERCENT = 1.645
# What no replay tells, by metric: relative standard deviations.
MODEL_ERROR: Mapping[str, float] = {
    "flushes": 0.03,
    "flush_bytes": 0.02,
    "compactions": 0.05,
    "output_bytes": 0.045,
    "input_records": 0.035,
    "output_records": 0.045,
    "sorted_runs": 0.05,
}
# A family's own part of it: one family is less certain than the sum of many.
FAMILY_ERROR = 0.8
# So much of what the model is off by under the log's own options may stay in a ratio.
LEFT_OF_ERROR = 0.7
# From this change of a family's figures on (natural logarithm), errors count in full; below in proportion, but never
# less than LEAST_PART of them.
WHOLE_CHANGE = 0.35
LEAST_PART = 0.2
# A window so many times longer than any the log shows adds so much for each factor of e.
BEYOND_LOG = 0.15
# The least spread from seed to seed: that of jobs that fall at random on either side of the log's end.
LEAST_JOBS = 0.35


@dataclass(frozen=True, slots=True)
class Deviation:
    """Standard deviations of a figure's logarithm: the family's own, and the part that all families share."""

    own: float
    shared: float

    @property
    def whole(self) -> float:
        """Both together."""
        return math.hypot(self.own, self.shared)


def deviation(metric: str, spread: float, error: float, change: float, beyond: float) -> Deviation:
    """The deviation of one family's metric.

    `spread` is that of the replays' ratios, `error` the model's under the log's own options, `change` how much the
    family's figures change, all as logarithms; `beyond` is how many times longer windows are than the log's, 1 or more.
    """
    part = min(1.0, max(LEAST_PART, abs(change) / WHOLE_CHANGE))
    model = MODEL_ERROR[metric] * part
    extended = 0.0 if metric in ("flushes", "flush_bytes") else BEYOND_LOG * math.log(max(1.0, beyond))
    own = math.sqrt(spread**2 + (LEFT_OF_ERROR * error * part) ** 2 + (FAMILY_ERROR * model) ** 2 + extended**2)
    return Deviation(own, model)


def spread_of(ratios: Sequence[float], weights: Sequence[float], jobs: float) -> float:
    """The standard deviation of a weighed mean of log ratios, or what so few `jobs` let expect, if that is more."""
    sums = sum(weights)
    mean = sum(ratio * weight for ratio, weight in zip(ratios, weights, strict=True)) / sums
    variance = sum(weight * (ratio - mean) ** 2 for ratio, weight in zip(ratios, weights, strict=True)) / sums
    effective = sums**2 / sum(weight**2 for weight in weights)
    # of few draws the variance among them says too little, so it is not divided by their number
    corrected = variance * effective / max(effective - 1, 0.5) if effective > 1 else variance
    return max(math.sqrt(corrected), LEAST_JOBS / max(jobs, 1.0))


def bounds(value: float, deviation: float) -> tuple[float, float]:
    """The 90 % interval of a figure by the standard deviation of its logarithm."""
    factor = math.exp(NINETY_PERCENT * deviation)
    return value / factor, value * factor
