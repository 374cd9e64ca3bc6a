"""The analysis as JUnit XML: a suite for each run, in it a case for each rule; and one for the gate."""

from collections.abc import Iterator, Sequence

from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.findings import Finding, Rule, Severity
from lsmlens.analyzer.rules import RULES
from lsmlens.reports.junit import NO_STAMP, Case, Suite, render
from lsmlens.reports.moments import moment

EVIDENCE_SHOWN = 5


def to_junit(analysis: Analysis, fail_on: Severity | None = None) -> str:
    """A rule that fired is a failure, from the severity `fail_on` on if one is given; one without data is skipped.

    Findings below `fail_on` stand in the suite's output.
    """
    suites = [_suite(one, fail_on) for one in analysis.runs]
    if fail_on is not None:
        suites.append(Suite("gates", (_gate(analysis, fail_on),)))
    return render(suites)


def _suite(one: RunAnalysis, fail_on: Severity | None) -> Suite:
    run = one.run
    limit = fail_on.rank if fail_on is not None else 0
    versions = (("Ceph", run.ceph_version), ("RocksDB", run.rocksdb_version))
    below = [_line(finding) for finding in one.findings if finding.severity.rank < limit]
    stamp = moment(run.stamps.last, run.utc_offset_seconds)
    return Suite(
        run.name,
        tuple(_cases(one, limit)),
        tuple((name, version) for name, version in versions if version),
        "\n".join(below),
        stamp[:19] if stamp else NO_STAMP,
    )


def _cases(one: RunAnalysis, limit: int) -> Iterator[Case]:
    for rule in RULES:
        classname, name = f"lsmlens.{rule.code}", f"{rule.title} [{one.run.name}]"
        fired = [finding for finding in one.findings if finding.code == rule.code and finding.severity.rank >= limit]
        lacking = [skipped.needs for skipped in one.not_assessed if skipped.code == rule.code]
        if fired:
            yield Case(classname, name, (_message(rule, fired), str(fired[0].severity)), _text(fired))
        elif lacking:
            yield Case(classname, name, skipped=f"not assessed: needs {lacking[0]}")
        else:
            yield Case(classname, name)


def _gate(analysis: Analysis, fail_on: Severity) -> Case:
    reached = [
        (one, finding) for one in analysis.runs for finding in one.findings if finding.severity.rank >= fail_on.rank
    ]
    name = f"no finding of severity {fail_on} or above"
    if not reached:
        return Case("lsmlens.gates", name)
    text = "\n".join(f"{one.run.name}: {_line(finding)}" for one, finding in reached)
    return Case("lsmlens.gates", name, (f"{len(reached)} finding(s) of severity {fail_on} or above", "gate"), text)


def _message(rule: Rule, fired: Sequence[Finding]) -> str:
    more = f" and {len(fired) - 1} more" if len(fired) > 1 else ""
    return f"{rule.title}: {_where(fired[0])}{fired[0].value}{more}"


def _text(fired: Sequence[Finding]) -> str:
    lines: list[str] = []
    for finding in fired:
        lines += [_line(finding), f"  {finding.meaning}"]
        for evidence in finding.evidence[:EVIDENCE_SHOWN]:
            place = evidence.source if evidence.line is None else f"{evidence.source}:{evidence.line}"
            lines.append(f"  evidence: {place}: {evidence.text}")
    first = fired[0]
    lines += [f"change: {first.advice}"] if first.advice else []
    return "\n".join([*lines, *(f"  {command}" for command in first.commands)])


def _line(finding: Finding) -> str:
    return (
        f"{finding.severity} {finding.code} {finding.title}: {_where(finding)}{finding.value}"
        f" (threshold {finding.threshold}; confidence {finding.confidence})"
    )


def _where(finding: Finding) -> str:
    return f"{finding.column_family or chr(34) * 2}: " if finding.column_family is not None else ""
