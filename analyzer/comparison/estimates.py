"""How far apart two arms are in one metric, and how sure that is: from repeated runs, or from within one run of each.

Everything is on the scale of logarithms, for what is compared are ratios.

Repeated runs (two or more of an arm): Welch's t test, or where there are enough runs that it could tell, the exact
permutation test of the ratio of means (Mann-Whitney's U where there are zeros). Where one arm has a single run,
the other's spread is taken for both.

The same OSDs in both arms: Student's t over each OSD's own ratio.

One run each: block bootstrap. Both runs are cut into `BLOCKS` parts of equal progress, counted in records flushed, and
the parts are drawn with repetition, the k-th of one run together with the k-th of the other: runs of the same work
go through the same phases, and what both share is no noise; of runs that share nothing it costs nothing. What is
summed over the drawn parts is a ratio of two columns, so a part counts by its weight. Twelve parts are few enough to
be longer than what one job leaves to the next, and enough to judge by; the standard error is widened by what
neighbouring parts still have in common, and the interval is Student's with 11 degrees of freedom. It tells what
happens by chance within a run; what differs from run to run only repeated runs tell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb, exp, hypot, log, sqrt
from typing import TYPE_CHECKING

from lsmlens.analyzer.comparison.observations import Observation
from lsmlens.analyzer.comparison.window_sums import WindowSums
from lsmlens.analyzer.metrics import LOG_SECONDS, WORK, Metric

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Column = NDArray[float64]

BLOCKS = 12
WINDOWS_A_BLOCK = 3
LEAST_INTERVALS = 6
# Of a metric with something in fewer parts than this the bootstrap says too little.
LEAST_ACTIVE_SHARE = 2 / 3
RESAMPLES = 1999
SEED = 51821
CONFIDENCE = 0.95
# The method that one run of each arm leaves.
WITHIN = "block bootstrap"
PAIRED = "paired t over OSDs"


@dataclass(frozen=True, slots=True)
class Estimate:
    """The logarithm of other / baseline, its standard error, degrees of freedom, and how likely it is by chance.

    A test of ranks gives no standard error.
    """

    log_ratio: float
    standard_error: float | None
    freedom: float
    p_value: float
    method: str

    def interval(self) -> tuple[float, float] | None:
        """The ratio's interval at `CONFIDENCE`, by Student's t; None without a standard error."""
        if self.standard_error is None:
            return None
        from scipy.stats import t

        half = float(t.ppf((1 + CONFIDENCE) / 2, self.freedom)) * self.standard_error
        return exp(self.log_ratio - half), exp(self.log_ratio + half)

    def widened(self, by: float) -> "Estimate":
        """The same with an uncertainty added to its standard error, such as that of work that was not quite equal."""
        if self.standard_error is None or not by:
            return self
        from scipy.stats import t

        error = hypot(self.standard_error, by)
        p_value = 2 * float(t.sf(abs(self.log_ratio) / error, self.freedom))
        return replace(self, standard_error=error, p_value=max(self.p_value, p_value))


def of_repeated_runs(baseline: Sequence[float], other: Sequence[float], least_p: float) -> Estimate | str:
    """From the values of each arm's runs; a reason in words where they do not tell.

    `least_p` is the p value that a test must be able to reach to be worth more than Welch's t.
    """
    if min(*baseline, *other) < 0 or not (sum(baseline) and sum(other)):
        return "noise unknown: zeros have no ratio"
    has_zeros = min(*baseline, *other) == 0
    could_tell = min(len(baseline), len(other)) >= 2 and 2 / comb(len(baseline) + len(other), len(baseline)) <= least_p
    if has_zeros:
        return _of_ranks(baseline, other) if could_tell else "noise unknown: zeros, and too few runs to rank"
    difference = log(_mean(other) / _mean(baseline))
    error, freedom = _welch([log(value) for value in baseline], [log(value) for value in other])
    if error <= 1e-12:
        return "noise unknown: all runs say the same"
    from scipy.stats import permutation_test, t

    if not could_tell:
        p_value = 2 * float(t.sf(abs(difference) / error, freedom))
        return Estimate(difference, error, freedom, p_value, "Welch's t")
    drawn = permutation_test((other, baseline), _ratio_of_means, vectorized=True, n_resamples=5 * RESAMPLES, rng=SEED)
    return Estimate(difference, error, freedom, float(drawn.pvalue), "permutation test")


def of_pairs(baseline: Sequence[float], other: Sequence[float]) -> Estimate | str:
    """From the same OSDs in both arms: Student's t over the logarithms of each OSD's own ratio.

    What OSDs differ in from each other is in both, and no noise. A reason in words where the pairs do not tell.
    """
    if min(*baseline, *other) < 0 or 0 in (*baseline, *other):
        return "noise unknown: zeros have no ratio"
    ratios = [log(after / before) for before, after in zip(baseline, other, strict=True)]
    error = sqrt(_variance(ratios) / len(ratios))
    if error <= 1e-12:
        return "noise unknown: all OSDs say the same"
    from scipy.stats import t

    difference, freedom = _mean(ratios), len(ratios) - 1
    return Estimate(difference, error, freedom, 2 * float(t.sf(abs(difference) / error, freedom)), PAIRED)


def of_single_runs(metric: Metric, baseline: Observation, other: Observation) -> Estimate | str:
    """From within one run of each arm; a reason in words where that does not tell."""
    if not metric.noise_of:
        return "noise unknown: one run of each arm, and nothing within it to tell by"
    if metric.noise_per.endswith(":count") or metric.noise_per == "onode_lookups":
        return _of_intervals(metric, baseline, other)
    if baseline.windows is None or other.windows is None:
        return "noise unknown: one run of each arm, and no window sums"
    values = [one.values.get(metric.name) for one in (baseline, other)]
    if not (values[0] and values[1]):
        return "noise unknown: zeros have no ratio"
    parts: list[tuple[Column, Column]] = []
    for windows in (baseline.windows, other.windows):
        reason = _too_short(windows)
        if reason:
            return f"noise unknown: {reason}"
        edges = _edges(windows, by_work=_has_work(baseline.windows) and _has_work(other.windows))
        parts.append((_summed(windows, metric.noise_of, edges), _summed(windows, (metric.noise_per,), edges)))
    return _bootstrap(parts, log(values[1] / values[0]), "too few of its parts have any")


def _of_intervals(metric: Metric, baseline: Observation, other: Observation) -> Estimate | str:
    """From what was counted between perf dumps, where both arms have dumps of the same names."""
    first, second = baseline.intervals, other.intervals
    if first is None or second is None:
        return "noise unknown: one run of each arm, and no series of perf dumps"
    shared = [name for name in first.names if name in second.names]
    if len(shared) < LEAST_INTERVALS or len(set(shared)) < len(shared):
        return f"noise unknown: fewer than {LEAST_INTERVALS} perf dumps of the same names"
    values = [one.values.get(metric.name) for one in (baseline, other)]
    if not (values[0] and values[1]):
        return "noise unknown: zeros have no ratio"
    import numpy as np

    parts: list[tuple[Column, Column]] = []
    for one in (first, second):
        places = [one.names.index(name) for name in shared]
        columns = [np.asarray(one.columns[name], dtype=float)[places] for name in (*metric.noise_of, metric.noise_per)]
        parts.append((columns[0], columns[1]))
    active = (parts[0][1] > 0) & (parts[1][1] > 0)
    if active.sum() < LEAST_INTERVALS:
        return f"noise unknown: something happened in fewer than {LEAST_INTERVALS} of the times between perf dumps"
    parts = [(of[active], per[active]) for of, per in parts]
    return _bootstrap(parts, log(values[1] / values[0]), "too few of the times between perf dumps have any")


def _bootstrap(parts: "Sequence[tuple[Column, Column]]", log_ratio: float, too_few: str) -> Estimate | str:
    import numpy as np
    from scipy.stats import bootstrap, t

    (of_first, per_first), (of_second, per_second) = parts
    count = len(of_first)
    least = LEAST_ACTIVE_SHARE * count
    if any((column > 0).sum() < least for pair in parts for column in pair):
        return f"noise unknown: {too_few}"

    def statistic(drawn: "NDArray[np.intp]", axis: int = -1) -> "Column":
        with np.errstate(divide="ignore", invalid="ignore"):
            first = np.log(of_first[drawn].sum(axis)) - np.log(per_first[drawn].sum(axis))
            second = np.log(of_second[drawn].sum(axis)) - np.log(per_second[drawn].sum(axis))
            difference: Column = second - first
            return difference

    drawn = bootstrap(
        (np.arange(count),), statistic, n_resamples=RESAMPLES, vectorized=True, method="percentile", rng=SEED
    )
    found = drawn.bootstrap_distribution
    spread = float(np.std(found[np.isfinite(found)])) * sqrt(count / (count - 1))
    error = spread * sqrt(1 + 2 * max(_carried_over(parts), 0.0))
    if error <= 1e-12:
        return Estimate(log_ratio, 1e-12, count - 1, 1.0 if abs(log_ratio) < 1e-12 else 0.0, WITHIN)
    p_value = 2 * float(t.sf(abs(log_ratio) / error, count - 1))
    return Estimate(log_ratio, error, count - 1, p_value, WITHIN)


def _carried_over(parts: "Sequence[tuple[Column, Column]]") -> float:
    """The correlation of each part with the next, of what the parts add to the logarithm of the ratio."""
    (of_first, per_first), (of_second, per_second) = parts
    added = _added(of_second, per_second) - _added(of_first, per_first)
    square = float((added * added).sum())
    return float((added[1:] * added[:-1]).sum()) / square if square > 0 else 0.0


def _added(of: "Column", per: "Column") -> "Column":
    """What each part moves the logarithm of sum(of) / sum(per) by, to first order."""
    ratio = of.sum() / per.sum()
    moved: Column = (of - ratio * per) / of.sum()
    return moved


def _has_work(windows: WindowSums) -> bool:
    return sum(windows.columns.get(WORK, ())) > 0


def _too_short(windows: WindowSums) -> str:
    """Why a run cannot be cut into blocks, in words; empty where it can."""
    length = windows.count * windows.seconds / BLOCKS
    if windows.count < BLOCKS * WINDOWS_A_BLOCK:
        return f"a run of {windows.count} windows is too short to be cut into {BLOCKS} parts"
    if windows.longest_job_seconds > length:
        return f"its longest job took longer than a {BLOCKS}th of the run"
    return ""


def _edges(windows: WindowSums, by_work: bool) -> "NDArray[float64]":
    """Where the parts begin, in windows, each of equal progress; and the end of the last."""
    import numpy as np

    if not by_work:
        return np.linspace(0, windows.count, BLOCKS + 1)
    done = np.concatenate(([0.0], np.cumsum(np.asarray(windows.columns[WORK], dtype=float))))
    reached = done[-1] * np.arange(1, BLOCKS) / BLOCKS
    return np.concatenate(([0.0], np.searchsorted(done, reached), [windows.count]))


def _summed(windows: WindowSums, names: Sequence[str], edges: "NDArray[float64]") -> "Column":
    """The columns, added up, summed over each part."""
    import numpy as np

    total = np.zeros(windows.count)
    for name in names:
        total += windows.seconds if name == LOG_SECONDS else np.asarray(_column(windows.columns, name, windows.count))
    summed = np.concatenate(([0.0], np.cumsum(total)))[np.round(edges).astype(int)]
    parts: Column = np.diff(summed)
    return parts


def _column(columns: Mapping[str, Sequence[float]], name: str, count: int) -> Sequence[float]:
    return columns.get(name) or [0.0] * count


def _welch(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Standard error of the difference of means, and its degrees of freedom; with one run, by the other's spread."""
    if min(len(first), len(second)) == 1:
        several = max(first, second, key=len)
        freedom = len(several) - 1
        return sqrt(_variance(several) * (1 / len(first) + 1 / len(second))), freedom
    parts = [_variance(one) / len(one) for one in (first, second)]
    total = sum(parts)
    if not total:
        return 0.0, 1.0
    divisor = sum(part * part / (len(one) - 1) for part, one in zip(parts, (first, second), strict=True))
    return sqrt(total), total * total / divisor


def _of_ranks(baseline: Sequence[float], other: Sequence[float]) -> Estimate:
    from scipy.stats import mannwhitneyu

    p_value = float(mannwhitneyu(other, baseline, alternative="two-sided").pvalue)
    return Estimate(log(_mean(other) / _mean(baseline)), None, 0, p_value, "Mann-Whitney")


def _ratio_of_means(first: "Column", second: "Column", axis: int) -> "Column":
    import numpy as np

    ratio: Column = np.log(first.mean(axis=axis) / second.mean(axis=axis))
    return ratio


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    mean = _mean(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)
