"""Numbers look alike in every report: thousands, per cent, sizes, times, and nothing that people do not write."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.reports.analysis import AnalysisReport
from lsmlens.reports.outputs import ANALYSIS

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
BUNDLES = sorted(
    path.name
    for path in FIXTURES.iterdir()
    if path.name.startswith(("osd-", "rocksdb-")) and path.name != "osd-write-batches"
)

# What is quoted: lines of logs with their place, names of files, operations as an OSD prints them, commands.
QUOTED = re.compile(r"\.log\S*:|LOG\S*:\d|osd_op\(|^ {6,}|fixtures/|0x|ceph |lsmlens ")
FORMS = {
    "a large number without spaces in its thousands": r"(?<![\w.:/=_-])\d{5,}(?![\w.:/-])",
    "thousands by commas": r"\d,\d{3}\b",
    "per cent without a space": r"\d%",
    "a plural for any number": r"\w\(s\)",
    "megabytes beside mebibytes": r"\d [KMG]B\b",
    "microseconds without their letter": r"\d us\b",
    "a fraction of a millisecond": r"\b0\.\d+ ms\b",
}


def own_words(text: str) -> Iterator[str]:
    """Lines that are the report's own: not the evidence from logs, which is quoted, and not commands."""
    quoted = False
    for line in text.splitlines():
        if re.match(r" {6}(evidence|change|check|commands?)\b", line):
            quoted = True
        elif not line.startswith("       "):
            quoted = False
        if not quoted and not QUOTED.search(line):
            yield line


@pytest.mark.parametrize("bundle", BUNDLES)
def test_no_other_form(bundle: str) -> None:
    text = ANALYSIS.screen(AnalysisReport(analyze([str(FIXTURES / bundle)])), full=True)
    lines = list(own_words(text))
    assert len(lines) > 20
    for form, pattern in FORMS.items():
        assert [line for line in lines if re.search(pattern, line)] == [], form
