"""Findings as SARIF 2.1.0, the form that code scanning reads: a rule and its places for each finding.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. A result stands at the line of its first evidence that
has one; a result without a line stands at the beginning of the file that tells of it, for readers refuse it otherwise.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from importlib.metadata import version
from inspect import cleandoc
from typing import Any, ClassVar, Protocol
from urllib.parse import quote

from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.findings import Finding, Severity
from lsmlens.analyzer.qos.rules import RULES as QOS_RULES
from lsmlens.analyzer.rules import RULES
from lsmlens.tuners.qos.assessment import QosAssessment

LEVELS = {Severity.CRITICAL: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


class Explained(Protocol):
    """A rule as far as a log of results names it."""

    code: ClassVar[str]
    title: ClassVar[str]


def of_analysis(analysis: Analysis) -> str:
    """The findings of every run of a bundle."""
    found = [(one.run.name, finding) for one in analysis.runs for finding in one.findings]
    return _log(RULES, found)


def of_assessment(assessment: QosAssessment) -> str:
    """The findings on the scheduling of a cluster and its OSDs."""
    found = [(one.subject or "cluster", finding) for one in assessment.diagnoses for finding in one.findings]
    return _log(QOS_RULES, found)


def _log(rules: Sequence[Explained], found: Iterable[tuple[str, Finding]]) -> str:
    places = {rule.code: place for place, rule in enumerate(rules)}
    driver = {"name": "lsmlens", "version": version("lsmlens"), "rules": list(map(_rule, rules))}
    results = [_result(subject, finding, places[finding.code]) for subject, finding in found]
    said = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results, "columnKind": "utf16CodeUnits"}],
    }
    return json.dumps(said, indent=2) + "\n"


def _rule(rule: Explained) -> dict[str, Any]:
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "help": {"text": cleandoc(rule.__doc__ or rule.title)},
    }


def _result(subject: str, finding: Finding, place: int) -> dict[str, Any]:
    where = "/".join(filter(None, (subject, finding.column_family)))
    advice = f" Change: {finding.advice}" if finding.advice else ""
    said = f"{where}: {finding.value} (threshold {finding.threshold}). {finding.meaning}.{advice}"
    return {
        "ruleId": finding.code,
        "ruleIndex": place,
        "level": LEVELS[finding.severity],
        "message": {"text": said},
        "locations": list(_locations(finding, where)),
        # the same finding of the same family is the same result, whatever its figures
        "partialFingerprints": {"lsmlens/v1": sha256(f"{finding.code} {where}".encode()).hexdigest()},
        "properties": {"confidence": str(finding.confidence)},
    }


def _locations(finding: Finding, where: str) -> Iterator[dict[str, Any]]:
    """The one place that readers show."""
    logical = {"logicalLocations": [{"fullyQualifiedName": where}]}
    evidence = next((one for one in finding.evidence if one.line is not None), next(iter(finding.evidence), None))
    if evidence is None:
        yield logical
        return
    location = {"uri": quote(evidence.source.lstrip("/"), safe="/")}
    yield {
        "physicalLocation": {"artifactLocation": location, "region": {"startLine": max(1, evidence.line or 1)}},
        **logical,
    }
