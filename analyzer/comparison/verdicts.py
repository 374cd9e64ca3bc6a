"""Verdicts: whether an arm is better or worse than the baseline in a metric, in five words with a reason.

A difference counts where chance makes one as large in fewer than 5 % of cases, after Holm's correction for the metrics
judged together, those of one section. A metric whose noise is not known is never judged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp

from lsmlens.analyzer.comparison.estimates import Estimate
from lsmlens.analyzer.metrics import Better, Metric

SIGNIFICANCE = 0.05
# An interval of the ratio that lies within this of 1 is as good as no difference.
SAME_WITHIN = 0.02


class Verdict(StrEnum):
    """One arm against the baseline, in one metric; from the most to the least worrying."""

    WORSE = "worse"
    NOT_COMPARABLE = "not comparable"
    NOT_SIGNIFICANT = "not significant"
    SAME = "same"
    BETTER = "better"

    @property
    def rank(self) -> int:
        """Its place in that order, from 0."""
        return list(Verdict).index(self)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and what it rests on.

    `ratio` is arm / baseline, None where the baseline is 0 or either is not known; `low` and `high` are its 95 %
    interval, None where the noise is not known; `p_value` is after Holm's correction.
    """

    verdict: Verdict
    ratio: float | None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    method: str = ""
    reason: str = ""


def judge(metric: Metric, estimate: Estimate, p_value: float | None) -> Judgement:
    """The verdict of an estimate whose corrected p value is `p_value`, None for a metric with no better direction."""
    interval = estimate.interval()
    low, high = interval if interval is not None else (None, None)
    verdict, reason = _verdict(metric, estimate, interval, p_value)
    return Judgement(verdict, exp(estimate.log_ratio), low, high, p_value, estimate.method, reason)


def _verdict(
    metric: Metric, estimate: Estimate, interval: tuple[float, float] | None, p_value: float | None
) -> tuple[Verdict, str]:
    if interval is not None and max(1 / interval[0], interval[1]) <= 1 + SAME_WITHIN:
        return Verdict.SAME, f"within {100 * SAME_WITHIN:g} % of each other"
    if metric.better is Better.NEITHER or p_value is None:
        return Verdict.NOT_COMPARABLE, "neither direction is better"
    if p_value >= SIGNIFICANCE:
        return Verdict.NOT_SIGNIFICANT, f"p = {p_value:.2g}"
    is_better = (estimate.log_ratio < 0) == (metric.better is Better.LOWER)
    return (Verdict.BETTER if is_better else Verdict.WORSE), f"p = {p_value:.2g}"


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: what each p value comes to among all of them."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    corrected = [0.0] * len(p_values)
    reached = 0.0
    for rank, place in enumerate(order):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = reached
    return corrected
