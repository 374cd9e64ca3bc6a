"""Narrow terminals: a real report at several widths loses no cell, and is as it was where there is room."""

import re
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import analyze
from lsmlens.reports.narrow_terminal import COMMAND_INDENT, fitted
from lsmlens.reports.text import render


@pytest.fixture(scope="module")
def report(fixtures: Path) -> str:
    return render(analyze([str(fixtures / "osd-stock")]))


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\s─]+", text))


def test_a_wide_terminal_changes_nothing(report: str) -> None:
    assert fitted(report, max(map(len, report.split("\n")))) == report


@pytest.mark.parametrize("width", [80, 100, 120])
def test_lines_fit_and_nothing_is_lost(report: str, width: int) -> None:
    text = fitted(report, width)
    for line in text.split("\n"):
        has_place_to_break = " " in line.strip()
        is_command = line.startswith(" " * COMMAND_INDENT)
        assert len(line) <= width or is_command or not has_place_to_break, line
    assert words(text) == words(report)


def test_a_folded_table_repeats_its_first_column() -> None:
    table = "name   flushes  bytes\n─────  ───────  ─────\nO-0         17    4.5\ntotal       17    4.5\n"
    wide = "\n".join(f"{line:21}{'':2}{line:21}" for line in table.split("\n")[:-1]) + "\n\n  a note\n"
    assert fitted(wide, 42).count("O-0") == 3
    assert fitted(wide, 42).endswith("\n\n  a note\n")
    assert fitted(table, 40) == table
