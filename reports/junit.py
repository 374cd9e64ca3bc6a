"""JUnit XML: cases and suites in the form that Ant, Jenkins, GitLab and GitHub's actions all read.

The form is the strictest of theirs: every suite has properties, output and a time stamp, every case a class, a name
and a time, and at most one result. Times of tests mean nothing here and are 0; the stamp is the log's last, not the
clock's.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite
from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.comparison.comparison import Comparison
from lsmlens.analyzer.comparison.verdicts import Judgement, Verdict
from lsmlens.analyzer.comparison.work import change
from lsmlens.analyzer.findings import Finding, NotAssessed, Severity
from lsmlens.analyzer.metrics import Better
from lsmlens.analyzer.numbers import counted
from lsmlens.analyzer.qos.rules import CLUSTER_RULES, OSD_RULES, Diagnosis
from lsmlens.analyzer.rules import RULES
from lsmlens.reports import comparison_tables as tables
from lsmlens.reports.moments import moment
from lsmlens.tuners.qos.assessment import QosAssessment

if TYPE_CHECKING:
    from lsmlens.reports.comparison import ComparisonReport

CLUSTER = "cluster"
EVIDENCE_SHOWN = 5
NO_STAMP = "1970-01-01T00:00:00"
# What XML 1.0 cannot hold.
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Case:
    """One case: passed unless it has `failure`, a sentence and its kind, or `skipped`, the reason."""

    classname: str
    name: str
    failure: tuple[str, str] | None = None
    text: str = ""
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases of one subject; `output` is what there is to say beside them, `stamp` local ISO 8601 to the second."""

    name: str
    cases: tuple[Case, ...]
    properties: tuple[tuple[str, str], ...] = ()
    output: str = ""
    stamp: str = NO_STAMP


def of_analysis(analysis: Analysis, fail_on: Severity | None = None) -> str:
    """An analysis: a suite for each run, in it a case for each rule, and one for the gate.

    A rule that fired is a failure, from the severity `fail_on` on if one is given; one without data is skipped.

    Findings below `fail_on` stand in the suite's output.
    """
    suites = [_run_suite(one, fail_on) for one in analysis.runs]
    if fail_on is not None:
        found = [(one.run.name, finding) for one in analysis.runs for finding in one.findings]
        suites.append(Suite("gates", (gate_case(found, fail_on),)))
    return render(suites)


def _run_suite(one: RunAnalysis, fail_on: Severity | None) -> Suite:
    run = one.run
    limit = fail_on.rank if fail_on is not None else 0
    versions = (("Ceph", run.ceph_version), ("RocksDB", run.rocksdb_version))
    below = [finding_line(finding) for finding in one.findings if finding.severity.rank < limit]
    stamp = moment(run.stamps.last, run.utc_offset_seconds)
    return Suite(
        run.name,
        tuple(rule_case(rule, run.name, one.findings, one.not_assessed, fail_on) for rule in RULES),
        tuple((name, version) for name, version in versions if version),
        "\n".join(below),
        stamp[:19] if stamp else NO_STAMP,
    )


def of_comparison(report: "ComparisonReport") -> str:
    """A comparison: a suite for each arm, in it a case for each metric, and one for the gates.

    With gates, they alone fail; without, a metric that became worse does. What is not judged is skipped.

    What became worse stands in its suite's output as well.
    """
    comparison = report.comparison
    suites = [_arm_suite(comparison, place, not report.gates) for place in range(1, len(comparison.names))]
    if report.gates:
        cases = [
            Case(
                "lsmlens.gates",
                f"{one.gate.text} [{one.arm}]",
                (one.reason, "gate") if one.is_failed else None,
                one.reason if one.is_failed else "",
            )
            for one in report.gates
        ]
        suites.append(Suite("gates", tuple(cases)))
    return render(suites)


def _arm_suite(comparison: Comparison, place: int, worse_fails: bool) -> Suite:
    name = comparison.names[place]
    judged = list(_judged(comparison, place))
    worse = [said for _, _, judgement, said in judged if judgement.verdict is Verdict.WORSE]
    cases = []
    for metric, label, judgement, said in judged:
        fails = worse_fails and judgement.verdict is Verdict.WORSE
        is_judged = judgement.verdict in (Verdict.WORSE, Verdict.BETTER, Verdict.SAME)
        cases.append(
            Case(
                f"lsmlens.{metric}",
                f"{label} [{name}]",
                (said, "worse") if fails else None,
                said if fails else "",
                None if is_judged else f"{judgement.verdict}: {judgement.reason}",
            )
        )
    notices = [notice.text for notice in comparison.notices if not notice.arms or name in notice.arms]
    properties = (("baseline", comparison.names[0]), ("versions", comparison.arms[place].versions))
    return Suite(name, tuple(cases), properties, "\n".join([*notices, *comparison.sentences, *worse]))


def _judged(comparison: Comparison, place: int) -> Iterator[tuple[str, str, Judgement, str]]:
    """Name and label of each metric that can be better or worse, what it is judged, and that in words."""
    for row in comparison.rows:
        judgement = row.judgements[place]
        if judgement is None or row.metric.better is Better.NEITHER:
            continue
        label = tables.name_of(row)
        before, after = (tables.cell(row.metric, row.figures[arm]) for arm in (0, place))
        changed = f" ({change(judgement.ratio)})" if judgement.ratio is not None else ""
        interval = f", 95 % interval {tables.interval(judgement)}" if judgement.low is not None else ""
        yield row.metric.name, label, judgement, f"{label}: {before} to {after}{changed}: {judgement.verdict}{interval}"


def of_assessment(assessment: QosAssessment, fail_on: Severity | None = None) -> str:
    """An assessment: a suite for the cluster and each OSD, in it a case for each rule, and one for the gate.

    A rule that fired is a failure, from the severity `fail_on` on if one is given; one without data is skipped.

    Findings below `fail_on` stand in the suite's output.
    """
    suites = [_daemon_suite(one, assessment, fail_on) for one in assessment.diagnoses]
    if fail_on is not None:
        found = [(one.subject or CLUSTER, finding) for one in assessment.diagnoses for finding in one.findings]
        suites.append(Suite("gates", (gate_case(found, fail_on),)))
    return render(suites)


def _daemon_suite(one: Diagnosis, assessment: QosAssessment, fail_on: Severity | None) -> Suite:
    name = one.subject or CLUSTER
    rules = CLUSTER_RULES if one.subject is None else OSD_RULES
    limit = fail_on.rank if fail_on is not None else 0
    below = [finding_line(finding) for finding in one.findings if finding.severity.rank < limit]
    properties = [
        (title, value)
        for osd in assessment.view.osds
        if osd.name == one.subject
        for title, value in (
            ("scheduler", osd.in_force.scheduler.value if osd.in_force.scheduler is not None else ""),
            ("Ceph", ".".join(map(str, osd.in_force.release or ()))),
        )
        if value
    ]
    cases = tuple(rule_case(rule, name, one.findings, one.not_assessed, fail_on) for rule in rules)
    return Suite(name, cases, tuple(properties), "\n".join(below))


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
        return Case(classname, name, (_fired(rule, fired), str(fired[0].severity)), _details(fired))
    return Case(classname, name, skipped=f"not assessed: needs {lacking[0]}" if lacking else None)


def gate_case(found: Sequence[tuple[str, Finding]], fail_on: Severity) -> Case:
    """The case that fails where a finding, each given with its subject, reaches a severity."""
    reached = [(subject, finding) for subject, finding in found if finding.severity.rank >= fail_on.rank]
    name = f"no finding of severity {fail_on} or above"
    if not reached:
        return Case("lsmlens.gates", name)
    text = "\n".join(f"{subject}: {finding_line(finding)}" for subject, finding in reached)
    return Case(
        "lsmlens.gates", name, (f"{counted(len(reached), 'finding')} of severity {fail_on} or above", "gate"), text
    )


def finding_line(finding: Finding) -> str:
    """A finding on one line."""
    return (
        f"{finding.severity} {finding.code} {finding.title}: {_where(finding)}{finding.value}"
        f" (threshold {finding.threshold}; confidence {finding.confidence})"
    )


def _fired(rule: Titled, fired: Sequence[Finding]) -> str:
    more = f" and {len(fired) - 1} more" if len(fired) > 1 else ""
    return f"{rule.title}: {_where(fired[0])}{fired[0].value}{more}"


def _details(fired: Sequence[Finding]) -> str:
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


def render(suites: Sequence[Suite]) -> str:
    """The document, ending in a newline; the same bytes for the same suites."""
    document: Any = JUnitXml()
    for number, suite in enumerate(suites):
        document.append(_suite(number, suite))
    text: str = document.tostring().decode()
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text.strip()}\n'


def _suite(number: int, suite: Suite) -> Any:
    made: Any = TestSuite(_token(suite.name))
    made.add_property("program", "lsmlens")
    for name, value in suite.properties:
        made.add_property(_token(name), _xml(value))
    for case in suite.cases:
        made.add_testcase(_case(case))
    made.timestamp, made.hostname, made.time = suite.stamp, "localhost", 0.0
    element = made._elem
    element.set("id", str(number))
    element.set("package", "lsmlens")
    for tag, text in (("system-out", suite.output), ("system-err", "")):
        child = element.makeelement(tag, {})
        child.text = _xml(text)
        element.append(child)
    made.update_statistics()
    return made


def _case(case: Case) -> TestCase:
    made = TestCase(_token(case.name), _token(case.classname), 0.0)
    if case.failure is not None:
        message, kind = case.failure
        failure = Failure(_xml(message), _xml(kind))
        failure.text = _xml(case.text)
        made.result = [failure]
    elif case.skipped is not None:
        made.result = [Skipped(_xml(case.skipped))]
    return made


def _xml(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _token(text: str) -> str:
    return " ".join(_xml(text).split()) or "-"
