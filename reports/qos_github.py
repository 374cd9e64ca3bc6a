"""An assessment of scheduling as annotations of a workflow."""

from lsmlens.reports.finding_cases import finding_annotations
from lsmlens.reports.github import Annotation
from lsmlens.tuners.qos.assessment import QosAssessment


def annotations(assessment: QosAssessment) -> list[Annotation]:
    """One for each finding, the gravest first; where evidence has a line, at that line."""
    return finding_annotations(
        [(one.subject or "cluster", finding) for one in assessment.diagnoses for finding in one.findings]
    )
