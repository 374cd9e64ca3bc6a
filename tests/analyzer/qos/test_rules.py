"""Every rule says what it must say; each code once; all of Q01 to Q24; none fails on any real bundle."""

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.qos.rules import RULES, ClusterRule, OsdRule, diagnose, rule_of
from lsmlens.analyzer.qos.view import QosView

PARAGRAPHS = ("Evidence:", "Threshold:", "Advice:", "Risk:", "Check:")
FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
BUNDLES = [f"osd-{name}" for name in ("container", "crash", "mclock", "noisy", "reef", "rotated", "spillover", "stock")]


def test_codes() -> None:
    assert [rule.code for rule in RULES] == [f"Q{number:02d}" for number in range(1, 25)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_explains_itself(rule: OsdRule | ClusterRule) -> None:
    text = inspect.getdoc(type(rule)) or ""
    assert text.split("\n", 1)[0].endswith((".", "?"))
    assert [name for name in PARAGRAPHS if f"\n{name}" not in text] == []


def test_a_rule_is_found_by_its_code() -> None:
    found = rule_of("q07")
    assert found is not None
    assert found.code == "Q07"
    assert rule_of("R01") is None


@pytest.mark.parametrize("bundle", BUNDLES)
def test_findings_of_a_real_bundle_are_whole(bundle: str, view_at: Callable[[Path], QosView]) -> None:
    for one in diagnose(view_at(FIXTURES / bundle)):
        for finding in one.findings:
            assert finding.evidence, finding.code
            assert finding.meaning, finding.code
            assert finding.value, finding.code
            assert finding.threshold, finding.code
            assert finding.check, finding.code
        assert all(rule.needs for rule in one.not_assessed)
        ranks = [finding.severity.rank for finding in one.findings]
        assert ranks == sorted(ranks, reverse=True)


def test_on_wpq_by_default_nothing_is_said(view_at: Callable[[Path], QosView]) -> None:
    assert [finding for one in diagnose(view_at(FIXTURES / "osd-stock")) for finding in one.findings] == []
