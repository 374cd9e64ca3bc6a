"""An analysis as annotations of a workflow."""

from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.findings import Severity
from lsmlens.reports.github import Annotation

LEVELS = {Severity.CRITICAL: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def annotations(analysis: Analysis) -> list[Annotation]:
    """One for each finding, the gravest first; where evidence has a line, at that line."""
    found = [(one, finding) for one in analysis.runs for finding in one.findings]
    made = []
    for one, finding in sorted(found, key=lambda item: -item[1].severity.rank):
        place = next((evidence for evidence in finding.evidence if evidence.line is not None), None)
        family = f" {finding.column_family}" if finding.column_family else ""
        made.append(
            Annotation(
                LEVELS[finding.severity],
                f"{finding.code} {finding.title}",
                f"{one.run.name}{family}: {finding.value} (threshold {finding.threshold}). {finding.meaning}",
                place.source if place else None,
                place.line if place else None,
            )
        )
    return made
