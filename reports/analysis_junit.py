"""The analysis as JUnit XML: a suite for each run, in it a case for each rule; and one for the gate."""

from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.rules import RULES
from lsmlens.reports.finding_cases import finding_line, gate_case, rule_case
from lsmlens.reports.junit import NO_STAMP, Suite, render
from lsmlens.reports.moments import moment


def to_junit(analysis: Analysis, fail_on: Severity | None = None) -> str:
    """A rule that fired is a failure, from the severity `fail_on` on if one is given; one without data is skipped.

    Findings below `fail_on` stand in the suite's output.
    """
    suites = [_suite(one, fail_on) for one in analysis.runs]
    if fail_on is not None:
        found = [(one.run.name, finding) for one in analysis.runs for finding in one.findings]
        suites.append(Suite("gates", (gate_case(found, fail_on),)))
    return render(suites)


def _suite(one: RunAnalysis, fail_on: Severity | None) -> Suite:
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
