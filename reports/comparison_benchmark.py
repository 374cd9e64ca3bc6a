"""The figures of a comparison that a dashboard follows."""

from collections.abc import Iterator

from lsmlens.analyzer.comparison.comparison import Comparison
from lsmlens.analyzer.comparison.metrics import Better
from lsmlens.reports.benchmark import Measurement


def measurements(comparison: Comparison) -> Iterator[Measurement]:
    """Of every arm each metric of which less is better, with its spread and its verdict."""
    for place, arm in enumerate(comparison.names):
        for row in comparison.rows:
            figure, judgement = row.figures[place], row.judgements[place]
            if figure is None or row.metric.better is not Better.LOWER:
                continue
            label = row.metric.label if row.metric.part is None else f"{row.metric.part} {row.metric.label}"
            spread = f"± {figure.spread:.6g}" if figure.spread is not None else None
            said = str(judgement.verdict) if judgement is not None else "baseline"
            yield Measurement(f"{arm}/{label}", str(row.metric.unit), figure.value, spread, said)
