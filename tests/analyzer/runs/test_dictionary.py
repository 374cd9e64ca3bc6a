"""The page of columns says what the classes of rows declare."""

from pathlib import Path

from lsmlens.analyzer.runs.dictionary import TABLES, page

PAGE = Path(__file__).resolve().parents[3] / "docs" / "columns.md"


def test_the_page_is_the_declarations() -> None:
    """Made anew by: uv run python -c "from lsmlens.analyzer.runs.dictionary import page; print(page(), end='')"."""
    assert PAGE.read_text() == page()


def test_every_table_and_column_is_on_it() -> None:
    text = page()
    for name, (row, _) in TABLES.items():
        assert f"## {name}" in text
        assert all(f"| `{column}` |" in text for column in row.__struct_fields__)
