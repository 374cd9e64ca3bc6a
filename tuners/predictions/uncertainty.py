"""How far a predicted figure may be off, and how much of what the model is off by goes over to other options.

A replay under the log's own options differs from the log for three reasons: by chance, for both are one history of a
few jobs; by what these options alone make of the model, such as a level that just fits into one table or just does not;
and by what the model gets wrong under any options. The last alone goes over to others. How large each is likely to be
says which share of an error does (`lasting_share`), and what stays open of it.

An interval has four parts, as standard deviations of a figure's logarithm: how much the ratio to the log's own options
differs from seed to seed and draw to draw; what stays open of the error; what remains of any model, found on logs of
real OSDs and of synthetic workloads whose truth was known; and windows longer than the log's. All shrink to little for
options that change little.
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
    "compactions": 0.07,
    "output_bytes": 0.055,
    "input_records": 0.035,
    "output_records": 0.055,
    "sorted_runs": 0.05,
    "blocks_per_get": 0.08,
}
# A family's own part of it: one family is less certain than the sum of many.
FAMILY_ERROR = 0.8
# What the log's own options alone do to a model, and what it usually gets wrong under any, in units of MODEL_ERROR; of
# larger errors so much, too, is of the options.
OF_OPTIONS = 1.0
USUAL = 2.0
OF_LARGE = 0.35
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


def not_lasting(metric: str, error: float, spread: float, replays: float) -> float:
    """By how much replays differ from a log for no lasting reason: a standard deviation, logarithmic.

    `error` is the logarithm of replay over log, `spread` by how much one history differs from another; the log is one,
    and there are so many `replays`.
    """
    return math.hypot(OF_OPTIONS * MODEL_ERROR[metric], OF_LARGE * error, spread * math.sqrt(1 + 1 / replays))


def lasting_share(metric: str, error: float, passing: float) -> float:
    """Which share of the model's error under the log's own options is to be expected under any.

    `error` is the logarithm of replay over log, `passing` as from `not_lasting`. The more an error exceeds that, the
    likelier it is to last.
    """
    lasting = max((USUAL * MODEL_ERROR[metric]) ** 2, error**2 - passing**2)
    return lasting / (lasting + passing**2)


def part_of(change: float) -> float:
    """Which part of errors counts where a family's figures change by so much (a logarithm)."""
    return min(1.0, abs(change) / WHOLE_CHANGE)


def deviation(metric: str, spread: float, left: float, change: float, beyond: float) -> Deviation:
    """The deviation of one family's metric.

    `spread` is that of the replays' ratios, `left` what stays open of the model's error under the log's own options,
    `change` how much the family's figures change, all as logarithms; `beyond` is how many times longer windows are than
    the log's, 1 or more.
    """
    part = max(LEAST_PART, part_of(change))
    model = MODEL_ERROR[metric] * part
    extended = 0.0 if metric in ("flushes", "flush_bytes") else BEYOND_LOG * math.log(max(1.0, beyond))
    own = math.sqrt(spread**2 + (left * part) ** 2 + (FAMILY_ERROR * model) ** 2 + extended**2)
    return Deviation(own, model)


def spread_of(ratios: Sequence[float], weights: Sequence[float], jobs: float) -> float:
    """The standard deviation of a weighed mean of log ratios, or what so few `jobs` let expect, if that is more."""
    sums = sum(weights)
    mean = sum(ratio * weight for ratio, weight in zip(ratios, weights, strict=True)) / sums
    variance = sum(weight * (ratio - mean) ** 2 for ratio, weight in zip(ratios, weights, strict=True)) / sums
    count = effective(weights)
    # of few draws the variance among them says too little, so it is not divided by their number
    corrected = variance * count / max(count - 1, 0.5) if count > 1 else variance
    return max(math.sqrt(corrected), LEAST_JOBS / max(jobs, 1.0))


def effective(weights: Sequence[float]) -> float:
    """How many replays of equal weight say as much as these."""
    return sum(weights) ** 2 / sum(weight**2 for weight in weights)


def bounds(value: float, deviation: float) -> tuple[float, float]:
    """The 90 % interval of a figure by the standard deviation of its logarithm."""
    factor = math.exp(NINETY_PERCENT * deviation)
    return value / factor, value * factor
