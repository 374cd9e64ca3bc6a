"""A comparison as a Parquet table: one row for each metric and arm, for dashboards and further statistics."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from lsmlens.analyzer.comparison.comparison import Comparison

SCHEMA = pa.schema(
    [
        ("metric", pa.string()),
        ("label", pa.string()),
        ("unit", pa.string()),
        ("better", pa.string()),
        ("section", pa.string()),
        ("part", pa.string()),
        ("arm", pa.string()),
        ("is_baseline", pa.bool_()),
        ("value", pa.float64()),
        ("samples", pa.list_(pa.float64())),
        ("spread", pa.float64()),
        ("ratio", pa.float64()),
        ("ratio_low", pa.float64()),
        ("ratio_high", pa.float64()),
        ("p_value", pa.float64()),
        ("verdict", pa.string()),
        ("reason", pa.string()),
    ]
)


def write_metrics(comparison: Comparison, path: Path) -> None:
    """Write every metric of every arm that tells it; ratios, intervals and verdicts are against the baseline."""
    rows = []
    for row in comparison.rows:
        for place, (arm, figure) in enumerate(zip(comparison.names, row.figures, strict=True)):
            if figure is None:
                continue
            metric, judgement = row.metric, row.judgements[place]
            rows.append(
                {
                    "metric": metric.name,
                    "label": metric.label,
                    "unit": str(metric.unit),
                    "better": str(metric.better),
                    "section": str(metric.group),
                    "part": metric.part,
                    "arm": arm,
                    "is_baseline": place == 0,
                    "value": figure.value,
                    "samples": list(figure.values),
                    "spread": figure.spread,
                    "ratio": judgement.ratio if judgement else None,
                    "ratio_low": judgement.low if judgement else None,
                    "ratio_high": judgement.high if judgement else None,
                    "p_value": judgement.p_value if judgement else None,
                    "verdict": str(judgement.verdict) if judgement else None,
                    "reason": judgement.reason if judgement else None,
                }
            )
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path, compression="zstd")
