"""An analysis as annotations of a workflow."""

from lsmlens.analyzer.analysis import Analysis
from lsmlens.reports.finding_cases import finding_annotations
from lsmlens.reports.github import Annotation


def annotations(analysis: Analysis) -> list[Annotation]:
    """One for each finding, the gravest first; where evidence has a line, at that line."""
    return finding_annotations([(one.run.name, finding) for one in analysis.runs for finding in one.findings])
