"""A recommendation as a JSON document, as the schema `lsmlens.recommendation/1` describes it."""

from typing import Any

from lsmlens.reports.prediction_json import prediction_values
from lsmlens.reports.recommendation_report import RecommendationReport, headline, notes
from lsmlens.reports.replay_json import outcome_values
from lsmlens.tuners.replays.measurement import Mode
from lsmlens.tuners.replays.outcome import Outcome, outcome_of
from lsmlens.tuners.search.evaluation import Evaluated
from lsmlens.tuners.search.recommendation import Finalist, Recommendation, changes
from lsmlens.tuners.search.scores import Scores

SCHEMA = "lsmlens.recommendation/1"


def document(report: RecommendationReport) -> dict[str, Any]:
    """Everything a recommendation says, as JSON values, in the log's own units and amount of work."""
    one = report.recommendation
    anchor = one.anchor
    front = {finalist.name for finalist in one.front}
    application = report.application
    return {
        "schema": SCHEMA,
        "fitted_on": {
            "source": report.source,
            "run": one.fitted.name,
            "ceph_version": one.fitted.evidence.run.run.ceph_version,
            "rocksdb_version": one.fitted.evidence.run.run.rocksdb_version,
        },
        "engine": {"name": anchor.engine.name, "rocksdb_version": anchor.engine.version},
        "objective": str(one.objective),
        "budget_seconds": one.budget_seconds,
        "seconds": one.seconds,
        "bounds": {"memtable_bytes": one.memory_limit_bytes, "source": one.memory_source},
        "screening_scale": one.screen_scale,
        "estimates": {"pruned": one.pruned, "median_error": one.estimate_error},
        "replays": [{"scale": variant.scale, "seed": variant.seed} for variant in anchor.variants],
        "self_consistency": [
            {
                "column_family": check.family,
                "share_of_bytes": check.share,
                "flushes": check.flushes,
                "flush_bytes": check.flush_bytes,
                "compaction_bytes": check.output_bytes,
                "is_consistent": check.is_consistent,
            }
            for check in anchor.checks
        ],
        "headline": headline(one),
        "pick": None if one.picked is None else one.picked.name,
        "reason": one.reason,
        "current": {"scores": _scores(one.present_scores)},
        "finalists": [_finalist(finalist, one, finalist.name in front) for finalist in one.finalists],
        "candidates": [
            {
                "number": tried.number,
                "name": tried.name,
                "origin": tried.origin,
                "choices": dict(tried.choices),
                "estimate": tried.estimate,
                "is_pruned": tried.is_pruned,
                "cost": tried.cost,
                "scores": None if tried.scores is None else _scores(tried.scores),
                "problem": tried.problem,
            }
            for tried in one.tried
        ],
        "option_sets": [{"name": name, "cost": cost, "problem": problem} for name, cost, problem in one.fixed],
        "steps": [
            {"title": step.title, "commands": list(step.commands), "notes": list(step.notes)}
            for step in (application.steps if application is not None else ())
        ],
        "options_file": None if application is None else application.options_text,
        "outcomes": [
            outcome_values(_outcome(evaluated, one))
            for evaluated in (one.present_evaluated, *(finalist.evaluated for finalist in one.finalists))
        ],
        "notes": list(notes(report)),
    }


def to_json(report: RecommendationReport) -> str:
    """The document as indented JSON text, ending in a newline."""
    import orjson

    return orjson.dumps(document(report), option=orjson.OPT_INDENT_2).decode() + "\n"


def _finalist(finalist: Finalist, recommendation: Recommendation, is_on_front: bool) -> dict[str, Any]:
    return {
        "name": finalist.name,
        "origin": finalist.origin,
        "is_on_front": is_on_front,
        "cost": finalist.cost,
        "cost_high": finalist.cost_high,
        "cases": [{"name": case.name, "cost": case.cost} for case in finalist.cases],
        "needs_reshard": finalist.needs_reshard,
        "differences": [
            {"option": one.option, "column_family": one.family, "current": one.other, "value": one.value}
            for one in finalist.differences
        ],
        "scores": _scores(finalist.scores),
        "changes": [
            {"metric": one.metric, "current": one.present, "value": one.value, "low": one.low, "high": one.high}
            for one in changes(finalist, recommendation.present_scores)
        ],
        "prediction": prediction_values(finalist.evaluated.prediction),
        "paced": [
            {
                "seed": one.seed,
                "load": one.load,
                "stall_seconds": one.stall_seconds,
                "response_micros": None
                if one.latencies is None
                else {f"p{point:g}": value for point, value in one.latencies.response_micros.items()},
            }
            for one in recommendation.pacing.replays.get(finalist.options.name, ())
        ],
    }


def _scores(scores: Scores) -> dict[str, float | None]:
    return {**scores._asdict(), "write_amplification": scores.write_amplification}


def _outcome(evaluated: Evaluated, recommendation: Recommendation) -> Outcome:
    """The outcome of the replays at the finest scale: what the figures rest on most."""
    variants = recommendation.anchor.variants
    engine = recommendation.anchor.engine
    asked = evaluated.options.scaled(variants[0].scale).resolve(recommendation.fitted.stream.families, engine.version)
    return outcome_of(asked, Mode.SETTLED, variants[0].scale, evaluated.results[:1])
