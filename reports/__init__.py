"""Facts out to people and machines.

    from lsmlens.reports import ANALYSIS, AnalysisReport

    report = AnalysisReport(analysis)
    ANALYSIS.printed(report, "markdown")                              # any form that is text, by the name of --format
    for output in ANALYSIS.outputs(["report.html", "jobs.parquet"]):  # any form, by its suffix, as of -o
        ANALYSIS.write(output, report)

What stands in `__all__` is the public interface; it is imported when it is first used. Each subject writes one kind of
result: an analysis, a comparison, a learned workload, replays, a prediction, a recommendation, two sets of options held
together, a scheduler's assessment.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lsmlens.reports.analysis import AnalysisReport
    from lsmlens.reports.comparison import ComparisonReport
    from lsmlens.reports.outputs import (
        ANALYSIS,
        COMPARISON,
        DUEL,
        PREDICTION,
        QOS,
        RECOMMENDATION,
        REPLAY,
        WORKLOAD,
        Subject,
    )
    from lsmlens.reports.prediction_tables import PredictionReport
    from lsmlens.reports.qos import QosReport
    from lsmlens.reports.recommendation_tables import RecommendationReport
    from lsmlens.reports.replay import ReplayReport

__all__ = [
    "ANALYSIS",
    "COMPARISON",
    "DUEL",
    "PREDICTION",
    "QOS",
    "RECOMMENDATION",
    "REPLAY",
    "WORKLOAD",
    "AnalysisReport",
    "ComparisonReport",
    "PredictionReport",
    "QosReport",
    "RecommendationReport",
    "ReplayReport",
    "Subject",
]
_ELSEWHERE = {
    "AnalysisReport": "analysis",
    "ComparisonReport": "comparison",
    "QosReport": "qos",
    "PredictionReport": "prediction_tables",
    "RecommendationReport": "recommendation_tables",
    "ReplayReport": "replay",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module
    from importlib.metadata import version

    if name == "__version__":
        return version("lsmlens")
    if name not in __all__:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"lsmlens.reports.{_ELSEWHERE.get(name, 'outputs')}"), name)
