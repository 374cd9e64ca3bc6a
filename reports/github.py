"""GitHub Actions: annotations on standard output, and the step's summary.

    ::warning title=R05 Keys outlive their flush,file=ceph-osd.0.log,line=12::osd.0 p-0: leak 0.94

GitHub shows at most ten errors, ten warnings and ten notices of a step, so the gravest come first.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.comparison.verdicts import Verdict
from lsmlens.analyzer.comparison.work import change
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.findings import Finding, Severity
from lsmlens.analyzer.printable import printable
from lsmlens.reports.comparison_tables import name_of
from lsmlens.reports.markdown import SUMMARY_BYTES
from lsmlens.tuners.qos.assessment import QosAssessment

if TYPE_CHECKING:
    from lsmlens.reports.comparison import ComparisonReport

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
LEVELS = {Severity.CRITICAL: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


@dataclass(frozen=True, slots=True)
class Annotation:
    """One line of a check: how grave it is, what it says, and the place in a file where one is known."""

    level: str
    title: str
    message: str
    file: str | None = None
    line: int | None = None

    def command(self) -> str:
        """The workflow command that makes it."""
        properties = {"title": self.title, "file": self.file, "line": self.line}
        given = [f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None]
        return f"::{self.level} {','.join(given)}::{_message(self.message)}"


def of_analysis(analysis: Analysis) -> list[Annotation]:
    """One for each finding, the gravest first; where evidence has a line, at that line."""
    return _of_findings([(one.run.name, finding) for one in analysis.runs for finding in one.findings])


def of_comparison(report: "ComparisonReport") -> list[Annotation]:
    """One for each gate that failed, each arm with metrics that became worse, and each notice on the data."""
    comparison = report.comparison
    made = [Annotation("error", f"Gate {one.gate.text}", one.reason) for one in report.gates if one.is_failed]
    for place, name in enumerate(comparison.names):
        worse = [
            f"{name_of(row)} {change(judgement.ratio)}" if judgement.ratio is not None else name_of(row)
            for row in comparison.rows
            if (judgement := row.judgements[place]) is not None and judgement.verdict is Verdict.WORSE
        ]
        if worse:
            made.append(Annotation("warning", f"{name} against {comparison.names[0]}: worse", ", ".join(worse)))
    for notice in comparison.notices:
        arms = ", ".join(notice.arms) or "all arms"
        made.append(Annotation("notice", "What to know first", f"{arms}: {notice.text}"))
    return made


def of_assessment(assessment: QosAssessment) -> list[Annotation]:
    """One for each finding on the scheduling, the gravest first."""
    return _of_findings(
        [(one.subject or "cluster", finding) for one in assessment.diagnoses for finding in one.findings]
    )


def commands(made: Iterable[Annotation]) -> str:
    """The lines to print; empty without annotations."""
    return "".join(f"{one.command()}\n" for one in made)


def append_summary(markdown: str) -> None:
    """Append a report to the step's summary, where there is one. Raises LsmlensError where it cannot be written."""
    name = os.environ.get(SUMMARY_VARIABLE)
    if not name:
        return
    try:
        with Path(name).open("a", encoding="utf-8") as summary:
            summary.write(markdown)
    except OSError as error:
        raise LsmlensError(f"{SUMMARY_VARIABLE}: {name}: {error.strerror or error}", "set it to a file") from error


def summary_room() -> int:
    """Characters that the step's summary still takes, if they are of two bytes in the mean; its limit is in bytes."""
    name = os.environ.get(SUMMARY_VARIABLE)
    try:
        used = Path(name).stat().st_size if name else 0
    except OSError:
        used = 0
    return max(0, (SUMMARY_BYTES - used) // 2)


def _of_findings(found: Sequence[tuple[str, Finding]]) -> list[Annotation]:
    """One for each finding, given with its subject, the gravest first; where evidence has a line, at that line."""
    made = []
    for subject, finding in sorted(found, key=lambda item: -item[1].severity.rank):
        place = next((evidence for evidence in finding.evidence if evidence.line is not None), None)
        family = f" {finding.column_family}" if finding.column_family else ""
        made.append(
            Annotation(
                LEVELS[finding.severity],
                f"{finding.code} {finding.title}",
                f"{subject}{family}: {finding.value} (threshold {finding.threshold}). {finding.meaning}",
                place.source if place else None,
                place.line if place else None,
            )
        )
    return made


def _message(text: str) -> str:
    return "%0A".join(printable(line) for line in text.replace("%", "%25").splitlines())


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
