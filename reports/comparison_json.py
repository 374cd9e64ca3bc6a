"""A comparison as a JSON document, as the schema `lsmlens.comparison/1` describes it."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from lsmlens.analyzer.comparison.comparison import Comparison, Figure, Row
from lsmlens.analyzer.comparison.gates import GateResult
from lsmlens.analyzer.comparison.verdicts import Judgement

SCHEMA = "lsmlens.comparison/1"


def document(comparison: Comparison, gates: Sequence[GateResult] = ()) -> dict[str, Any]:
    """Everything a comparison says, as JSON values; the same bytes for the same input."""
    return {
        "schema": SCHEMA,
        "baseline": comparison.names[0],
        "runs": [
            {
                "name": arm.name,
                "versions": arm.versions,
                "sources": [
                    {
                        "path": one.path,
                        "kind": str(one.kind),
                        "daemons": list(one.runs),
                        "notes": list(one.notes),
                    }
                    for one in arm.observations
                ],
            }
            for arm in comparison.arms
        ],
        "gates": [
            {"gate": one.gate.text, "run": one.arm, "failed": one.is_failed, "reason": one.reason} for one in gates
        ],
        "notices": [{"runs": list(notice.arms), "text": notice.text} for notice in comparison.notices],
        "summary": list(comparison.sentences),
        "work": [
            {"run": work.arm, "measure": work.measure, "ratio": work.ratio, "equal": work.is_equal}
            for work in comparison.works
        ],
        "confidence": comparison.confidence,
        "metrics": [_metric(row) for row in comparison.rows],
        "scaling": [
            {
                "metric": one.metric.name,
                "resource": one.resource,
                "points": [asdict(point) for point in one.points],
                "knee": one.knee,
                "noise_known": one.is_noise_known,
            }
            for one in comparison.scalings
        ],
        "options": [_lists(asdict(one)) for one in comparison.options],
        "findings": [_lists(asdict(one)) for one in comparison.findings],
    }


def to_json(comparison: Comparison, gates: Sequence[GateResult] = ()) -> str:
    """The document as indented JSON text, ending in a newline."""
    import orjson

    said = document(comparison, gates)
    try:
        return orjson.dumps(said, option=orjson.OPT_INDENT_2).decode() + "\n"
    except TypeError:  # sums of damaged events' numbers may pass 64 bits
        import json

        return json.dumps(said, indent=2) + "\n"


def _metric(row: Row) -> dict[str, Any]:
    metric = row.metric
    return {
        "name": metric.name,
        "label": metric.label,
        "unit": str(metric.unit),
        "better": str(metric.better),
        "group": str(metric.group),
        "part": metric.part,
        "how": metric.how,
        "values": list(row.values),
        "samples": [list(figure.values) if figure is not None else [] for figure in row.figures],
        "spreads": [figure.spread if figure is not None else None for figure in row.figures],
        "printed": [figure.printed if figure is not None else None for figure in row.figures],
        "ratios": [_own_ratio(row.figures[0]), *(one.ratio if one else None for one in row.judgements[1:])],
        "verdict": str(row.verdict),
        "verdicts": [None, *(_judgement(one) for one in row.judgements[1:])],
    }


def _own_ratio(figure: Figure | None) -> float | None:
    return 1.0 if figure is not None and figure.value else None


def _judgement(judgement: Judgement | None) -> dict[str, Any] | None:
    if judgement is None:
        return None
    return {
        "verdict": str(judgement.verdict),
        "ratio_low": judgement.low,
        "ratio_high": judgement.high,
        "p_value": judgement.p_value,
        "method": judgement.method,
        "reason": judgement.reason,
    }


def _lists(said: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in said.items()}
