"""Every rule says what it must say, and none fails on any real bundle."""

import inspect
from pathlib import Path

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.rules import RULES, rule_of

PARAGRAPHS = ("Evidence:", "Threshold:", "Advice:", "Risk:", "Check:")
FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
WITHOUT_EVENTS = {"osd-write-batches", "published", "query-traces", "saved-analyses"}
# The codes of all that is found in each bundle: none of them may be told more without a reason.
FOUND = {
    "osd-container": {
        "osd.0": "R04 R05 R05 R05 R06",
        "mon.a": "",
    },
    "osd-crash": {
        "osd.0": "R04 R05 R05 R05 R06 R13",
    },
    "osd-fragmented": {
        "osd.0": "R04 R06 R13 R16 R20",
    },
    "osd-mclock": {
        "osd.0": "R16",
    },
    "osd-noisy": {
        "osd.0": "",
    },
    "osd-reading": {
        "osd.0": "R06 R16 R21 R24",
    },
    "osd-reef": {
        "osd.0": "R04 R05 R05 R05 R06 R14",
    },
    "osd-rotated": {
        "osd.0": "R04 R05 R05 R05 R06 R13",
    },
    "osd-slow": {
        "osd.0": "R04 R05 R05 R05 R06 R11 R15",
    },
    "osd-small-db": {
        "osd.0": "R04 R05 R05 R05 R06 R09 R10 R16",
    },
    "osd-spillover": {
        "osd.0": "R04 R05 R05 R05 R06 R09 R10 R16",
    },
    "osd-stock": {
        "osd.0": "R04 R05 R05 R05 R06 R13 R13 R16",
        "mon.a": "",
    },
    "osd-tuned": {
        "osd.0": "R05 R05 R05 R06 R16",
    },
    "osd-two-options": {
        "reef-new/osd.0": "R04 R05 R05 R05 R06",
        "stock/osd.0": "R04 R05 R05 R05 R06 R13 R13",
    },
    "osd-unsharded": {
        "osd.0": "R04 R07 R13 R16 R21 R22",
    },
    "rocksdb-7.8": {
        "LOG": "R01 R01 R01 R02 R02 R02 R02 R02 R02 R05",
    },
    "rocksdb-backlog": {
        "LOG": "R01 R01 R01 R02 R02 R02 R02 R02 R02 R03 R03 R03 R23",
    },
    "rocksdb-current": {
        "LOG": "R01 R01 R01",
    },
    "rocksdb-filter": {
        "LOG": "",
    },
    "rocksdb-no-filter": {
        "LOG": "R01 R04 R13 R24 R24 R24",
    },
    "rocksdb-weak-filter": {
        "LOG": "R04 R24 R24",
    },
}


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


@pytest.mark.parametrize("bundle", sorted({one.name for one in FIXTURES.iterdir() if one.is_dir()} - WITHOUT_EVENTS))
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
        assert " ".join(sorted(finding.code for finding in one.findings)) == FOUND[bundle][one.name]
