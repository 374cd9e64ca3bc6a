"""The assessment of scheduling as JUnit XML: a suite for the cluster and each OSD, in it a case for each rule."""

from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.qos.rules import CLUSTER_RULES, OSD_RULES, Diagnosis
from lsmlens.reports.finding_cases import finding_line, gate_case, rule_case
from lsmlens.reports.junit import Suite, render
from lsmlens.tuners.qos.assessment import QosAssessment

CLUSTER = "cluster"


def to_junit(assessment: QosAssessment, fail_on: Severity | None = None) -> str:
    """A rule that fired is a failure, from the severity `fail_on` on if one is given; one without data is skipped.

    Findings below `fail_on` stand in the suite's output.
    """
    suites = [_suite(one, assessment, fail_on) for one in assessment.diagnoses]
    if fail_on is not None:
        found = [(one.subject or CLUSTER, finding) for one in assessment.diagnoses for finding in one.findings]
        suites.append(Suite("gates", (gate_case(found, fail_on),)))
    return render(suites)


def _suite(one: Diagnosis, assessment: QosAssessment, fail_on: Severity | None) -> Suite:
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
