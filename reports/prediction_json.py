"""A prediction as a JSON document, as the schema `lsmlens.prediction/1` describes it."""

from typing import Any

from lsmlens.reports.prediction_report import Observed, PredictionReport, is_outside, log_total, named_bounds
from lsmlens.tuners.predictions.figures import Figures
from lsmlens.tuners.predictions.prediction import FamilyPrediction, OptionsPrediction

SCHEMA = "lsmlens.prediction/1"


def document(report: PredictionReport) -> dict[str, Any]:
    """Everything a prediction says, as JSON values, in the log's own units and amount of work."""
    anchor = report.prediction.anchor
    return {
        "schema": SCHEMA,
        "fitted_on": {
            "source": report.source,
            "run": anchor.fitted.name,
            "rocksdb_version": anchor.fitted.evidence.run.run.rocksdb_version,
            "observed": log_total(report.prediction).named(),
        },
        "engine": {"name": anchor.engine.name, "rocksdb_version": anchor.engine.version},
        "replays": [{"scale": one.scale, "seed": one.seed} for one in anchor.variants],
        "self_consistency": [
            {
                "column_family": one.family,
                "share_of_bytes": one.share,
                "flushes": one.flushes,
                "flush_bytes": one.flush_bytes,
                "compaction_bytes": one.output_bytes,
                "compactions": one.compactions,
                "is_consistent": one.is_consistent,
            }
            for one in anchor.checks
        ],
        "predictions": [
            prediction_values(one, observed)
            for one, observed in zip(report.prediction.predictions, report.observed, strict=True)
        ],
    }


def to_json(report: PredictionReport) -> str:
    """The document as indented JSON text, ending in a newline."""
    import orjson

    return orjson.dumps(document(report), option=orjson.OPT_INDENT_2).decode() + "\n"


def prediction_values(one: OptionsPrediction, observed: Observed | None = None) -> dict[str, Any]:
    """One set of options: what was predicted, its bounds, and what a real run did, if one stands beside it."""
    low, high = named_bounds(one)
    values = one.predicted.value.named() if one.predicted is not None else None
    return {
        "options": one.name,
        "predicted": values,
        "low": low or None,
        "high": high or None,
        "column_families": [_family(family) for family in one.families],
        "windows": [
            {
                "column_family": need.family,
                "needed_puts": need.needed_puts,
                "shown_puts": need.shown_puts,
                "is_beyond_the_log": need.beyond > 1,
            }
            for need in one.needs
        ],
        "observed": _observed(values, low, high, observed),
        "quality": list(one.quality),
    }


def _family(family: FamilyPrediction) -> dict[str, Any]:
    return {
        "name": family.name,
        "predicted": _named(family.predicted.value),
        "low": _named(family.predicted.low, is_bound=True),
        "high": _named(family.predicted.high, is_bound=True),
        "raw": _named(family.raw),
    }


def _named(figures: Figures, is_bound: bool = False) -> dict[str, float | None]:
    """Figures by name; the ratios' bounds are not the ratios of bounds, and are left out."""
    said: dict[str, float | None] = {"flushes": figures.flushes, **figures.named()}
    if is_bound:
        del said["write_amplification"], said["output_input_ratio_of_sums"]
    return said


def _observed(
    values: dict[str, float | None] | None,
    low: dict[str, float | None],
    high: dict[str, float | None],
    observed: Observed | None,
) -> dict[str, Any] | None:
    if observed is None:
        return None
    real = observed.total.named()
    return {
        "run": observed.name,
        "figures": real,
        "errors": {
            name: predicted / real[name] - 1 if predicted is not None and real[name] else None  # type: ignore[operator]
            for name, predicted in (values or {}).items()
        },
        "outside": [name for name in real if values is not None and is_outside(real[name], low[name], high[name])],
        "column_families": [{"name": name, **_named(one)} for name, one in sorted(observed.families.items())],
    }
