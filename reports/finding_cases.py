"""Findings as JUnit cases and as annotations of a workflow, whichever rules they are of."""

from collections.abc import Sequence
from typing import ClassVar, Protocol

from lsmlens.analyzer.findings import Finding, NotAssessed, Severity
from lsmlens.reports.github import Annotation
from lsmlens.reports.junit import Case

EVIDENCE_SHOWN = 5
LEVELS = {Severity.CRITICAL: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


class Titled(Protocol):
    """A rule as far as a case names it."""

    code: ClassVar[str]
    title: ClassVar[str]


def rule_case(
    rule: Titled,
    subject: str,
    findings: Sequence[Finding],
    not_assessed: Sequence[NotAssessed],
    fail_on: Severity | None = None,
) -> Case:
    """A rule's case for one subject: failed if it fired, from the severity `fail_on` on; skipped if it lacked data."""
    classname, name = f"lsmlens.{rule.code}", f"{rule.title} [{subject}]"
    limit = fail_on.rank if fail_on is not None else 0
    fired = [finding for finding in findings if finding.code == rule.code and finding.severity.rank >= limit]
    lacking = [skipped.needs for skipped in not_assessed if skipped.code == rule.code]
    if fired:
        return Case(classname, name, (_message(rule, fired), str(fired[0].severity)), _text(fired))
    return Case(classname, name, skipped=f"not assessed: needs {lacking[0]}" if lacking else None)


def gate_case(found: Sequence[tuple[str, Finding]], fail_on: Severity) -> Case:
    """The case that fails where a finding, each given with its subject, reaches a severity."""
    reached = [(subject, finding) for subject, finding in found if finding.severity.rank >= fail_on.rank]
    name = f"no finding of severity {fail_on} or above"
    if not reached:
        return Case("lsmlens.gates", name)
    text = "\n".join(f"{subject}: {finding_line(finding)}" for subject, finding in reached)
    return Case("lsmlens.gates", name, (f"{len(reached)} finding(s) of severity {fail_on} or above", "gate"), text)


def finding_line(finding: Finding) -> str:
    """A finding on one line."""
    return (
        f"{finding.severity} {finding.code} {finding.title}: {_where(finding)}{finding.value}"
        f" (threshold {finding.threshold}; confidence {finding.confidence})"
    )


def finding_annotations(found: Sequence[tuple[str, Finding]]) -> list[Annotation]:
    """One for each finding, the gravest first; where evidence has a line, at that line."""
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


def _message(rule: Titled, fired: Sequence[Finding]) -> str:
    more = f" and {len(fired) - 1} more" if len(fired) > 1 else ""
    return f"{rule.title}: {_where(fired[0])}{fired[0].value}{more}"


def _text(fired: Sequence[Finding]) -> str:
    lines: list[str] = []
    for finding in fired:
        lines += [finding_line(finding), f"  {finding.meaning}"]
        for evidence in finding.evidence[:EVIDENCE_SHOWN]:
            place = evidence.source if evidence.line is None else f"{evidence.source}:{evidence.line}"
            lines.append(f"  evidence: {place}: {evidence.text}")
    first = fired[0]
    lines += [f"change: {first.advice}"] if first.advice else []
    return "\n".join([*lines, *(f"  {command}" for command in first.commands)])


def _where(finding: Finding) -> str:
    return f"{finding.column_family or chr(34) * 2}: " if finding.column_family is not None else ""
