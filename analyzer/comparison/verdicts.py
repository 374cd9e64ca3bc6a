"""Verdicts: whether an arm is better or worse than the baseline in a metric, in five words with a reason.

A difference counts where chance makes one as large in fewer than 5 % of cases, after Holm's correction for the metrics
judged together, those of one section. A metric whose noise is not known is never judged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, log

from lsmlens.analyzer.comparison.arms import LEAST_OSDS, Arm
from lsmlens.analyzer.comparison.estimates import Estimate, of_pairs, of_repeated_runs, of_single_runs
from lsmlens.analyzer.comparison.work import Work
from lsmlens.analyzer.metrics import Better, Group, Metric

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


# The values of a metric in the baseline's runs and in the arm's; none where an arm does not tell.
Pair = tuple[Sequence[float], Sequence[float]]


def judge_arm(baseline: Arm, arm: Arm, work: Work, pairs: Mapping[Metric, Pair]) -> dict[str, Judgement]:
    """The judgements of an arm by the metrics' names; none for what neither arm tells of."""
    judgements: dict[str, Judgement] = {}
    for group in Group:
        of_group = {metric: pair for metric, pair in pairs.items() if metric.group is group and any(pair)}
        judgements |= _judge_group(baseline, arm, work, of_group)
    return judgements


def _judge_group(baseline: Arm, arm: Arm, work: Work, pairs: Mapping[Metric, Pair]) -> dict[str, Judgement]:
    """All metrics of one section: those whose noise is known are judged together."""
    known = sum(metric.better is not Better.NEITHER and all(pair) for metric, pair in pairs.items())
    least_p = SIGNIFICANCE / max(known, 1)
    judgements: dict[str, Judgement] = {}
    estimates: dict[Metric, Estimate] = {}
    for metric, (first, second) in pairs.items():
        found = _estimate(baseline, arm, work, metric, (first, second), least_p)
        if isinstance(found, Judgement):
            judgements[metric.name] = found
        else:
            estimates[metric] = found
    judged = [metric for metric in estimates if metric.better is not Better.NEITHER]
    corrected = dict(zip(judged, holm([estimates[metric].p_value for metric in judged]), strict=True))
    for metric, estimate in estimates.items():
        judgements[metric.name] = judge(metric, estimate, corrected.get(metric))
    return judgements


def _estimate(baseline: Arm, arm: Arm, work: Work, metric: Metric, pair: Pair, least_p: float) -> Estimate | Judgement:
    """What the values tell, or at once the judgement of those that tell nothing."""
    first, second = pair
    if not (first and second):
        return Judgement(Verdict.NOT_COMPARABLE, None, reason=f"not known of {(arm if first else baseline).name}")
    before, after = sum(first) / len(first), sum(second) / len(second)
    ratio = after / before if before else None
    if metric.is_total and not work.is_equal:
        return Judgement(Verdict.NOT_COMPARABLE, ratio, reason=work.reason)
    paired = _paired(baseline, arm, metric)
    if paired is not None:
        found = of_pairs(*paired)
    elif len(first) > 1 or len(second) > 1:
        found = of_repeated_runs(first, second, least_p)
    elif len(baseline.observations) == len(arm.observations) == 1:
        found = of_single_runs(metric, baseline.observations[0], arm.observations[0])
    else:
        found = "noise unknown: only one of several runs tells"
    if isinstance(found, Estimate):
        # work that is alike within the tolerance may still be what makes a total differ
        return found.widened(log(work.ratio)) if metric.is_total and work.ratio else found
    if metric.better is Better.NEITHER:
        return Judgement(Verdict.NOT_COMPARABLE, ratio, reason="neither direction is better")
    return Judgement(Verdict.NOT_SIGNIFICANT, ratio, reason=found)


def _paired(baseline: Arm, arm: Arm, metric: Metric) -> Pair | None:
    """A metric of the OSDs that both arms have, in the same order; None where these are too few, or not all of them."""
    before, after = baseline.osds, arm.osds
    if not before or before.keys() != after.keys():
        return None
    pairs = [
        (one.values[metric.name], after[name].values[metric.name])
        for name, one in before.items()
        if metric.name in one.values and metric.name in after[name].values
    ]
    return None if len(pairs) < LEAST_OSDS else ([one for one, _ in pairs], [other for _, other in pairs])
