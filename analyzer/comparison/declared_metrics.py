"""The metrics every comparison has. Those of column families and client jobs are made for the ones there are."""

from lsmlens.analyzer.comparison.counter_metrics import COUNTER_METRICS
from lsmlens.analyzer.comparison.log_metrics import LOG_METRICS
from lsmlens.analyzer.comparison.metrics import Metric

METRICS: tuple[Metric, ...] = (*LOG_METRICS, *COUNTER_METRICS)
