"""Documents on a terminal: what the first screen shows, how wide it is, and how tables fit."""

import re
from dataclasses import dataclass
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.findings import Severity
from lsmlens.reports.document import (
    Block,
    CommandBlock,
    Deferred,
    Detail,
    Document,
    FindingBlock,
    Instance,
    Lines,
    Notices,
    Paragraphs,
    Section,
    Statement,
    TableBlock,
    Tone,
    VerdictBlock,
)
from lsmlens.reports.tables import Column, Importance, Table, tabulate
from lsmlens.reports.terminal import COMMAND_INDENT, render

from tests.pages import every_block

HOSTILE = "\x1b[31mred\x07\u202e\r\n\x9b1m & <b>"


def document(*blocks: Block) -> Document:
    answer = Section("answer", "Answer", (Paragraphs(("yes",), detail=Detail.BRIEF),))
    return Document("title", "", (), (answer, Section("a", "Part", tuple(blocks))), more="more: --full")


def body(*blocks: Block, full: bool = True, width: int | None = None, colour: bool = False) -> list[str]:
    """The lines below the section's heading."""
    lines = render(document(*blocks), full, width, colour).splitlines()
    return lines[lines.index("Part") + 1 :] if "Part" in lines else lines


def laid_out(table: Table, full: bool = True, width: int | None = None) -> list[str]:
    lines = body(TableBlock("", table, detail=Detail.BRIEF), full=full, width=width)
    return lines if full else lines[:-2]


def test_the_first_column_is_left_and_the_others_right() -> None:
    assert laid_out(Table(("name", "n"), (("a", "1"), ("longer", "1234")))) == [
        "name       n",
        "──────  ────",
        "a          1",
        "longer  1234",
    ]


def test_a_total_is_set_off() -> None:
    assert laid_out(Table(("", "MiB"), (("x", "1"),), ("total", "1"))) == [
        "       MiB",
        "─────  ───",
        "x        1",
        "─────  ───",
        "total    1",
    ]


def test_no_rows() -> None:
    assert laid_out(Table(("a", "b"), ())) == ["a  b", "─  ─"]


def test_empty_cells_at_the_end_leave_no_blanks() -> None:
    assert laid_out(Table(("a", "b"), (("x", ""),)))[2] == "x"


def test_all_rows_have_the_same_columns() -> None:
    with pytest.raises((ValueError, IndexError)):
        laid_out(Table(("a", "b"), (("x",),)))


@dataclass
class Family:
    name: str
    flushes: int


WIDE = tabulate(
    (
        Column[Family]("column family", lambda one: one.name),
        Column("flushes", lambda one: str(one.flushes), tone=lambda one: "worse" if one.flushes > 3 else ""),
        Column("minor figure", lambda one: "1" * 12, importance=Importance.MINOR),
        Column("usual figure", lambda one: "2" * 12, importance=Importance.USUAL),
        Column("words", lambda one: "some words that fold well at blanks", left=True),
    ),
    [Family("O-0", 3), Family("O-1", 4)],
    Family("total", 7),
)


def test_a_table_of_columns_has_their_cells_sides_and_tones() -> None:
    assert WIDE.rows[1][:2] == ("O-1", "4")
    assert WIDE.total is not None
    assert WIDE.total[0] == "total"
    assert WIDE.left == (0, 4)
    assert WIDE.tones == {(1, 1): "worse"}


def test_where_there_is_no_room_the_minor_columns_go_first_and_it_is_said() -> None:
    assert "minor figure" in laid_out(WIDE, full=False, width=120)[0]
    narrower = laid_out(WIDE, full=False, width=80)
    assert "minor figure" not in narrower[0]
    assert "usual figure" in narrower[0]
    assert narrower[-1] == "  left out for lack of width: minor figure"


def test_words_are_folded_at_blanks_before_usual_columns_go() -> None:
    lines = laid_out(WIDE, full=False, width=60)
    assert "usual figure" in lines[0]
    assert [line.strip() for line in lines[2:4]] == [
        "O-0                  3  222222222222  some words that fold",
        "well at blanks",
    ]
    assert {word for line in lines[2:6] for word in line.split()} >= {"some", "words", "that", "fold", "well"}


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_a_full_table_loses_no_cell_and_repeats_its_first_column(width: int) -> None:
    lines = laid_out(WIDE, width=width)
    assert all(len(line) <= width for line in lines)
    said = " ".join(lines)
    for row in (WIDE.header, *WIDE.rows):
        for cell in row:
            assert all(word in said for word in cell.split())
    if width == 40:
        assert sum(line.startswith("O-0") for line in lines) == 3


@given(st.lists(st.text("abc wörter-", max_size=30), min_size=2, max_size=6), st.integers(40, 100), st.booleans())
def test_no_table_breaks_a_word(cells: list[str], width: int, full: bool) -> None:
    columns = [Column(f"h{place}", itemgetter(place), left=place % 2 == 0) for place in range(len(cells))]
    lines = laid_out(tabulate(columns, [cells]), full, width)
    said = [word for line in lines for word in line.split()]
    assert set(" ".join(cells).split()) <= set(said)


def test_the_answer_comes_first_and_without_a_heading() -> None:
    assert render(document()).splitlines() == ["title", "", "  yes", "", "more: --full"]


def test_a_screen_shows_what_is_brief_and_where_more_is() -> None:
    brief, full, page = (
        Paragraphs((text,), detail=detail)
        for text, detail in (("first", Detail.BRIEF), ("second", Detail.FULL), ("third", Detail.PAGE))
    )
    assert render(document(brief, full, page)) == "title\n\n  yes\n\nPart\n  first\n\nmore: --full\n"
    assert render(document(brief, full, page), full=True) == "title\n\n  yes\n\nPart\n  first\n  second\n"


def test_a_section_without_blocks_has_no_heading() -> None:
    assert "Part" not in render(document(Paragraphs(("x",))))


def test_what_is_deferred_is_made_only_where_it_is_shown() -> None:
    made: list[str] = []

    def make() -> list[Block]:
        made.append("x")
        return [Lines(("late",))]

    render(document(Deferred(make)), full=True)
    assert not made
    assert "late" in render(document(Deferred(make, Detail.FULL)), full=True)
    assert made == ["x"]


FINDING = FindingBlock(
    "R05",
    "Keys outlive their flush",
    Severity.WARNING,
    "p-0, p-1",
    "leak 0.40 to 0.45",
    (Instance("p-0", "leak 0.40", "0.3", "low"), Instance("p-1", "leak 0.45", "0.3", "low")),
    meanings=("40 to 45 % came later",),
    change="merge more",
    advice="merge more: it helps",
    commands=("x " * 80,),
)


def test_a_finding_is_one_line_first_and_all_of_it_in_full() -> None:
    assert body(FINDING, full=False)[0] == "  ▲ R05 p-0, p-1: Keys outlive their flush: leak 0.40 to 0.45 → merge more"
    lines = body(FINDING)
    assert lines[0] == "  ▲ WARNING R05 Keys outlive their flush (threshold 0.3; confidence low)"
    assert "      p-1: leak 0.45" in lines
    assert "      change: merge more: it helps" in lines
    assert lines[-1] == " " * COMMAND_INDENT + ("x " * 80).strip()


def test_verdicts_have_their_subjects_below_each_other() -> None:
    said = (Statement("4 warnings", Tone.WARNING), Statement("no stalls"))
    assert body(VerdictBlock("osd.0", said), VerdictBlock("osd.10", said)) == [
        "  osd.0   ▲ 4 warnings · no stalls",
        "  osd.10  ▲ 4 warnings · no stalls",
    ]


def test_colour_changes_the_looks_alone() -> None:
    blocks = (
        VerdictBlock("osd.0", (Statement("4 warnings", Tone.WARNING),)),
        FINDING,
        Notices(("n",)),
        TableBlock("", WIDE),
    )
    plain, colour = (render(document(*blocks), full=True, colour=on) for on in (False, True))
    assert "\x1b" not in plain
    assert "\x1b[33m▲ 4 warnings\x1b[0m" in colour
    assert "\x1b[31m4\x1b[0m" in colour
    assert re.sub(r"\x1b\[[\d;]*m", "", colour) == plain


@pytest.mark.parametrize("width", [40, 80, 100, 120])
def test_sentences_keep_to_the_width_and_commands_stay_whole(width: int) -> None:
    text = "Words that go on and on, so that they have to be folded somewhere, 40 % of them. " * 4
    lines = body(Paragraphs((text,)), Notices((text,)), CommandBlock("", ("run " * 60,)), width=width)
    assert all(len(line) <= width or line.startswith(" " * COMMAND_INDENT) for line in lines)
    assert not any(line.lstrip().startswith("%") for line in lines)
    assert " " * COMMAND_INDENT + ("run " * 60).strip() in lines


@pytest.mark.parametrize("full", [False, True])
def test_no_text_of_a_log_commands_the_terminal(full: bool) -> None:
    text = render(every_block(HOSTILE), full)
    assert "red" in text
    assert all(line.isprintable() or "\u202f" in line for line in text.splitlines())
    assert not set(text) & set("\x1b\x07\x9b\r\u202e")
