"""A document as Markdown, for pull-request comments, step summaries and wikis, kept to a length.

What does not fit is left out from the end, at the border of a row, a paragraph or a list's item, and the document says
how much that is. Text of logs is escaped, so it neither formats, links nor calls anybody.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from lsmlens.analyzer.printable import printable
from lsmlens.reports.document import (
    Block,
    ChartBlock,
    CommandBlock,
    Deferred,
    Detail,
    Details,
    Document,
    FindingBlock,
    KeyFigures,
    Lines,
    Notices,
    Paragraphs,
    Section,
    TableBlock,
    Terms,
    Tone,
    VerdictBlock,
)
from lsmlens.reports.tables import Table

# What GitHub takes as one comment, in characters.
COMMENT_CHARACTERS = 65_536
# What it takes as the summary of one step, in bytes.
SUMMARY_BYTES = 1 << 20
EVIDENCE_SHOWN = 3
MARKS = {Tone.CRITICAL: "🛑", Tone.WARNING: "⚠️", Tone.INFO: "🔵", Tone.BETTER: "🟢", Tone.WORSE: "🔴"}
_SPECIAL = re.compile(r"([\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_]))")
_LEADING = re.compile(r"^([#+=-]|\d{1,9}(?=[.)]))")
_LINKING = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_FENCE = re.compile(r"`+")
ZERO_WIDTH_SPACE = "\N{ZERO WIDTH SPACE}"


def render(document: Document, limit: int | None = COMMENT_CHARACTERS) -> str:
    """The document, of at most `limit` characters: what is brief stands open, the rest is folded."""
    shown = document.at(Detail.FULL)
    page = Markdown()
    page.heading(f"{shown.title}: {shown.subtitle}" if shown.subtitle else shown.title)
    if shown.facts:
        page.paragraph(" · ".join(f"{name} {fact}" for name, fact in shown.facts))
    for section in shown.sections:
        _section(page, section, "")
    return page.text(limit)


def _section(page: "Markdown", section: Section, prefix: str) -> None:
    title = f"{prefix}{section.title}"
    opened = [block for block in section.blocks if block.detail is Detail.BRIEF]
    folded = [block for block in section.blocks if block.detail is not Detail.BRIEF]
    if opened:
        page.heading(title, 3)
        _blocks(page, opened)
    if folded:
        with page.details(f"{title}: more" if opened else title):
            _blocks(page, folded)
    for part in section.sections:
        _section(page, part, f"{title}: ")


def _blocks(page: "Markdown", blocks: Sequence[Block]) -> None:
    for block in blocks:
        match block:
            case VerdictBlock():
                _verdict(page, block)
            case FindingBlock():
                _finding(page, block)
            case TableBlock():
                page.table(block.table, block.caption)
                if block.note:
                    page.paragraph(block.note)
            case ChartBlock():
                if block.caption:
                    page.table(block.table, block.caption)
            case KeyFigures():
                notes = (f" ({escaped(one.note)})" if one.note else "" for one in block.figures)
                figures = zip(block.figures, notes, strict=True)
                page.items([f"{escaped(one.label)}: **{escaped(one.value)}**{note}" for one, note in figures])
            case Paragraphs():
                for text in block.texts:
                    page.paragraph(text)
            case Notices():
                page.items([f"{MARKS[Tone(block.severity)]} {escaped(text)}" for text in block.texts])
            case Terms():
                page.terms(block.terms)
            case Lines():
                page.fenced(block.lines)
            case CommandBlock():
                if block.caption:
                    page.paragraph(block.caption)
                page.fenced(block.lines, "sh")
            case Details():
                with page.details(block.summary):
                    _blocks(page, block.blocks)
            case Deferred():
                raise TypeError("documents are rendered at a level of detail, which makes what is deferred")


def _verdict(page: "Markdown", verdict: VerdictBlock) -> None:
    said = [_toned(escaped(one.text), one.tone) for one in verdict.statements]
    subject = f"**{escaped(verdict.subject)}** " if verdict.subject else ""
    page.marked(f"{subject}{' · '.join(said)}")


def _finding(page: "Markdown", finding: FindingBlock) -> None:
    where = f" {finding.where}:" if finding.where else ""
    mark = MARKS[Tone(finding.severity)]
    with page.details(f"{mark} {finding.severity} {finding.code}{where} {finding.title}: {finding.value}"):
        for meaning in finding.meanings:
            page.paragraph(f"{meaning}.")
        first, *others = finding.instances
        if others:
            header = ("where", "found", "threshold", "confidence")
            rows = [
                (one.where or "whole database", one.value, one.threshold, one.confidence) for one in finding.instances
            ]
            page.table(Table(header, tuple(rows), left=(0, 1, 2, 3)))
            page.paragraph(f"Threshold by {finding.threshold_source}.")
        else:
            source = f" ({finding.threshold_source})" if finding.threshold_source else ""
            page.paragraph(f"Threshold: {first.threshold}{source}. Confidence: {first.confidence}.")
        page.items([f"evidence: {code(one)}" for one in finding.evidence[:EVIDENCE_SHOWN]])
        if finding.advice:
            page.paragraph(f"Change: {finding.advice}")
        page.fenced(finding.commands, "sh")
        for name, text in (("Risk", finding.risk), ("Check", finding.check)):
            if text:
                page.paragraph(f"{name}: {text}")


def _toned(text: str, tone: str | None) -> str:
    return f"{MARKS[Tone(tone)]} {text}" if tone in MARKS else text


def escaped(text: str) -> str:
    """Text as it is, whatever is in it, in a paragraph or a cell."""
    one_line = printable(" ".join(text.split()))
    quoted = _SPECIAL.sub(r"\\\1", one_line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    unlinked = _LINKING.sub(lambda match: f"&#{ord(match[0])};", quoted)
    # An entity would not do for mentions: they are looked for in what is rendered.
    return unlinked.replace("@", f"@{ZERO_WIDTH_SPACE}")


def paragraph(text: str) -> str:
    """Text as it is, where a line may begin with it."""
    whole = escaped(text)
    return _LEADING.sub(lambda match: f"\\{match[1]}" if not match[1].isdigit() else f"{match[1]}\\", whole)


def code(text: str) -> str:
    """Text in fixed width, whatever is in it, on one line."""
    one_line = printable(" ".join(text.split())) or " "
    fence = "`" * (1 + max((len(run) for run in _FENCE.findall(one_line)), default=0))
    space = " " if one_line.startswith("`") or one_line.endswith("`") else ""
    return f"{fence}{space}{one_line}{space}{fence}"


@dataclass(frozen=True, slots=True)
class _Piece:
    """What stands or falls whole; `closers` end what is open after it, `rows` counts it as rows of a table."""

    text: str
    closers: str = ""
    rows: int = 0


class Markdown:
    """Takes a document piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[_Piece] = []
        self._open = ""

    def heading(self, text: str, level: int = 2) -> None:
        """A heading."""
        self._add(f"{'#' * level} {escaped(text)}\n\n")

    def paragraph(self, text: str) -> None:
        """A paragraph of text that may be anything."""
        self._add(f"{paragraph(text)}\n\n")

    def marked(self, text: str) -> None:
        """A paragraph that is Markdown already."""
        self._add(f"{text}\n\n")

    def items(self, texts: Sequence[str]) -> None:
        """A list; its items are Markdown already."""
        for place, text in enumerate(texts):
            self._add(f"- {text}\n" + ("\n" if place == len(texts) - 1 else ""))

    def terms(self, terms: Sequence[tuple[str, str]]) -> None:
        """A list of words and what they mean."""
        self.items([f"**{escaped(term)}**: {escaped(text)}" for term, text in terms])

    def fenced(self, lines: Sequence[str], language: str = "") -> None:
        """Lines as they are, such as those to paste."""
        if not lines:
            return
        longest = max(len(run) for run in _FENCE.findall("\n".join(lines)) or [""])
        fence = "`" * max(3, longest + 1)
        body = "\n".join(printable(" ".join(line.splitlines())) for line in lines)
        self._add(f"{fence}{language}\n{body}\n{fence}\n\n")

    def table(self, table: Table, caption: str = "") -> None:
        """A table; its rows may be parted from each other."""
        places = range(len(table.header))
        rule = "|".join(":--" if place in table.left else "--:" for place in places)
        head = f"**{escaped(caption)}**\n\n" if caption else ""
        head += f"{_row(table.header)}|{rule}|\n"
        for number, row in enumerate(table.rows):
            cells = [_toned(escaped(cell), table.tones.get((number, place))) for place, cell in enumerate(row)]
            self._add(head + _row(cells, is_marked=True), rows=1)
            head = ""
        if table.total is not None:
            self._add(_row([f"**{escaped(cell)}**" for cell in table.total], is_marked=True), rows=1)
        self._add("\n")

    @contextmanager
    def details(self, summary: str) -> Iterator[None]:
        """What is inside is behind a line that opens it."""
        outer = self._open
        self._open = f"\n</details>\n\n{outer}"
        self._add(f"<details><summary>{escaped(summary)}</summary>\n\n")
        yield
        self._open = outer
        self._add("</details>\n\n")

    def text(self, limit: int | None = None) -> str:
        """The document, of at most `limit` characters where one is given, ending in one newline."""
        whole = "".join(piece.text for piece in self._pieces).rstrip() + "\n"
        if limit is None or len(whole) <= limit:
            return whole
        length = best = 0  # the last piece after which the document can be ended within the limit
        for kept, piece in enumerate(self._pieces, 1):
            length += len(piece.text)
            if length + len(piece.closers) + len(self._ending(kept, limit)) <= limit:
                best = kept
        closers = self._pieces[best - 1].closers if best else ""
        said = "".join(piece.text for piece in self._pieces[:best]) + closers
        return f"{said.rstrip()}{self._ending(best, limit)}".lstrip()[:limit]

    def _ending(self, kept: int, limit: int) -> str:
        rows = sum(piece.rows for piece in self._pieces[kept:])
        left_out = f"{rows} rows of tables are" if rows else "The rest is"
        return f"\n\n_Cut to fit {limit} characters. {left_out} left out; the HTML report has all._\n"

    def _add(self, text: str, rows: int = 0) -> None:
        self._pieces.append(_Piece(text, self._open, rows))


def _row(cells: Sequence[str], is_marked: bool = False) -> str:
    return f"| {' | '.join(cell if is_marked else escaped(cell) for cell in cells)} |\n"
