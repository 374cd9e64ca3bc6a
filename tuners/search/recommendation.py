"""A recommendation: the settings to take, why, how sure that is, and what was tried and lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.ceph_configuration import needs_reshard
from lsmlens.tuners.options.option_set import Difference, OptionSet
from lsmlens.tuners.predictions.anchor import Anchor
from lsmlens.tuners.predictions.stalls import StallForecast
from lsmlens.tuners.search.evaluation import Evaluated
from lsmlens.tuners.search.other_logs import LogCost, together
from lsmlens.tuners.search.pacing import Pacing
from lsmlens.tuners.search.promising import estimate_error
from lsmlens.tuners.search.scores import Objective, Scores, cost, front
from lsmlens.tuners.search.study import Tried

# Settings are only advised if they cost at least so much less, beyond what chance does: a change is work, too.
LEAST_GAIN = 0.02


class ReplayedCase(NamedTuple):
    """One thing a finalist was tried on: what it is, and the cost there against the present options."""

    name: str
    cost: float


class Change(NamedTuple):
    """One metric under the present options and under others, with the ends of the 90 % interval where there are any."""

    metric: str
    present: float
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Finalist:
    """One option set, replayed again beside the present ones, with other seeds and other draws of the workload.

    `cost` is that of all of them together, `cost_high` where the prediction's interval ends; `worst` the case in which
    it costs most. `needs_reshard` tells options of single columns of a Ceph OSD. `logs` is what it costs on each log,
    where there are several.
    """

    name: str
    origin: str
    evaluated: Evaluated
    scores: Scores
    cost: float
    cost_high: float
    cases: tuple[ReplayedCase, ...]
    differences: tuple[Difference, ...]
    needs_reshard: bool
    logs: tuple[LogCost, ...] = ()

    @property
    def options(self) -> OptionSet:
        """The options."""
        return self.evaluated.options

    def with_stalls(self, forecast: StallForecast | None) -> "Finalist":
        """The same, with what writers would meet under it."""
        prediction = replace(self.evaluated.prediction, stalls=forecast)
        return replace(self, evaluated=self.evaluated._replace(prediction=prediction))

    @property
    def worst(self) -> ReplayedCase:
        """The case in which it costs most."""
        return max(self.cases, key=lambda one: one.cost)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What to run with. `picked` is None where nothing beats the present options beyond chance; `reason` says why.

    `finalists` come cheapest first, the present options not among them; `tried` is the course of the search, `fixed`
    the presets and given candidates: name, cost and why it has none. `seconds` are those of all sittings. `left_out`
    says of options that can be tuned why they were not. Stalls are told of the present options and of those picked.
    """

    fitted: FittedWorkload
    objective: Objective
    present: OptionSet
    present_scores: Scores
    anchor: Anchor
    present_evaluated: Evaluated
    picked: Finalist | None
    reason: str
    finalists: tuple[Finalist, ...]
    tried: tuple[Tried, ...]
    fixed: tuple[tuple[str, float | None, str | None], ...]
    pacing: Pacing
    memory_limit_bytes: int
    memory_source: str
    screen_scale: float
    seconds: float
    budget_seconds: float
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    present_stalls: StallForecast | None = None

    @property
    def picked_stalls(self) -> StallForecast | None:
        """Stalls under the options picked; None where none are, or nothing tells."""
        return None if self.picked is None else self.picked.evaluated.prediction.stalls

    @property
    def pruned(self) -> int:
        """How many candidates were not replayed, as their estimates were far worse than the best."""
        return sum(one.is_pruned for one in self.tried)

    @property
    def estimate_error(self) -> float | None:
        """By how much estimated costs differ from replayed ones on median; None where that is not known."""
        return estimate_error(self.tried)

    @property
    def front(self) -> tuple[Finalist, ...]:
        """The finalists that no other, nor the present options, beat in everything: the Pareto set."""
        places = front([self.present_scores, *(one.scores for one in self.finalists)])
        return tuple(self.finalists[place - 1] for place in places if place)

    @property
    def course(self) -> tuple[tuple[int, float, float], ...]:
        """Number of each candidate that has one, its cost, and the least cost so far."""
        found, least = [], 1.0
        for one in self.tried:
            if one.cost is not None:
                least = min(least, one.cost)
                found.append((one.number, one.cost, least))
        return tuple(found)


def changes(finalist: Finalist, present: Scores) -> tuple[Change, ...]:
    """What changes, metric by metric, in the log's own work; only what was measured for both."""
    low, high = finalist.evaluated.low, finalist.evaluated.high
    found = []
    for metric in present._fields:
        before, after = getattr(present, metric), getattr(finalist.scores, metric)
        if before is None or after is None:
            continue
        is_bound = metric in (
            *("written_bytes", "flush_bytes", "compactions", "processed_records", "sorted_runs", "blocks_per_get"),
        )
        bounds = (getattr(low, metric), getattr(high, metric)) if is_bound and low and high else (None, None)
        found.append(Change(metric, before, after, *bounds))
    return tuple(found)


def on_every_log(finalist: Finalist, own: LogCost, others: Sequence[LogCost]) -> Finalist:
    """A finalist with what it costs on other logs, each of which is a case; its cost is that on all together.

    `own` is what it costs on the log it was found on. Logs that are held out are no case, and do not count.
    """
    counted = [own, *(one for one in others if not one.is_held_out)]
    return replace(
        finalist,
        cost=together([(one.cost or 0.0, one.weight) for one in counted]),
        cost_high=together([(one.cost_high or 0.0, one.weight) for one in counted]),
        cases=(*finalist.cases, *(ReplayedCase(f"log {one.log}", one.cost or 0.0) for one in counted[1:])),
        logs=(own, *others),
    )


def pick(finalists: Sequence[Finalist]) -> tuple[Finalist | None, str]:
    """The finalist that is best where it is at its worst, if it beats the present options beyond chance; and why.

    Where latency was measured of some, it is one of these: what was not measured is not better for that.
    """
    if not finalists:
        return None, "no candidate came through the bounds and its replays: keep the current settings"
    finalists = [one for one in finalists if one.scores.p99_micros is not None] or finalists
    better = [one for one in finalists if one.worst.cost < 1 - LEAST_GAIN and one.cost_high < 1]
    if not better:
        nearest = min(finalists, key=lambda one: one.worst.cost)
        return None, (
            "nothing beats the current settings beyond noise: keep them. The best that was found,"
            f" {nearest.name}, costs {nearest.cost:.2f} times as much (interval to {nearest.cost_high:.2f}), in the"
            f" worst case {nearest.worst.cost:.2f} ({nearest.worst.name})"
        )
    best = min(better, key=lambda one: (round(one.worst.cost, 2), one.needs_reshard, len(one.differences)))
    among = f"of {len(finalists)} finalists it costs least" if len(finalists) > 1 else "it costs less"
    said = f"{among} even in its worst case: {best.worst.cost:.2f} times the current settings ({best.worst.name})"
    cheaper = [one for one in better if one.worst.cost < best.worst.cost]
    if cheaper and not best.needs_reshard:
        said += "; what costs a hundredth less needs more changes"
    return best, said


def finalist(
    name: str,
    origin: str,
    evaluated: Evaluated,
    scores: Scores,
    present: Scores,
    present_options: OptionSet,
    objective: Objective,
    cases: Sequence[ReplayedCase],
    is_ceph: bool,
) -> Finalist:
    """A finalist out of what was replayed of it. `scores` and `present` hold what paced replays measured, too."""
    assert evaluated.high is not None
    differences = evaluated.options.differences(present_options)
    return Finalist(
        name,
        origin,
        evaluated,
        scores,
        cost(scores, present, objective),
        cost(evaluated.high, present, objective),
        tuple(cases),
        differences,
        is_ceph and any(map(needs_reshard, differences)),
    )
