"""Every rule says what it must say, and none fails on any real bundle."""

import inspect
from pathlib import Path

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.rules import RULES, rule_of

PARAGRAPHS = ("Evidence:", "Threshold:", "Advice:", "Risk:", "Check:")
FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
WITHOUT_EVENTS = {"osd-write-batches", "published", "query-traces", "saved-analyses"}


def test_codes_are_in_order_and_each_once() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_explains_itself(rule: object) -> None:
    text = inspect.getdoc(type(rule)) or ""
    assert text.split("\n", 1)[0].endswith(".")
    assert [name for name in PARAGRAPHS if f"\n{name}" not in text] == []


def test_every_file_of_rules_is_listed() -> None:
    files = {
        file.stem
        for file in (FIXTURES.parent / "analyzer" / "rules").glob("*.py")
        if 'code: ClassVar[str] = "R' in file.read_text()
    }
    assert {type(rule).__module__.rsplit(".", 1)[-1] for rule in RULES} == files


def test_a_rule_is_found_by_its_code() -> None:
    found = rule_of("r01")
    assert found is not None
    assert found.code == "R01"
    assert rule_of("nothing") is None


@pytest.mark.parametrize("bundle", sorted({folder.name for folder in FIXTURES.iterdir()} - WITHOUT_EVENTS))
def test_findings_of_a_real_bundle_are_whole(bundle: str) -> None:
    for one in analyze([str(FIXTURES / bundle)]).runs:
        for finding in one.findings:
            assert finding.evidence, finding.code
            assert finding.meaning, finding.code
            assert finding.value, finding.code
            assert finding.threshold, finding.code
        assert all(rule.needs for rule in one.not_assessed)
        ranks = [finding.severity.rank for finding in one.findings]
        assert ranks == sorted(ranks, reverse=True)
