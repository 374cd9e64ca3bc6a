"""One arm judged against the baseline, metric by metric, section by section."""

from collections.abc import Mapping, Sequence
from math import log

from lsmlens.analyzer.comparison.arms import Arm
from lsmlens.analyzer.comparison.estimates import Estimate, of_repeated_runs, of_single_runs
from lsmlens.analyzer.comparison.verdicts import SIGNIFICANCE, Judgement, Verdict, holm, judge
from lsmlens.analyzer.comparison.work import Work
from lsmlens.analyzer.metrics import Better, Group, Metric

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
    if len(first) > 1 or len(second) > 1:
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
