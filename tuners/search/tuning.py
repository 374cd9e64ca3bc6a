"""Tuning: from a run's log to a recommendation, within a budget of time.

The present options are replayed first, small: they are what all else is measured against. Candidates are screened at
that scale. The cheapest are replayed again, larger, with other seeds, other workloads that explain the log about as
well and other loads, beside the present options each time; and, where the budget allows, at the log's own rate.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.anchor import usual_variants
from lsmlens.tuners.predictions.replays import Variant
from lsmlens.tuners.predictions.scales import STEPS, largest_scale
from lsmlens.tuners.replays.replay_options import ages_below
from lsmlens.tuners.search.bounds import Bounds, bounds_of
from lsmlens.tuners.search.evaluation import Evaluated, Evaluator, Reference
from lsmlens.tuners.search.loads import at_load
from lsmlens.tuners.search.pacing import Pacing, affordable_rounds, paced
from lsmlens.tuners.search.recommendation import Case, Finalist, Recommendation, finalist, pick
from lsmlens.tuners.search.request import Budget, Request
from lsmlens.tuners.search.scores import Scores, cost
from lsmlens.tuners.search.screening import Fixed, Say, Screening, ranked
from lsmlens.tuners.search.space import SMALLEST_BUFFER, Space, has_own_columns, space_of
from lsmlens.tuners.search.study import Study

# A screening replay has about so many operations: a few seconds of work, and enough for every level of most workloads.
SCREEN_OPERATIONS = 900_000
SETTLED_SHARE = 0.95
LOADS = (0.5, 2.0)
CURRENT = "current"


@dataclass(slots=True)
class Tuning:
    """One search. `path` is the study's file, which the evaluator's ledger is kept in, too.

    Raises InputError for a study of something else, and for options that are frozen but not searched.
    """

    evaluator: Evaluator
    request: Request
    path: Path
    say: Say
    space: Space = field(init=False)
    bounds: Bounds = field(init=False)
    budget: Budget = field(init=False)

    def __post_init__(self) -> None:
        run = self.evaluator.fitted.evidence.run
        written = {one.name: float(one.flush_bytes + one.compaction_output_bytes) for one in run.families}
        self.evaluator.present = self.evaluator.present.named(CURRENT)
        self.space = space_of(self.evaluator.present, written, self.request.frozen)
        self.bounds = bounds_of(run, self.evaluator.present, self.evaluator.families, self.request.memory_bytes)
        spent = self.evaluator.ledger.fact("spent seconds") or 0.0
        self.budget = Budget(self.request, spent, time.monotonic())

    def recommend(self) -> Recommendation:
        """Search, and say what to run with."""
        ledger = self.evaluator.ledger
        scale = ledger.decided("screening scale", self._screening_scale())
        study = Study(self.path, self.space, self._about(scale), self.request.seed)
        self.say("replaying the current settings")
        began = time.monotonic()
        reference = self.evaluator.reference([Variant(self.evaluator.fitted.workload, scale, 1)])
        took = time.monotonic() - began
        own = self._own(reference)
        screening = Screening(
            study, self.space, self.bounds, self.evaluator, reference, own, self.request, self.budget, self._say
        )
        fixed = screening.fixed()
        if not ledger.fact("screened"):
            screening.search()
            ledger.keep_fact("screened", True)
        seconds = median(screening.seconds) if screening.seconds else took
        finalists, final, pacing = self._finals(study, fixed, scale, seconds)
        picked, reason = pick(finalists)
        (own_final,) = self.evaluator.evaluate(final, [self.evaluator.present])
        self._spend()
        return Recommendation(
            fitted=self.evaluator.fitted,
            objective=self.request.objective,
            present=self.evaluator.present,
            present_scores=self._with_paced(own_final, pacing),
            anchor=final.anchor,
            present_evaluated=own_final,
            picked=picked,
            reason=reason,
            finalists=tuple(sorted(finalists, key=lambda one: one.cost)),
            tried=tuple(study.tried),
            fixed=tuple((one.options.name, one.cost, one.problem) for one in fixed),
            pacing=pacing,
            memory_limit_bytes=self.bounds.memory_bytes,
            memory_source=self.bounds.memory_source,
            screen_scale=scale,
            seconds=self.budget.spent(time.monotonic()),
            budget_seconds=self.request.budget_seconds,
            notes=tuple(self._notes(pacing, finalists)),
        )

    def _finals(
        self, study: Study, fixed: Sequence[Fixed], scale: float, seconds: float
    ) -> tuple[list[Finalist], Reference, Pacing]:
        """The cheapest once more, with the reference that they were measured against."""
        ledger = self.evaluator.ledger
        order = ranked(study, self.space, fixed, self.space.present)
        names = ledger.decided("finalists", _chosen(order, self.request.finalists))
        chosen = [one for one in order if one[0] in names]
        sets = [options for _, _, options, _ in chosen]
        variants = self._final_variants(sets, scale, seconds)
        self._say(f"finals: {len(sets)} sets and the current settings, {len(variants)} replays of each")
        reference = self.evaluator.reference(variants)
        results = self.evaluator.evaluate(reference, sets) if sets else []
        present = self._own(reference)
        cases = {one.name: self._cases(result, present) for one, result in zip(sets, results, strict=True)}
        self._add_loads(cases, sets, variants[0])
        pacing = self._pace(sets)
        own = self._with_paced(self.evaluator.evaluate(reference, [self.evaluator.present])[0], pacing)
        is_ceph = self.evaluator.fitted.evidence.run.run.ceph_version is not None
        finalists = [
            finalist(
                name,
                origin,
                result,
                self._with_paced(result, pacing),
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

    def _final_variants(self, sets: Sequence[OptionSet], scale: float, seconds: float) -> list[Variant]:
        """The usual variants of a prediction, or coarser and fewer ones where the budget allows no more."""
        every = [self.evaluator.present, *sets]
        usual = usual_variants(self.evaluator.fitted, every, self.request.draws)
        left = self.budget.left(time.monotonic())
        count, finest = self.request.draws, usual[0].scale
        if left is not None:
            at_once = self.evaluator.jobs or 2
            one = seconds * scale  # of a replay at scale 1
            for finest in [step for step in STEPS if usual[0].scale <= step <= max(scale, usual[0].scale)]:
                coarse = usual_variants(self.evaluator.fitted, every, 2, finest)[-1].scale
                if len(every) * one * (1 / finest + (count - 1) / coarse) / at_once < SETTLED_SHARE * left:
                    break
            else:
                count = min(count, 3)
        finest, count = self.evaluator.ledger.decided("final scale and draws", [finest, count])
        return usual_variants(self.evaluator.fitted, every, count, finest)

    def _cases(self, result: Evaluated, present: Scores) -> list[Case]:
        objective = self.request.objective
        return [
            Case("best fit" if not number else f"draw {number}", cost(one, present, objective))
            for number, one in enumerate(result.cases)
            if one is not None
        ]

    def _add_loads(self, cases: Mapping[str, list[Case]], sets: Sequence[OptionSet], best: Variant) -> None:
        """The loads change bytes only where something is done for its age."""
        workload, version = best.workload, self.evaluator.engine.version
        every = [self.evaluator.present, *sets]
        for load in LOADS:
            resolved = [one.resolve(self.evaluator.families, version) for one in every]
            if not any(ages_below(one, workload.seconds / load) for one in resolved):
                continue
            reference = self.evaluator.reference([Variant(at_load(workload, load), best.scale, best.seed)])
            present = self._own(reference)
            for one, result in zip(sets, self.evaluator.evaluate(reference, sets), strict=True):
                if result.scores is not None:
                    cases[one.name].append(
                        Case(f"load x{load:g}", cost(result.scores, present, self.request.objective))
                    )

    def _pace(self, sets: Sequence[OptionSet]) -> Pacing:
        """Paced replays of the best two and the present options, as many rounds as there is time for."""
        some = [self.evaluator.present, *sets[:2]]
        left = self.budget.left(time.monotonic())
        rounds = affordable_rounds(self.evaluator.fitted.stream.seconds, len(some), left or 0.0) if sets else []
        rounds = [(int(seed), float(load)) for seed, load in self.evaluator.ledger.decided("paced rounds", rounds)]
        if rounds:
            self._say(f"{len(rounds)} rounds of {len(some)} paced replays at the log's rate and others")
        return paced(self.evaluator, some, rounds)

    def _paced_cases(self, name: str, pacing: Pacing) -> list[Case]:
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
                    found.append(Case(f"latency at load x{one.load:g}, seed {one.seed}", ratio))
        return found

    def _own(self, reference: Reference) -> Scores:
        (own,) = self.evaluator.evaluate(reference, [self.evaluator.present])
        assert own.scores is not None  # the reference is of these very replays
        return own.scores

    def _with_paced(self, result: Evaluated, pacing: Pacing) -> Scores:
        assert result.scores is not None
        name = result.options.name
        return result.scores.paced(pacing.stall_seconds(name), pacing.latencies(name))

    def _screening_scale(self) -> float:
        operations = sum(one.evidence.operations for one in self.evaluator.fitted.families)
        most = largest_scale([self.evaluator.present], self.evaluator.families) / SMALLEST_BUFFER
        wanted = next((step for step in STEPS if operations / step <= SCREEN_OPERATIONS), STEPS[-1])
        return max(1.0, min(most, wanted))

    def _about(self, scale: float) -> Mapping[str, str]:
        run = self.evaluator.fitted.evidence.run
        return {
            "log": f"{run.run.name}, {run.total.flush_input_records} records, {run.total.flush_bytes} bytes flushed",
            "objective": str(self.request.objective),
            "engine": f"{self.evaluator.engine.name} {self.evaluator.engine.version}",
            "space": "; ".join(f"{one.name}: {' '.join(one.values)}" for one in self.space.dimensions),
            "bounds": str(self.bounds.memory_bytes),
            "scale": f"{scale:g}",
            "batch": str(self.request.batch),
            "seed": str(self.request.seed),
        }

    def _say(self, text: str) -> None:
        self._spend()
        self.say(text)

    def _spend(self) -> None:
        self.evaluator.ledger.keep_fact("spent seconds", self.budget.spent(time.monotonic()))

    def _notes(self, pacing: Pacing, finalists: Sequence[Finalist]) -> list[str]:
        notes = []
        if pacing.problem is not None:
            needed = self.budget.spent(time.monotonic()) + pacing.least_seconds
            notes.append(f"{pacing.problem}; --budget {needed / 60:.0f}m is the least for that")
        if not any(one.name.startswith("load") for finalist in finalists for one in finalist.cases):
            notes.append("at half and twice the load the same bytes are written: nothing is compacted for its age")
        return notes


def _chosen(order: Sequence[tuple[str, str, OptionSet, float]], count: int) -> list[str]:
    """The cheapest, the cheapest that needs no options of single columns, and the next ones."""
    names = [name for name, _, _, _ in order]
    plain = [name for name, _, options, _ in order if not has_own_columns(options)]
    return list(dict.fromkeys((*names[:1], *plain[:1], *names)))[:count]
