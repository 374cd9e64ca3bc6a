"""Tables: columns under each other."""

import pytest
from lsmlens.reports.tables import table


def test_the_first_column_is_left_and_the_others_right() -> None:
    assert table(["name", "n"], [["a", "1"], ["longer", "1234"]]) == [
        "name       n",
        "──────  ────",
        "a          1",
        "longer  1234",
    ]


def test_a_total_is_set_off() -> None:
    assert table(["", "MiB"], [["x", "1"]], ["total", "1"]) == [
        "       MiB",
        "─────  ───",
        "x        1",
        "─────  ───",
        "total    1",
    ]


def test_no_rows() -> None:
    assert table(["a", "b"], []) == ["a  b", "─  ─"]


def test_empty_cells_at_the_end_leave_no_blanks() -> None:
    assert table(["a", "b"], [["x", ""]])[2] == "x"


def test_all_rows_have_the_same_columns() -> None:
    with pytest.raises((ValueError, IndexError)):
        table(["a", "b"], [["x"]])
