"""Estimates: against scipy's own tests, by simulation, and on logs that are known to differ or not to."""

from collections.abc import Sequence
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from lsmlens.analyzer.comparison.estimates import (
    BLOCKS,
    CONFIDENCE,
    Estimate,
    of_pairs,
    of_repeated_runs,
    of_single_runs,
)
from lsmlens.analyzer.comparison.observations import Intervals, Kind, Observation
from lsmlens.analyzer.comparison.window_sums import WindowSums, window_sums
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.metrics import METRICS
from scipy import stats

AMPLIFICATION, OUTPUT, FLUSHED, LATENCY = (
    next(metric for metric in METRICS if metric.name == name)
    for name in (
        "write_amplification_lsm",
        "compaction_bytes_per_record",
        "flush_bytes_per_record",
        "kv_commit_seconds",
    )
)
Columns = dict[str, "np.ndarray[tuple[int], np.dtype[np.float64]]"]


def known(estimate: Estimate | str) -> Estimate:
    assert isinstance(estimate, Estimate), estimate
    return estimate


# ---- repeated runs


def test_few_runs_are_tested_by_welch() -> None:
    before, after = [10.0, 11.0, 10.5], [12.0, 13.1, 12.2]
    found = known(of_repeated_runs(before, after, 0.05))
    assert found.method == "Welch's t"
    assert found.log_ratio == pytest.approx(log(np.mean(after) / np.mean(before)))
    expected = stats.ttest_ind(np.log(after), np.log(before), equal_var=False)
    assert found.freedom == pytest.approx(expected.df)
    assert found.p_value == pytest.approx(
        expected.pvalue, rel=0.02
    )  # of the mean's logarithm, not the logarithms' mean
    low, high = found.interval() or (0, 0)
    assert low < exp(found.log_ratio) < high


def test_enough_runs_are_tested_by_permutation() -> None:
    before, after = [10.0, 11.0, 10.5, 10.2, 10.9], [12.0, 13.1, 12.2, 12.9, 12.4]
    found = known(of_repeated_runs(before, after, 0.05))
    assert found.method == "permutation test"
    assert found.p_value == pytest.approx(2 / 252)
    assert known(of_repeated_runs(before, after, 0.005)).method == "Welch's t"  # it could not reach that


def test_a_single_run_takes_the_others_spread() -> None:
    found = known(of_repeated_runs([10.0], [12.0, 13.1, 12.2], 0.05))
    assert found.freedom == 2
    reverse = known(of_repeated_runs([12.0, 13.1, 12.2], [10.0], 0.05))
    assert reverse.log_ratio == pytest.approx(-found.log_ratio)
    assert reverse.p_value == pytest.approx(found.p_value)


def test_zeros_are_ranked_where_there_are_enough() -> None:
    none, some = [0.0] * 6, [1.0, 2.0, 3.0, 0.0, 4.0, 5.0]
    found = known(of_repeated_runs(some, [0.0, 0.0, 0.0, 0.0, 0.0, 0.1], 0.05))
    assert (found.method, found.interval()) == ("Mann-Whitney", None)
    assert found.p_value < 0.05
    assert of_repeated_runs(none, some, 0.05) == "noise unknown: zeros have no ratio"
    assert of_repeated_runs([0.0, 1.0], [1.0, 1.0], 0.05) == "noise unknown: zeros, and too few runs to rank"


def test_runs_without_any_spread_tell_no_noise() -> None:
    assert of_repeated_runs([3.0, 3.0], [4.0, 4.0], 0.05) == "noise unknown: all runs say the same"


# ---- one run of each arm


def observation(columns: Columns, seconds: float = 1.0, longest: float = 0.5) -> Observation:
    sums = {name: float(values.sum()) for name, values in columns.items()}
    values = {
        "flush_bytes_per_record": sums["flush_bytes"] / sums["flush_input_records"],
        "compaction_bytes_per_record": sums["compaction_output_bytes"] / sums["flush_input_records"],
        "write_amplification_lsm": 1 + sums["compaction_output_bytes"] / sums["flush_bytes"],
    }
    windows = WindowSums(0, seconds, longest, {name: list(column) for name, column in columns.items()})
    return Observation("run", Kind.BUNDLE, values, windows=windows)


def simulated(random: "np.random.Generator", carried: float, more: float = 1.0) -> Columns:
    """A run of six phases of unlike rates, whose compactions come in lumps that depend on those before them."""
    count = int(random.integers(110, 200))
    phases = np.array([1, 3, 5, 0.2, 3, 5])[np.arange(count) * 6 // count]
    work = phases * random.gamma(20, 1 / 20, count)
    noise = np.zeros(count)
    for window in range(1, count):
        noise[window] = carried * noise[window - 1] + random.normal() * np.sqrt(1 - carried**2)
    lumps = random.gamma(2, 1 / 2, count)
    return {
        "flush_input_records": 1e5 * work,
        "flush_bytes": 1e7 * work * np.exp(0.1 * random.normal(size=count)),
        "compaction_output_bytes": more * 3e7 * work * np.exp(0.5 * noise) * lumps,
    }


def rejected(random: "np.random.Generator", carried: float, more: float, times: int) -> float:
    """How often arms of which one compacts `more` are told apart, as a share."""
    found = 0
    for _ in range(times):
        first, second = observation(simulated(random, carried)), observation(simulated(random, carried, more))
        found += known(of_single_runs(OUTPUT, first, second)).p_value < 0.05
    return found / times


def test_arms_alike_are_rarely_told_apart() -> None:
    assert rejected(np.random.default_rng(1), carried=0.3, more=1.0, times=150) <= 0.11


def test_arms_that_differ_are_told_apart() -> None:
    assert rejected(np.random.default_rng(2), carried=0.3, more=0.5, times=40) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("carried", "limit"), [(0.0, 0.07), (0.3, 0.07), (0.6, 0.085), (0.8, 0.11)])
def test_how_often_arms_alike_are_told_apart(carried: float, limit: float) -> None:
    """Near the nominal 5 % as long as what one window leaves to the next is gone within a block, of ten or more.

    At 0.8 it is 9 windows long, so that neighbouring blocks share much of it; the widening takes most of that back.
    """
    share = rejected(np.random.default_rng(7), carried, more=1.0, times=1500)
    print(f"carried over {carried}: {100 * share:.1f} % of comparisons of arms alike are told apart")
    assert 0.02 <= share <= limit


@pytest.mark.slow
def test_intervals_cover_the_true_ratio() -> None:
    random = np.random.default_rng(9)
    covered = 0
    for _ in range(800):
        first, second = observation(simulated(random, 0.3)), observation(simulated(random, 0.3, 0.7))
        low, high = known(of_single_runs(OUTPUT, first, second)).interval() or (0, 0)
        covered += low <= 0.7 <= high
    print(f"{100 * covered / 800:.1f} % of intervals cover the true ratio")
    assert 0.92 <= covered / 800 <= 0.98


def splits(path: Path, times: int) -> list[tuple[Observation, Observation]]:
    """One real log, its windows dealt out to two arms at random, one of each two to each."""
    found = window_sums([one.run for one in analyze([str(path)]).counted])
    assert found is not None
    columns = {name: np.asarray(values) for name, values in found.columns.items() if "/" not in name}
    random = np.random.default_rng(11)
    pairs = []
    for _ in range(times):
        drawn = 2 * np.arange(found.count // 2) + random.integers(0, 2, found.count // 2)
        other = drawn + 1 - 2 * (drawn % 2)
        arms = [{name: values[places] for name, values in columns.items()} for places in (drawn, other)]
        first, second = (observation(arm, found.seconds, 0.0) for arm in arms)
        pairs.append((first, second))
    return pairs


def told_apart(pairs: Sequence[tuple[Observation, Observation]]) -> dict[str, float]:
    found = {}
    for metric in (AMPLIFICATION, OUTPUT, FLUSHED):
        estimates = [of_single_runs(metric, first, second) for first, second in pairs]
        judged = [one for one in estimates if isinstance(one, Estimate)]
        found[metric.name] = sum(one.p_value < 0.05 for one in judged) / len(pairs)
    return found


@pytest.mark.parametrize("name", ["osd-reef", "rocksdb-7.8"])
def test_halves_of_one_log_are_rarely_told_apart(name: str, fixtures: Path) -> None:
    shares = told_apart(splits(fixtures / name, 60))
    assert max(shares.values()) <= 0.15, shares


@pytest.mark.slow
@pytest.mark.parametrize("name", ["osd-reef", "osd-stock", "rocksdb-7.8", "rocksdb-backlog"])
def test_how_often_halves_of_one_log_are_told_apart(name: str, fixtures: Path) -> None:
    shares = told_apart(splits(fixtures / name, 400))
    print(name, {metric: f"{100 * share:.1f} %" for metric, share in shares.items()})
    assert max(shares.values()) <= 0.08


def test_an_uncertainty_of_the_work_widens() -> None:
    random = np.random.default_rng(6)
    first, second = observation(simulated(random, 0.3)), observation(simulated(random, 0.3, 0.5))
    plain = known(of_single_runs(OUTPUT, first, second))
    wide = plain.widened(0.5)
    assert plain.widened(0) is plain
    assert wide.log_ratio == plain.log_ratio
    assert wide.standard_error == pytest.approx(np.hypot(plain.standard_error or 0, 0.5))
    assert wide.p_value > plain.p_value


def test_the_same_run_is_the_same(fixtures: Path) -> None:
    one = observation(simulated(np.random.default_rng(3), 0.3))
    found = known(of_single_runs(AMPLIFICATION, one, one))
    assert found.p_value == 1.0
    assert found.interval() == pytest.approx((1.0, 1.0))


def test_equal_input_gives_equal_estimates() -> None:
    random = np.random.default_rng(4)
    first, second = observation(simulated(random, 0.3)), observation(simulated(random, 0.3))
    assert of_single_runs(OUTPUT, first, second) == of_single_runs(OUTPUT, first, second)


def test_runs_that_cannot_be_cut_tell_no_noise() -> None:
    random = np.random.default_rng(5)
    whole = simulated(random, 0.3)
    one = observation(whole)
    short = observation({name: values[: 2 * BLOCKS] for name, values in whole.items()})
    slow = observation(whole, longest=1e6)
    rare = observation(whole | {"compaction_output_bytes": np.where(np.arange(len(whole["flush_bytes"])) < 3, 1.0, 0)})
    bare = Observation("run", Kind.ANALYSIS, one.values)
    for other, reason in (
        (short, "too short to be cut into 12 parts"),
        (slow, "its longest job took longer than a 12th of the run"),
        (rare, "too few of its parts have any"),
        (bare, "no window sums"),
    ):
        for pair in ((one, other), (other, one)):
            found = of_single_runs(OUTPUT, *pair)
            assert isinstance(found, str)
            assert found.startswith("noise unknown: ")
            assert reason in found


# ---- between perf dumps


def counted(means: Sequence[float], names: Sequence[str] | None = None) -> Observation:
    counts = [1000.0 + 10 * place for place in range(len(means))]
    sums = [mean * count for mean, count in zip(means, counts, strict=True)]
    columns = {"bluestore.kv_commit_lat:sum": sums, "bluestore.kv_commit_lat:count": counts}
    values = {"kv_commit_seconds": sum(sums) / sum(counts)}
    intervals = Intervals(tuple(names or (f"dump.{place}" for place in range(len(means)))), columns)
    return Observation("run", Kind.BUNDLE, values, intervals=intervals)


def test_latencies_are_told_by_the_times_between_dumps() -> None:
    before = [0.004, 0.005, 0.0045, 0.006, 0.0055, 0.0042, 0.0048]
    found = known(of_single_runs(LATENCY, counted(before), counted([0.5 * mean for mean in before])))
    assert found.log_ratio == pytest.approx(log(0.5))
    assert found.freedom == 6
    assert found.p_value < 0.001
    unlike = known(of_single_runs(LATENCY, counted(before), counted(list(reversed(before)))))
    assert unlike.p_value > 0.3


def test_dumps_of_unlike_names_tell_nothing() -> None:
    before = [0.004, 0.005, 0.0045, 0.006, 0.0055, 0.0042]
    found = of_single_runs(LATENCY, counted(before), counted(before, [f"other.{place}" for place in range(6)]))
    assert found == "noise unknown: fewer than 6 perf dumps of the same names"


def test_the_same_osds_are_compared_each_with_itself() -> None:
    before, after = [1.0, 2.0, 5.0, 9.0], [1.1, 2.3, 5.4, 10.1]
    found = of_pairs(before, after)
    assert isinstance(found, Estimate)
    expected = stats.ttest_rel(np.log(after), np.log(before))
    assert found.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(CONFIDENCE)
    assert found.interval() == pytest.approx((np.exp(interval.low), np.exp(interval.high)))
    apart = of_repeated_runs(before, after, 0.01)
    assert isinstance(apart, Estimate)
    assert found.p_value < 0.01 < 0.5 < apart.p_value  # what OSDs differ in from each other would hide it


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ([1.0, 0.0, 2.0], [1.0, 2.0, 3.0], "zeros have no ratio"),
        ([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], "all OSDs say the same"),
    ],
)
def test_pairs_that_do_not_tell(before: list[float], after: list[float], why: str) -> None:
    assert of_pairs(before, after) == f"noise unknown: {why}"
