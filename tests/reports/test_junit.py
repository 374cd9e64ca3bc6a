"""JUnit reports: valid by the common schema, one case for each rule, whatever the texts hold."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.rules import RULES
from lsmlens.reports.junit import Case, Suite, render
from lsmlens.reports.junit import of_analysis as to_junit

SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "junit.xsd")
TEXT = st.text(max_size=30)


@pytest.fixture(scope="module", params=["osd-stock", "rocksdb-backlog", "osd-spillover"])
def analysis(request: pytest.FixtureRequest, fixtures: Path) -> Analysis:
    return analyze([str(fixtures / request.param)])


@pytest.mark.parametrize("fail_on", [None, *Severity])
def test_it_is_valid_and_counts_right(analysis: Analysis, fail_on: Severity | None) -> None:
    text = to_junit(analysis, fail_on)
    SCHEMA.validate(text)
    for suite in ET.fromstring(text.encode()).iter("testsuite"):
        cases = list(suite.iter("testcase"))
        assert int(suite.get("tests", "")) == len(cases)
        assert int(suite.get("failures", "")) == len(list(suite.iter("failure")))
        assert int(suite.get("skipped", "")) == len(list(suite.iter("skipped")))
        assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)


def test_every_rule_is_a_case_of_every_run(analysis: Analysis) -> None:
    suites = list(ET.fromstring(to_junit(analysis).encode()).iter("testsuite"))
    assert [suite.get("name") for suite in suites] == [one.run.name for one in analysis.runs]
    for suite, one in zip(suites, analysis.runs, strict=True):
        cases = {case.get("classname", "").removeprefix("lsmlens."): case for case in suite.iter("testcase")}
        assert list(cases) == [rule.code for rule in RULES]
        fired = {finding.code for finding in one.findings}
        lacking = {rule.code for rule in one.not_assessed} - fired
        assert {code for code, case in cases.items() if case.find("failure") is not None} == fired
        assert {code for code, case in cases.items() if case.find("skipped") is not None} == lacking
        for finding in one.findings:
            failure = cases[finding.code].find("failure")
            assert failure is not None
            assert finding.value in (failure.text or "")


def test_findings_below_the_gate_do_not_fail(fixtures: Path) -> None:
    analysis = analyze([str(fixtures / "osd-spillover")])
    (one,) = (one for one in analysis.runs if not one.run.is_monitor)
    assert {finding.severity for finding in one.findings} >= {Severity.WARNING, Severity.INFO}
    root = ET.fromstring(to_junit(analysis, Severity.WARNING).encode())
    failing = {case.get("classname") for case in root.iter("testcase") if case.find("failure") is not None}
    graver = {f"lsmlens.{finding.code}" for finding in one.findings if finding.severity.rank >= Severity.WARNING.rank}
    assert failing == graver | {"lsmlens.gates"}
    info = next(finding for finding in one.findings if finding.severity is Severity.INFO)
    assert any(info.code in (output.text or "") for output in root.iter("system-out"))


def test_a_kept_gate_is_a_passed_case(fixtures: Path) -> None:
    root = ET.fromstring(to_junit(analyze([str(fixtures / "osd-reef")]), Severity.CRITICAL).encode())
    gates = [case for case in root.iter("testcase") if case.get("classname") == "lsmlens.gates"]
    assert [case.find("failure") for case in gates] == [None]


@given(TEXT, TEXT, TEXT, TEXT)
def test_any_text_is_valid(name: str, message: str, text: str, output: str) -> None:
    cases = (
        Case(name, name, (message, text), text),
        Case("lsmlens.X", name, skipped=message),
        Case("lsmlens.Y", "fine"),
    )
    document = render([Suite(name, cases, ((name, text),), output)])
    SCHEMA.validate(document)
    assert document == render([Suite(name, cases, ((name, text),), output)])
