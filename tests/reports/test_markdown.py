"""Markdown: text of logs stays text, and a document is cut at the border of a row."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.reports.analysis import compose
from lsmlens.reports.markdown import COMMENT_CHARACTERS, Markdown, code, escaped, paragraph, render
from lsmlens.reports.tables import Table

CELLS = st.text(max_size=12)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p-0: 94 % of x", "p-0: 94 % of x"),
        ("max_total_wal_size", "max_total_wal_size"),
        ("_quiet_ *loud* `code`", r"\_quiet\_ \*loud\* \`code\`"),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("a|b", r"a\|b"),
        ("[go](http://evil.example)", r"\[go\](http&#58;//evil.example)"),
        ("www.evil.example", "www&#46;evil.example"),
        ("ask @somebody", "ask @\u200bsomebody"),
        ("two\nlines", "two lines"),
    ],
)
def test_text_neither_formats_nor_links_nor_calls(text: str, said: str) -> None:
    assert escaped(text) == said


@pytest.mark.parametrize(
    ("text", "said"), [("# no", r"\# no"), ("- no", r"\- no"), ("1. no", r"1\. no"), ("a 1.", "a 1.")]
)
def test_a_paragraph_is_no_heading_and_no_list(text: str, said: str) -> None:
    assert paragraph(text) == said


@pytest.mark.parametrize(("text", "said"), [("a", "`a`"), ("a `b` c", "``a `b` c``"), ("`", "`` ` ``"), ("", "` `")])
def test_code_holds_any_text(text: str, said: str) -> None:
    assert code(text) == said


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=8))
def test_a_table_has_as_many_columns_in_every_row(rows: list[tuple[str, ...]]) -> None:
    page = Markdown()
    page.table(Table(("a", "b", "c"), tuple(rows), rows[0] if rows else None))
    lines = page.text().strip().splitlines() if rows else []
    assert len(lines) == (len(rows) + 3 if rows else 0)
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line.replace(r"\\", ""))) == 4


def long_page(rows: int) -> Markdown:
    page = Markdown()
    page.heading("title")
    page.paragraph("what it says")
    with page.details("more"):
        page.table(Table(("a", "b"), tuple((f"row {number}", "x" * 20) for number in range(rows))), "caption")
    page.paragraph("the end")
    return page


@given(st.integers(0, 60), st.integers(150, 3000))
@settings(max_examples=60, deadline=None)
def test_what_is_too_long_is_cut_at_a_row_and_says_so(rows: int, limit: int) -> None:
    page = long_page(rows)
    text, whole = page.text(limit), page.text()
    assert len(text) <= limit
    if text == whole:
        assert text.endswith("the end\n")
        return
    assert "Cut to fit" in text
    assert text.count("<details>") == text.count("</details>")
    kept = [line for line in text.splitlines() if line.startswith("| row")]
    assert kept == [f"| row {number} | {'x' * 20} |" for number in range(len(kept))]
    left_out = re.search(r"(\d+) rows of tables are left out", text)
    assert (int(left_out[1]) if left_out else 0) == rows - len(kept)


@pytest.mark.parametrize("name", ["osd-stock", "rocksdb-backlog", "osd-crash"])
def test_a_report_fits_a_comment(name: str, fixtures: Path) -> None:
    text = render(compose(analyze([str(fixtures / name)])))
    assert len(text) <= COMMENT_CHARACTERS
    assert "Cut to fit" not in text
    assert text.startswith("## RocksDB compaction report")
    assert text.index("Findings") < text.index("Compaction statistics") < text.index("How each number is computed")
    assert text.count("<details>") == text.count("</details>")


def test_many_runs_are_cut_to_fit(fixtures: Path) -> None:
    text = render(compose(analyze([str(fixtures / "osd-stock")])), 5000)
    assert len(text) <= 5000
    assert "Cut to fit 5000 characters" in text
