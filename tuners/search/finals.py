"""Finals: the cheapest candidates once more beside the present options, larger, and on all that may come.

Other seeds, other workloads that explain the log about as well, half and twice the load where something is compacted
for its age; and, where the budget allows, the log's own rate.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.anchor import usual_variants
from lsmlens.tuners.predictions.replays import Variant
from lsmlens.tuners.predictions.scales import STEPS, coarser_scale
from lsmlens.tuners.replays.replay_options import ages_below
from lsmlens.tuners.search.evaluation import Evaluated, Evaluator, Reference
from lsmlens.tuners.search.pacing import Pacing, affordable_rounds, paced
from lsmlens.tuners.search.recommendation import Finalist, ReplayedCase, finalist
from lsmlens.tuners.search.request import Budget, TuningRequest
from lsmlens.tuners.search.scores import Scores, cost
from lsmlens.tuners.search.screening import Say
from lsmlens.tuners.search.space import has_own_columns
from lsmlens.tuners.workloads.document import Workload

# Of what is left of the budget, so much is for the settled replays of the finals.
SETTLED_SHARE = 0.9
# How many sets, and replays of each, where the budget does not allow all that is asked for.
FEWER = ((2, 4), (2, 3), (1, 3))
LOADS = (0.5, 2.0)
CURRENT = "current"


class _Size(NamedTuple):
    """How many sets go into the finals, how many replays there are of each, and at which scale the best fit's is."""

    sets: int
    draws: int
    scale: float

    def replayed(self, coarse: float) -> float:
        """The whole of it, in replays at scale 1; draws are replayed at the coarser scale."""
        return (self.sets + 1) * (1 / self.scale + (self.draws - 1) / coarse)


@dataclass(frozen=True, slots=True)
class Finals:
    """The finals of one search, on one of so many logs."""

    evaluator: Evaluator
    request: TuningRequest
    budget: Budget
    say: Say
    logs: int = 1

    def held(
        self, order: Sequence[tuple[str, str, OptionSet, float]], scale: float, seconds: float
    ) -> tuple[list[Finalist], Reference, Pacing]:
        """The finalists out of the candidates in `order` (name, origin, options, cost; cheapest first).

        With the reference that they were measured against. `seconds` is what a replay at `scale` takes.
        """
        ledger = self.evaluator.replayer.ledger
        names = ledger.decided("finalists", _chosen(order, self.request.finalists))
        chosen = [one for one in order if one[0] in names]
        size = self._size([one[2] for one in chosen], scale, seconds)
        chosen = chosen[: size.sets]
        sets = [options for _, _, options, _ in chosen]
        variants = usual_variants(self.evaluator.fitted, [self.evaluator.present, *sets], size.draws, size.scale)
        self.say(f"finals: {len(sets)} sets and the current settings, {len(variants)} replays of each")
        reference = self.evaluator.reference(variants)
        results = self.evaluator.evaluate(reference, sets) if sets else []
        present = self.evaluator.own_scores(reference)
        cases = {one.name: self._cases(result, present) for one, result in zip(sets, results, strict=True)}
        self._add_loads(cases, sets, variants[0])
        pacing = self._pace(sets)
        own = with_paced(self.evaluator.evaluate(reference, [self.evaluator.present])[0], pacing)
        is_ceph = self.evaluator.fitted.evidence.run.ceph_version is not None
        finalists = [
            finalist(
                name,
                origin,
                result,
                with_paced(result, pacing),
                own,
                self.evaluator.present,
                self.request.objective,
                [*cases[options.name], *self._paced_cases(options.name, pacing)],
                is_ceph,
            )
            for (name, origin, options, _), result in zip(chosen, results, strict=True)
            if result.scores is not None and cases[options.name]
        ]
        return finalists, reference, pacing

    def _size(self, sets: Sequence[OptionSet], scale: float, seconds: float) -> "_Size":
        """As a prediction has them; where the budget does not allow that, fewer sets and draws, then coarser ones."""
        every = [self.evaluator.present, *sets]
        usual = usual_variants(self.evaluator.fitted, every, 2)[0].scale
        left = self._left()
        sizes = [
            _Size(min(count, len(sets)), draws, step)
            for step in STEPS
            if usual <= step <= max(scale, usual)
            for count, draws in ((self.request.finalists, self.request.draws), *FEWER)
            if count <= self.request.finalists and draws <= self.request.draws
        ]
        at_once = self.evaluator.replayer.at_once
        fitting = (
            one
            for one in sizes
            if left is None
            or one.replayed(coarser_scale(one.scale, every, self.evaluator.families)) * seconds * scale
            < SETTLED_SHARE * left * at_once
        )
        chosen = next(fitting, sizes[-1])
        return _Size(*self.evaluator.replayer.ledger.decided("finals", list(chosen)))

    def _left(self) -> float | None:
        """Seconds that are left for this log's part."""
        left = self.budget.left(time.monotonic())
        return None if left is None else left / self.logs

    def _cases(self, result: Evaluated, present: Scores) -> list[ReplayedCase]:
        objective = self.request.objective
        return [
            ReplayedCase("best fit" if not number else f"draw {number}", cost(one, present, objective))
            for number, one in enumerate(result.cases)
            if one is not None
        ]

    def _add_loads(self, cases: Mapping[str, list[ReplayedCase]], sets: Sequence[OptionSet], best: Variant) -> None:
        """The loads change bytes only where something is done for its age."""
        workload, version = best.workload, self.evaluator.replayer.engine.version
        every = [self.evaluator.present, *sets]
        for load in LOADS:
            resolved = [one.resolve(self.evaluator.families, version) for one in every]
            if not any(ages_below(one, workload.seconds / load) for one in resolved):
                continue
            reference = self.evaluator.reference([self.evaluator.variant(best.scale, at_load(workload, load))])
            present = self.evaluator.own_scores(reference)
            for one, result in zip(sets, self.evaluator.evaluate(reference, sets), strict=True):
                if result.scores is not None:
                    cases[one.name].append(
                        ReplayedCase(f"load x{load:g}", cost(result.scores, present, self.request.objective))
                    )

    def _pace(self, sets: Sequence[OptionSet]) -> Pacing:
        """Paced replays of the best two and the present options, as many rounds as there is time for."""
        some = [self.evaluator.present, *sets[:2]]
        left = self._left()
        rounds = affordable_rounds(self.evaluator.fitted.stream.seconds, len(some), left or 0.0) if sets else []
        rounds = [
            (int(seed), float(load)) for seed, load in self.evaluator.replayer.ledger.decided("paced rounds", rounds)
        ]
        if rounds:
            self.say(f"{len(rounds)} rounds of {len(some)} paced replays at the log's rate and others")
        return paced(self.evaluator, some, rounds)

    def _paced_cases(self, name: str, pacing: Pacing) -> list[ReplayedCase]:
        """By load, the cost with what was measured at that load; only where the objective counts it."""
        found = []
        present = {(one.seed, one.load): one for one in pacing.replays.get(CURRENT, ())}
        for one in pacing.replays.get(name, ()):
            other = present.get((one.seed, one.load))
            if other is not None and one.latencies is not None and other.latencies is not None:
                blank = Scores(1, 1, 1, 1, 1, 1, 1)
                mine, theirs = (
                    blank.paced(one.stall_seconds, one.latencies),
                    blank.paced(other.stall_seconds, other.latencies),
                )
                ratio = cost(mine, theirs, self.request.objective)
                if ratio != 1:
                    found.append(ReplayedCase(f"latency at load x{one.load:g}, seed {one.seed}", ratio))
        return found


def with_paced(result: Evaluated, pacing: Pacing) -> Scores:
    """The scores of a replayed set, with what paced replays measured of it."""
    assert result.scores is not None
    name = result.options.name
    return result.scores.paced(pacing.stall_seconds(name), pacing.latencies(name))


def _chosen(order: Sequence[tuple[str, str, OptionSet, float]], count: int) -> list[str]:
    """The cheapest, the cheapest that needs no options of single columns, and the next ones."""
    names = [name for name, _, _, _ in order]
    plain = [name for name, _, options, _ in order if not has_own_columns(options)]
    return list(dict.fromkeys((*names[:1], *plain[:1], *names)))[:count]


def at_load(workload: Workload, load: float) -> Workload:
    """The workload `load` times as fast: times are divided by it, rates multiplied. Raises ValueError for load <= 0."""
    if not load > 0:
        raise ValueError(f"a load is positive, not {load}")
    return msgspec.convert(_at_load(msgspec.to_builtins(workload), load), Workload)


def _at_load(said: Any, load: float) -> Any:
    """Rows of a schedule begin with their start and end, steps of a rate are a start and puts a second."""
    if isinstance(said, dict):
        return {name: _of_field(name, value, load) for name, value in said.items()}
    return [_at_load(one, load) for one in said] if isinstance(said, list | tuple) else said


def _of_field(name: str, value: Any, load: float) -> Any:
    if value is None or isinstance(value, str):
        return value
    if name == "seconds":
        return value / load
    if name == "schedule":
        return [[row[0] / load, row[1] / load, *row[2:]] for row in value]
    if name == "rate":
        steps = isinstance(value, list | tuple)
        return [[start / load, rate * load] for start, rate in value] if steps else value * load
    return _at_load(value, load)
