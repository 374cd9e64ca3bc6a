"""Tuning: from a run's log to a recommendation, within a budget of time.

The present options are replayed first, small: they are what all else is measured against. Candidates are estimated by
the workload's own curves, and those that promise most are screened at that scale. The cheapest are replayed again,
larger, with other seeds, other workloads that explain the log about as well and other loads, beside the present options
each time; and, where the budget allows, at the log's own rate.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.tunables import Surroundings
from lsmlens.tuners.predictions.anchor import Anchor
from lsmlens.tuners.predictions.figures import Figures, by_family
from lsmlens.tuners.predictions.scales import STEPS
from lsmlens.tuners.predictions.stalls import StallForecast, forecasts
from lsmlens.tuners.search.bounds import Bounds, bounds_of
from lsmlens.tuners.search.estimate import Estimator, survival_of
from lsmlens.tuners.search.evaluation import Evaluator
from lsmlens.tuners.search.finals import CURRENT, Finals, with_paced
from lsmlens.tuners.search.other_logs import LogCost, OtherLog
from lsmlens.tuners.search.pacing import Pacing
from lsmlens.tuners.search.promising import Promising
from lsmlens.tuners.search.recommendation import Finalist, Recommendation, on_every_log, pick
from lsmlens.tuners.search.request import Budget, TuningRequest
from lsmlens.tuners.search.scores import Scores
from lsmlens.tuners.search.screening import Say, Screening, presets, ranked
from lsmlens.tuners.search.space import OWN_SHARE, Space, space_of
from lsmlens.tuners.search.study import Study

# A screening replay has about so many operations: a few seconds of work, and enough for every level of most workloads.
SCREEN_OPERATIONS = 900_000
# Refining the workload takes about so many replays, one after another, and may take that share of the budget.
REFINING_REPLAYS, REFINING_SHARE = 2, 0.15


@dataclass(slots=True)
class Tuning:
    """One search. `path` is the study's file, which the evaluator's ledger is kept in, too.

    Candidates are made around the evaluator's log, and cost what they cost on it and on `logs`; of those that are held
    out only the finalists'.

    Raises InputError for a study of something else, and for options that are frozen but not searched.
    """

    evaluator: Evaluator
    request: TuningRequest
    path: Path
    say: Say
    logs: Sequence[OtherLog] = ()
    others: tuple[OptionSet, ...] = field(init=False)
    space: Space = field(init=False)
    bounds: Bounds = field(init=False)
    budget: Budget = field(init=False)
    promising: Promising = field(init=False)

    def __post_init__(self) -> None:
        run = self.evaluator.fitted.evidence.run
        written = {one.name: float(one.flush_bytes + one.compaction_output_bytes) for one in run.families}
        self.evaluator.present = self.evaluator.present.named(CURRENT)
        self.bounds = bounds_of(run, self.evaluator.present, self.evaluator.families, self.request.memory_bytes)
        self.others = (*self.request.candidates, *(presets() if run.ceph_version is not None else ()))
        self.space = space_of(
            self.evaluator.present, written, self.request.frozen, self._surroundings(written), self.others
        )
        spent = self.evaluator.replayer.ledger.fact("spent seconds") or 0.0
        self.budget = Budget(self.request, spent, time.monotonic())

    def _surroundings(self, written: Mapping[str, float]) -> Surroundings:
        """What decides which options can be tuned here."""
        fitted, engine = self.evaluator.fitted, self.evaluator.replayer.engine
        run = fitted.evidence.run
        heavy = [one for one in run.families if written[one.name] >= OWN_SHARE * sum(written.values())]
        return Surroundings(
            run.ceph_version,
            engine.version,
            engine.has_collectors,
            fitted.workload.seconds,
            max((one.flush_bytes / one.flush_output_records for one in heavy if one.flush_output_records), default=0.0),
            any(interval.deletes for one in fitted.families for interval in one.evidence.intervals),
            self.bounds.device_bytes is not None,
        )

    def recommend(self) -> Recommendation:
        """Search, and say what to run with."""
        ledger = self.evaluator.replayer.ledger
        scale = ledger.decided("screening scale", self._screening_scale())
        self.say("replaying the current settings")
        began = time.monotonic()
        self.evaluator.reference([self.evaluator.variant(scale)])
        took = time.monotonic() - began
        if ledger.decided("refined", self._has_time_to_refine(took)):
            self._say("trying other structures of the workload where the replay is off the log")
            self.evaluator.refine(scale)
        reference = self.evaluator.reference([self.evaluator.variant(scale)])
        for one in self.logs:
            self._say(f"replaying the current settings of {one.name}")
            one.screen(
                ledger.decided(f"screening scale of {one.name}", self._screening_scale(one.evaluator)),
                refine=ledger.fact("refined"),
            )
        learned = [one for one in self.logs if not one.is_held_out]
        self.promising = promising = self._promising()
        probed = [one for one in self.space.dimensions if promising.is_probed(one)]
        study = Study(self.path, self.space, self._about(scale), self.request.seed, promising.cost, probed)
        own = self.evaluator.own_scores(reference)
        screening = Screening(
            study,
            self.space,
            self.bounds,
            self.evaluator,
            reference,
            own,
            self.request,
            self.budget,
            self._say,
            promising,
            learned,
        )
        screening.begin()
        fixed = screening.fixed()
        if not ledger.fact("screened"):
            screening.search(fixed)
            ledger.keep_fact("screened", True)
        seconds = median(screening.seconds) if screening.seconds else took
        finals = Finals(self.evaluator, self.request, self.budget, self._say, 1 + len(self.logs))
        finalists, final, pacing = finals.held(ranked(study, self.space, fixed, self.space.present), scale, seconds)
        (own_final,) = self.evaluator.evaluate(final, [self.evaluator.present])
        finalists = self._on_every_log(finalists, with_paced(own_final, pacing), len(final.variants))
        picked, reason = pick(finalists)
        present_stalls, forecast = self._stalls(final.anchor, picked)
        if picked is not None:
            others = [one for one in finalists if one is not picked]
            picked = picked.with_stalls(forecast)
            finalists = [*others, picked]
        self._spend()
        return Recommendation(
            fitted=self.evaluator.fitted,
            objective=self.request.objective,
            present=self.evaluator.present,
            present_scores=with_paced(own_final, pacing),
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
            left_out=self.space.left_out,
            present_stalls=present_stalls,
        )

    def _stalls(self, anchor: Anchor, picked: Finalist | None) -> tuple[StallForecast | None, StallForecast | None]:
        """Stalls under the present options and those picked; headroom only as near as the budget allows."""
        asked: list[tuple[OptionSet, Mapping[str, Figures]]] = [(self.evaluator.present, anchor.observed)]
        if picked is not None:
            families = picked.evaluated.prediction.families
            asked.append((picked.options, {one.name: one.predicted.value for one in families}))
        left = self.budget.left(time.monotonic())
        has_time = bool(self.evaluator.replayer.ledger.decided("headroom", left is None or left > 0))
        present, *others = forecasts(anchor, asked, self.evaluator.replayer, bisects=has_time)
        return present, others[0] if others else None

    def _has_time_to_refine(self, seconds: float) -> bool:
        """Whether a few more replays, of so many seconds each, leave enough of the budget."""
        left = self.budget.left(time.monotonic())
        return left is None or REFINING_REPLAYS * seconds < REFINING_SHARE * left

    def _promising(self) -> Promising:
        run = self.evaluator.fitted.evidence.run
        survival = survival_of(self.evaluator.fitted.workload)
        estimator = Estimator(survival, self.space.base, by_family(run.families))
        starts = [self.space.choices_of(one) for one in self.others]
        return Promising(self.space, self.bounds, estimator, self.request.objective, self.request.seed, starts)

    def _on_every_log(self, finalists: Sequence[Finalist], present: Scores, draws: int) -> list[Finalist]:
        """The finalists with what they cost on the other logs; not those that fail on one that was learned from."""
        if not self.logs or not finalists:
            return [*finalists]
        options = [one.options for one in finalists]
        elsewhere = []
        for log in self.logs:
            self._say(f"replaying {len(options)} finalists with the workload of {log.name}")
            elsewhere.append(log.final_costs(options, self.space.base, draws))
        found = []
        for place, one in enumerate(finalists):
            costs = [every[place] for every in elsewhere]
            if all(each.is_held_out or each.cost is not None for each in costs):
                own = LogCost(
                    self.request.log or self.evaluator.fitted.name,
                    False,
                    self.request.weight,
                    one.cost,
                    one.cost_high,
                    one.scores.written_bytes,
                    present.written_bytes,
                )
                found.append(on_every_log(one, own, costs))
        return found

    def _screening_scale(self, evaluator: Evaluator | None = None) -> float:
        evaluator = evaluator or self.evaluator
        operations = sum(one.evidence.operations for one in evaluator.fitted.families)
        most = self.space.largest_scale(evaluator.families)
        wanted = next((step for step in STEPS if operations / step <= SCREEN_OPERATIONS), STEPS[-1])
        return max(1.0, min(most, wanted))

    def _about(self, scale: float) -> Mapping[str, str]:
        run = self.evaluator.fitted.evidence.run
        learned = [one for one in self.logs if not one.is_held_out]
        runs = [(run, self.request.weight), *((one.evaluator.fitted.evidence.run, one.weight) for one in learned)]
        logs = [
            f"{one.name}, {one.total.flush_input_records} records, {one.total.flush_bytes} bytes flushed"
            + (f", weight {weight:g}" if learned else "")
            for one, weight in runs
        ]
        return {
            "log": "; ".join(logs),
            "objective": str(self.request.objective),
            "engine": f"{self.evaluator.replayer.engine.name} {self.evaluator.replayer.engine.version}",
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
        self.evaluator.replayer.ledger.keep_fact("spent seconds", self.budget.spent(time.monotonic()))

    def _notes(self, pacing: Pacing, finalists: Sequence[Finalist]) -> list[str]:
        notes = []
        if pacing.problem is not None:
            needed = self.budget.spent(time.monotonic()) + pacing.least_seconds
            notes.append(f"{pacing.problem}; --budget {needed / 60:.0f}m is the least for that")
        if pacing.disturbed:
            paced = sum(len(every) for every in pacing.replays.values())
            notes.append(f"{len(pacing.disturbed)} of {paced} paced replays were disturbed: {pacing.disturbed[0]}")
        if not any(one.name.startswith("load") for finalist in finalists for one in finalist.cases):
            notes.append("at half and twice the load the same bytes are written: nothing is compacted for its age")
        return notes
