"""Findings as blocks: places together, ranges of their numbers, causes apart."""

import pytest
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.reports.document import Details, FindingBlock, Paragraphs
from lsmlens.reports.finding_blocks import NAMES_SHOWN, finding_blocks, joined


def finding(family: str | None, share: int, advice: str = "merge more; it takes memory", code: str = "R05") -> Finding:
    meaning = f"{family}: {share}% of the deletes came later"
    evidence = (Evidence("a/LOG", f"{share} of 100", 7),)
    confidence, warning = Confidence.MEDIUM, Severity.WARNING
    return Finding(code, "Keys", warning, confidence, meaning, f"leak 0.{share}", "0.3", "", evidence, family, advice)


def blocks(*found: tuple[str, Finding]) -> list[FindingBlock]:
    return [block for block in finding_blocks(found, ()) if isinstance(block, FindingBlock)]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["40% of 7", "45% of 7"], ["40 to 45% of 7"]),
        (["1 line and entered 1 time", "9 lines and entered 2 times"], ["1 to 9 lines and entered 1 to 2 times"]),
        (["p-0 at L1: 9", "p-0 at L1: 10"], ["p-0 at L1: 9 to 10"]),
        (["15\u202f934 in", "9 in"], ["9 to 15\u202f934 in"]),
        (["a 1", "b 2"], ["a 1", "b 2"]),
        (["0.5 s"], ["0.5 s"]),
    ],
)
def test_texts_that_differ_in_numbers_are_one(texts: list[str], said: list[str]) -> None:
    assert joined(texts) == said


def test_places_of_one_rule_are_one_block() -> None:
    (block,) = blocks(("", finding("p-0", 40)), ("", finding("p-1", 45)))
    assert (block.where, block.value) == ("p-0, p-1", "leak 0.40 to 0.45")
    assert block.meanings == ("p-0, p-1: 40 to 45% of the deletes came later",)
    assert block.change == "merge more"
    assert [one.value for one in block.instances] == ["leak 0.40", "leak 0.45"]
    assert block.evidence == ("a/LOG:7: 40 of 100", "a/LOG:7: 45 of 100")


def test_subjects_with_the_same_families_stand_together() -> None:
    (block,) = blocks(*((f"osd.{number}", finding(family, 40)) for number in (0, 1) for family in ("p-0", "p-1")))
    assert block.where == "osd.0, osd.1 p-0, p-1"
    (block,) = blocks(*(("", finding(f"p-{number}", 40)) for number in range(NAMES_SHOWN + 2)))
    assert block.where == "p-0, p-1, p-2, p-3 and 2 more"


def test_another_cause_is_another_block() -> None:
    found = blocks(("", finding("p-0", 40)), ("", finding("p-1", 45, "raise max_background_jobs")))
    assert [(block.where, block.change) for block in found] == [
        ("p-0", "merge more"),
        ("p-1", "raise max_background_jobs"),
    ]
    assert len(blocks(("", finding("p-0", 40, "raise it (7 now)")), ("", finding("p-1", 45, "raise it (9 now)")))) == 1


def test_what_could_not_be_applied_says_what_it_lacks() -> None:
    said = list(finding_blocks((), [("osd.0", NotAssessed("R09", "Slow device", "perf dump"))]))
    assert isinstance(said[0], Paragraphs)
    assert isinstance(said[1], Details)
    (table,) = said[1].blocks
    assert table.table.rows == (("R09", "Slow device", "perf dump", "osd.0"),)  # type: ignore[union-attr]
