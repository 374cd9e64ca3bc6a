"""SARIF: a result for each finding, at its rule and its place."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.rules import RULES
from lsmlens.reports.analysis import AnalysisReport
from lsmlens.reports.outputs import ANALYSIS

LEVELS = {"info": "note", "warning": "warning", "critical": "error"}


@pytest.fixture(scope="module")
def backlog(fixtures: Path) -> Analysis:
    return analyze([str(fixtures / "rocksdb-backlog")])


def said_of(analysis: Analysis) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(ANALYSIS.printed(AnalysisReport(analysis), "sarif"))
    assert said["version"] == "2.1.0"
    (run,) = said["runs"]
    return dict(run)


def test_every_rule_is_named_and_explained(backlog: Analysis) -> None:
    rules = said_of(backlog)["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in RULES]
    assert all("Threshold" in rule["help"]["text"] for rule in rules)


def test_findings_are_results_at_their_line(backlog: Analysis) -> None:
    run = said_of(backlog)
    findings = [finding for one in backlog.runs for finding in one.findings]
    assert len(run["results"]) == len(findings) > 2
    paths = {member.path for member in backlog.members}
    for result, finding in zip(run["results"], findings, strict=True):
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == finding.code
        assert result["level"] == LEVELS[finding.severity]
        assert finding.value in result["message"]["text"]
        (location,) = result["locations"]
        place = location.get("physicalLocation")
        if place is not None and any(one.line is not None for one in finding.evidence):
            assert "/" + unquote(place["artifactLocation"]["uri"]) in paths
            assert place["region"]["startLine"] in {one.line for one in finding.evidence}
    prints = [result["partialFingerprints"]["lsmlens/v1"] for result in run["results"]]
    assert len(set(prints)) == len({(one.code, one.column_family) for one in findings})


def test_a_bundle_without_findings_has_no_results(tmp_path: Path) -> None:
    (tmp_path / "LOG").write_bytes(b"2026/11/21-07:33:02.040964 10094 RocksDB version: 9.8.4\n")
    analysis = analyze([str(tmp_path)])
    assert len(said_of(analysis)["results"]) == sum(len(one.findings) for one in analysis.runs)
