"""What `tune` comes to as the document `lsmlens.recommendation/1`, and `tune --ab` as `lsmlens.duel/1`."""

from typing import Annotated, Final, Literal

from lsmlens.analyzer.analysis_document import StepJson, means, metric
from lsmlens.analyzer.options.option_changes import is_mutable
from lsmlens.reports.json_form import made_of, to_text
from lsmlens.reports.prediction_json import (
    BlocksPerGet,
    EngineJson,
    OptionsPredictionJson,
    SelfCheckJson,
    SortedRunsMean,
    StallForecastJson,
    VariantJson,
    check_json,
    options_prediction_json,
    stalls_json,
)
from lsmlens.reports.recommendation import headline, notes, warnings_of
from lsmlens.reports.recommendation_tables import RecommendationReport
from lsmlens.reports.replay_json import OutcomeJson, outcome_json
from lsmlens.tuners.options.option_set import Difference
from lsmlens.tuners.options.tunables import tunables_of
from lsmlens.tuners.replays.measurement import Mode
from lsmlens.tuners.replays.outcome import Outcome, outcome_of
from lsmlens.tuners.search.doubts import DoubtKind, doubts
from lsmlens.tuners.search.duel import Duel, Ratio
from lsmlens.tuners.search.evaluation import Evaluated
from lsmlens.tuners.search.recommendation import Finalist, Recommendation, changes
from lsmlens.tuners.search.scores import Objective, Scores
from msgspec import Struct

SCHEMA: Final = "lsmlens.recommendation/1"
DUEL_SCHEMA: Final = "lsmlens.duel/1"

Cost = Annotated[
    float | None,
    means("Cost by the objective, a weighted product of ratios to the current settings (1); null where not known."),
]
Problem = Annotated[str | None, means("Why it was not chosen or not tried; null where it only costs more.")]
Origin = Annotated[str, means("Where the idea came from.")]


class TunedLogJson(Struct, kw_only=True):
    """The log that the workload was learned from."""

    source: Annotated[str, means("The paths that were given.")]
    run: Annotated[str, means("The run of the bundle.")]
    ceph_version: Annotated[str | None, means("The Ceph that wrote the log.")]
    rocksdb_version: Annotated[str | None, means("The RocksDB that wrote the log.")]


class BoundsJson(Struct, kw_only=True):
    """What candidates may not exceed."""

    memtable_bytes: Annotated[int, means("What memtables may take at most.")]
    source: Annotated[str, means("Where that comes from.")]


class EstimatesJson(Struct, kw_only=True):
    """Costs estimated before any replay."""

    pruned: Annotated[int, means("Candidates that were not replayed, as their estimates are far worse than the best.")]
    median_error: Annotated[
        float | None,
        means("By how much estimated costs differ from replayed ones, relative, on median; null for fewer than three."),
    ]


class ScoresJson(Struct, kw_only=True):
    """What one set of options comes to, for the log's own work."""

    written_bytes: Annotated[float, metric("table_bytes")]
    flush_bytes: Annotated[float, metric("flush_bytes")]
    compactions: Annotated[float, metric("compactions")]
    processed_records: Annotated[float, metric("total_input_records")]
    cpu_seconds: Annotated[float, means("CPU of the replays, times their scale; of the machine that replayed.")]
    memory_bytes: Annotated[float, means("What memtables may take at most.")]
    space_bytes: Annotated[float, means("Files at the most.")]
    stall_seconds: Annotated[float | None, means("Of paced replays at the log's own rate; null where there were none.")]
    p50_micros: Annotated[float | None, means("Median of the same replays' write latency.")]
    p99_micros: Annotated[float | None, means("99th percentile of the same replays' write latency.")]
    sorted_runs: SortedRunsMean
    blocks_per_get: BlocksPerGet
    write_amplification: Annotated[float | None, metric("write_amplification_lsm")]


class CurrentJson(Struct, kw_only=True):
    """The settings that the log was written with."""

    scores: ScoresJson
    stalls: Annotated[
        StallForecastJson | None,
        means("As in lsmlens.prediction/1; null where the log does not tell how long compactions took."),
    ] = None


class CaseJson(Struct, kw_only=True):
    """One of the cases that a finalist was tried on."""

    name: Annotated[str, means("A draw of the workload, a load, a seed.")]
    cost: Cost


class FinalistOptionJson(Struct, kw_only=True):
    """An option that a finalist changes."""

    option: Annotated[str, means("Its name.")]
    column_family: Annotated[str | None, means("null for all families.")]
    current: Annotated[str | None, means("Its value now.")]
    value: Annotated[str | None, means("Its value under the finalist.")]
    takes: Annotated[str | None, means("What the change takes of memory, space or time; null where nothing is known.")]
    at_run_time: Annotated[
        bool, means("Whether RocksDB takes it while it runs (SetOptions); Ceph takes all options when an OSD starts.")
    ]
    source: Annotated[str | None, means("The header of RocksDB that describes it; null for one that is not tuned.")]


class LeftOutJson(Struct, kw_only=True):
    """An option that can be tuned, and was not here."""

    option: Annotated[str, means("Its name, and the part of it.")]
    reason: Annotated[str, means("Why.")]


class MetricChangeJson(Struct, kw_only=True):
    """A metric under a finalist, against the current settings."""

    metric: Annotated[str, means("As in scores.")]
    current: Annotated[float, means("Now.")]
    value: Annotated[float, means("Under the finalist.")]
    low: Annotated[float | None, means("Low end of the 90 % interval.")]
    high: Annotated[float | None, means("Its high end.")]


class PacedJson(Struct, kw_only=True):
    """One paced replay."""

    seed: Annotated[int, means("Its seed.")]
    load: Annotated[float, means("Times the log's own rate.")]
    stall_seconds: Annotated[float | None, means("For which writes were stalled.")]
    response_micros: Annotated[dict[str, float] | None, means("Write latency by percentile.")]


class LogCostJson(Struct, kw_only=True):
    """What a finalist costs on one log."""

    log: Annotated[str, means("The log's name.")]
    is_held_out: Annotated[bool, means("Whether no choice rests on it.")]
    weight: Annotated[float, means("What its cost counts beside the others'.")]
    cost: Cost
    cost_high: Annotated[float | None, means("The cost where the prediction's interval ends.")]
    written_bytes: Annotated[float | None, means("What flushes and compactions would write, in the log's own work.")]
    present_bytes: Annotated[float | None, means("What they write under the options that the log ran with.")]
    problem: Annotated[str | None, means("Why there are no figures.")]


class DoubtJson(Struct, kw_only=True):
    """One thing that would make the recommendation wrong."""

    kind: Annotated[DoubtKind, means("What it is about.")]
    text: Annotated[str, means('It follows on "It is wrong if ".')]


class FinalistJson(Struct, kw_only=True):
    """A candidate that was replayed in full."""

    name: Annotated[str, means("Its name.")]
    origin: Origin
    is_on_front: Annotated[bool, means("Whether no other finalist, nor the current settings, is better in everything.")]
    cost: Cost
    cost_high: Annotated[float, means("The cost where the prediction's interval ends.")]
    cases: Annotated[
        list[CaseJson], means("The cost in every case it was tried on: draws of the workload, loads, seeds.")
    ]
    needs_reshard: Annotated[
        bool, means("Whether options of single columns change, which takes ceph-bluestore-tool reshard.")
    ]
    logs: Annotated[list[LogCostJson], means("What it costs on each log; empty where there is only one.")]
    differences: Annotated[list[FinalistOptionJson], means("The options it changes.")]
    scores: ScoresJson
    changes: Annotated[list[MetricChangeJson], means("Each metric that is known, against the current settings.")]
    prediction: Annotated[OptionsPredictionJson, means("As in lsmlens.prediction/1, predictions.")]
    paced: Annotated[list[PacedJson], means("Its paced replays.")]


class CandidateJson(Struct, kw_only=True):
    """A candidate of the search."""

    number: Annotated[int, means("Its place in the search.")]
    name: Annotated[str, means("Its name.")]
    origin: Origin
    choices: Annotated[dict[str, str], means("What was chosen for it.")]
    estimate: Annotated[
        float | None,
        means("The cost estimated by the workload's own curves, before any replay; null where nothing is estimated."),
    ]
    is_pruned: Annotated[bool, means("Whether it was not replayed, as its estimate is far worse than the best.")]
    cost: Cost
    scores: ScoresJson | None
    problem: Problem


class OptionSetJson(Struct, kw_only=True):
    """A preset or a given set of options, tried as it is."""

    name: Annotated[str, means("Its name.")]
    cost: Cost
    problem: Problem


class RecommendationJson(Struct, kw_only=True):
    """What `lsmlens tune --format json` prints, in the log's own units and amount of work."""

    schema: Annotated[Literal["lsmlens.recommendation/1"], means("The document's kind and version.")] = SCHEMA
    fitted_on: TunedLogJson
    engine: EngineJson
    objective: Annotated[Objective, means("What counted most.")]
    budget_seconds: Annotated[float, means("How long the search might take.")]
    seconds: Annotated[float, means("What the search took, over all its sittings.")]
    bounds: BoundsJson
    screening_scale: Annotated[float, means("By what sizes were divided when candidates were screened.")]
    estimates: EstimatesJson
    replays: Annotated[list[VariantJson], means("The variants of the workload that finalists were replayed with.")]
    self_consistency: Annotated[list[SelfCheckJson], means("By column family.")]
    headline: Annotated[str, means("What to do, in a sentence.")]
    warnings: Annotated[list[str], means("What the pick makes worse beyond a stated bound.")]
    pick: Annotated[str | None, means("The finalist to run with; null where the current settings stay.")]
    reason: Annotated[str, means("Why.")]
    wrong_if: Annotated[list[DoubtJson], means("What would have to be true for it to be wrong.")]
    current: CurrentJson
    finalists: Annotated[list[FinalistJson], means("Cheapest first.")]
    candidates: Annotated[list[CandidateJson], means("The course of the search, in order.")]
    left_out: Annotated[list[LeftOutJson], means("Options that can be tuned, and were not searched here.")]
    option_sets: Annotated[list[OptionSetJson], means("Presets and given candidates.")]
    steps: Annotated[list[StepJson], means("How to apply the pick, in order.")]
    options_file: Annotated[str | None, means("The pick as an OPTIONS file.")]
    outcomes: Annotated[
        list[OutcomeJson], means("The current settings and the finalists, at the finest scale replayed.")
    ]
    notes: Annotated[list[str], means("What to know before believing it.")]


class RatioJson(Struct, kw_only=True):
    """One metric under B, against A."""

    column_family: Annotated[str | None, means("null for all families together.")]
    metric: Annotated[
        Literal["flush_bytes", "output_bytes", "compactions", "input_records"],
        means("Bytes flushed, bytes that compactions write, their number, records into them."),
    ]
    a: Annotated[float, means("Under A.")]
    b: Annotated[float, means("Under B.")]
    ratio: Annotated[float | None, means("b / a; null where a is 0.")]
    low: Annotated[float | None, means("The lower end of the ratio's 90 % interval.")]
    high: Annotated[float | None, means("The upper end of the ratio's 90 % interval.")]


class OptionPairJson(Struct, kw_only=True):
    """An option that is not the same in both sets."""

    option: Annotated[str, means("Its name.")]
    column_family: Annotated[str | None, means("null for all families.")]
    a: Annotated[str | None, means("Its value in A.")]
    b: Annotated[str | None, means("Its value in B.")]


class DuelJson(Struct, kw_only=True):
    """What `lsmlens tune --ab --format json` prints, in the log's own units."""

    schema: Annotated[Literal["lsmlens.duel/1"], means("The document's kind and version.")] = DUEL_SCHEMA
    run: Annotated[str, means("The run whose workload it is.")]
    a: Annotated[OptionsPredictionJson, means("Under the first set of options.")]
    b: Annotated[OptionsPredictionJson, means("Under the second.")]
    ratios: Annotated[
        list[RatioJson],
        means("B over A by family and metric, with the very same workloads; empty where all replays of one failed."),
    ]
    differences: Annotated[list[OptionPairJson], means("Options that are not the same in both sets.")]
    notes: Annotated[list[str], means("What to know before believing it.")]


def to_json(report: RecommendationReport) -> str:
    """The document as indented JSON text, ending in a newline."""
    return to_text(document(report))


def duel_to_json(duel: Duel) -> str:
    """The document as indented JSON text, ending in a newline."""
    return to_text(duel_document(duel))


def document(report: RecommendationReport) -> RecommendationJson:
    """Everything a recommendation says."""
    one = report.recommendation
    anchor, run = one.anchor, one.fitted.evidence.run.run
    front = {finalist.name for finalist in one.front}
    application = report.application
    return RecommendationJson(
        fitted_on=made_of(TunedLogJson, run, source=report.source, run=one.fitted.name),
        engine=EngineJson(name=anchor.engine.name, rocksdb_version=anchor.engine.version),
        objective=one.objective,
        budget_seconds=one.budget_seconds,
        seconds=one.seconds,
        bounds=BoundsJson(memtable_bytes=one.memory_limit_bytes, source=one.memory_source),
        screening_scale=one.screen_scale,
        estimates=EstimatesJson(pruned=one.pruned, median_error=one.estimate_error),
        replays=[VariantJson(scale=variant.scale, seed=variant.seed) for variant in anchor.variants],
        self_consistency=[check_json(check) for check in anchor.checks],
        headline=headline(one),
        warnings=[] if one.picked is None else warnings_of(one.picked, one),
        pick=None if one.picked is None else one.picked.name,
        reason=one.reason,
        wrong_if=[made_of(DoubtJson, each) for each in doubts(one)],
        current=CurrentJson(scores=_scores(one.present_scores), stalls=stalls_json(one.present_stalls)),
        finalists=[_finalist(finalist, one, finalist.name in front) for finalist in one.finalists],
        candidates=[
            made_of(
                CandidateJson,
                tried,
                choices=dict(tried.choices),
                scores=None if tried.scores is None else _scores(tried.scores),
            )
            for tried in one.tried
        ],
        left_out=[LeftOutJson(option=name, reason=reason) for name, reason in one.left_out.items()],
        option_sets=[OptionSetJson(name=name, cost=cost, problem=problem) for name, cost, problem in one.fixed],
        steps=[
            StepJson(title=step.title, commands=list(step.commands), notes=list(step.notes))
            for step in (application.steps if application is not None else ())
        ],
        options_file=None if application is None else application.options_text,
        outcomes=[
            outcome_json(_outcome(evaluated, one))
            for evaluated in (one.present_evaluated, *(finalist.evaluated for finalist in one.finalists))
        ],
        notes=list(notes(report)),
    )


def _finalist(finalist: Finalist, recommendation: Recommendation, is_on_front: bool) -> FinalistJson:
    return made_of(
        FinalistJson,
        finalist,
        is_on_front=is_on_front,
        cases=[CaseJson(name=case.name, cost=case.cost) for case in finalist.cases],
        logs=[made_of(LogCostJson, each) for each in finalist.logs],
        differences=[_difference(one, recommendation) for one in finalist.differences],
        scores=_scores(finalist.scores),
        changes=[
            made_of(MetricChangeJson, one, current=one.present)
            for one in changes(finalist, recommendation.present_scores)
        ],
        prediction=options_prediction_json(finalist.evaluated.prediction),
        paced=[
            PacedJson(
                seed=one.seed,
                load=one.load,
                stall_seconds=one.stall_seconds,
                response_micros=None
                if one.latencies is None
                else {f"p{point:g}": value for point, value in one.latencies.response_micros.items()},
            )
            for one in recommendation.pacing.replays.get(finalist.options.name, ())
        ],
    )


def _difference(one: Difference, recommendation: Recommendation) -> FinalistOptionJson:
    tunables = tunables_of(one.option)
    return FinalistOptionJson(
        option=one.option,
        column_family=one.family,
        current=one.other,
        value=one.value,
        takes="; ".join(each.price for each in tunables if each.price) or None,
        at_run_time=is_mutable(one.option, recommendation.present.rocksdb_version),
        source=next((each.source for each in tunables), None),
    )


def _scores(scores: Scores) -> ScoresJson:
    return made_of(ScoresJson, scores)


def _outcome(evaluated: Evaluated, recommendation: Recommendation) -> Outcome:
    """The outcome of the replays at the finest scale: what the figures rest on most."""
    variants = recommendation.anchor.variants
    engine = recommendation.anchor.engine
    asked = evaluated.options.scaled(variants[0].scale).resolve(recommendation.fitted.stream.families, engine.version)
    return outcome_of(asked, Mode.SETTLED, variants[0].scale, evaluated.results[:1])


def duel_document(duel: Duel) -> DuelJson:
    """Everything a duel says."""
    return DuelJson(
        run=duel.name,
        a=options_prediction_json(duel.a),
        b=options_prediction_json(duel.b),
        ratios=[_ratio(one) for one in duel.ratios],
        differences=[
            OptionPairJson(option=one.option, column_family=one.family, a=one.other, b=one.value)
            for one in duel.differences
        ],
        notes=list(duel.notes),
    )


def _ratio(one: Ratio) -> RatioJson:
    return made_of(RatioJson, one, column_family=one.family)
