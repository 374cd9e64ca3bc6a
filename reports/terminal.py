"""A document on a terminal or in a text file: the first screen, or all of it.

For a terminal every line keeps to its width, but for commands to paste and for words that are longer. Tables of a pipe
or a file stay whole for the tools that read them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap

from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.printable import GROUP_SPACE, printable
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
from lsmlens.reports.tables import Importance, Table

WIDTH = 100  # of sentences where the width is not known
LEAST_WIDTH = 40
COMMAND_INDENT = 8
EVIDENCE_SHOWN = 3
FINDINGS_SHOWN = 6  # one by one on a first screen
GAP = "  "
LEAST_TEXT = 16  # a column of words is not made narrower

MARKS = {Tone.CRITICAL: "✕", Tone.WARNING: "▲", Tone.INFO: "●"}
_SGR = {
    "bold": "1",
    "faint": "2",
    Tone.CRITICAL: "1;31",
    Tone.WARNING: "33",
    Tone.INFO: "36",
    Tone.BETTER: "32",
    Tone.WORSE: "31",
}
# What separates words; a narrow no-break space does not.
_BLANKS = re.compile(r"[ \t\n\r\f\v]+")


def render(document: Document, full: bool = False, width: int | None = None, colour: bool = False) -> str:
    """The document as text, ending in a newline: its first screen, or in `full` all but what only pages show.

    `width` is the terminal's; without one tables are as wide as they are.
    """
    return Screen(full, width, colour).text(document.at(Detail.FULL if full else Detail.BRIEF))


def whole(document: Document) -> str:
    """All of it, as a text file has it."""
    return render(document, full=True)


class Screen:
    """Takes a document line by line."""

    def __init__(self, full: bool, width: int | None, colour: bool) -> None:
        self._full = full
        self._table_width = None if width is None else max(width, LEAST_WIDTH)
        self._width = min(WIDTH, self._table_width or WIDTH)
        self._colour = colour
        self._lines: list[str] = []

    def text(self, document: Document) -> str:
        """The whole text."""
        heading = f"{document.title}: {document.subtitle}" if document.subtitle else document.title
        self._lines += [self._styled(line, "bold") for line in self._wrapped(heading, 0, 2)]
        if document.facts:
            self._lines += self._in_a_row([f"{name} {fact}" for name, fact in document.facts])
        for section in document.sections[:1]:  # the answer needs no heading
            self._lines.append("")
            self._blocks(section.blocks)
        for section in document.sections[1:]:
            self._section(section, "")
        if document.more and not self._full:
            self._lines += ["", *self._in_a_row(document.more.split(" · "))]
        return "\n".join(line.rstrip() for line in self._lines) + "\n"

    def _section(self, section: Section, prefix: str) -> None:
        if section.blocks:
            self._heading(f"{prefix}{section.title}")
            self._blocks(section.blocks)
        for part in section.sections:
            self._section(part, f"{prefix}{section.title}: ")

    def _heading(self, title: str) -> None:
        if self._lines:
            self._lines.append("")
        self._lines.append(self._styled(_one_line(title), "bold"))

    def _blocks(self, blocks: Sequence[Block]) -> None:
        """The blocks of a section; verdicts that follow each other have their subjects in one column."""
        subject_width = max(
            (len(printable(block.subject)) for block in blocks if isinstance(block, VerdictBlock)), default=0
        )
        findings = [block for block in blocks if isinstance(block, FindingBlock)]
        unsaid = [] if self._full else findings[FINDINGS_SHOWN:]
        for place, block in enumerate(blocks):
            if block in unsaid:
                continue
            if place and isinstance(block, TableBlock | ChartBlock | Details) and self._lines[-1]:
                self._lines.append("")
            self._lines += self._block(block, subject_width)
        if unsaid:
            self._lines += self._wrapped(f"and {', '.join(f'{one.code} {one.title}' for one in unsaid)}", 2, 4)

    def _block(self, block: Block, subject_width: int) -> Iterable[str]:
        match block:
            case VerdictBlock():
                return self._verdict(block, subject_width)
            case FindingBlock():
                return self._finding(block) if self._full else self._finding_line(block)
            case TableBlock():
                return self._table(block.table, block.caption, block.note)
            case ChartBlock():
                if block.as_text:
                    return [*self._wrapped(block.caption, 2, 4), *self._verbatim(block.as_text)]
                return self._table(block.table, block.caption, "") if block.caption else ()
            case KeyFigures():
                return self._folded(
                    f"{one.label}: {one.value}{f' ({one.note})' if one.note else ''}" for one in block.figures
                )
            case Paragraphs():
                return self._folded(block.texts)
            case Notices():
                return self._notices(block)
            case Terms():
                return self._folded(f"{term}: {text}" for term, text in block.terms)
            case Lines():
                return self._verbatim(f"  {line}" for line in block.lines)
            case CommandBlock():
                said = self._wrapped(block.caption, 2, 4) if block.caption else []
                return [*said, *_commands(block.lines)]
            case Details():
                return self._details(block)
            case Deferred():
                raise TypeError("documents are rendered at a level of detail, which makes what is deferred")

    def _verdict(self, verdict: VerdictBlock, subject_width: int) -> Iterator[str]:
        subject = f"{printable(verdict.subject):{subject_width}}  " if subject_width else ""
        said = [f"{MARKS[one.tone]} {one.text}" if one.tone in MARKS else one.text for one in verdict.statements]
        indent = 2 + len(subject)
        lines = self._wrapped(" · ".join(said), indent, indent)
        for number, line in enumerate(lines):
            line = f"  {subject}{line[indent:]}" if not number else line
            for one, words in zip(verdict.statements, said, strict=True):
                if one.tone is not None:
                    shown = _unbroken(words)
                    line = line.replace(shown, self._styled(shown, one.tone))
            yield line

    def _finding_line(self, finding: FindingBlock) -> Iterator[str]:
        where = f" {finding.where}:" if finding.where else ""
        change = f" → {finding.change}" if finding.change and finding.severity is not Severity.INFO else ""
        text = f"{MARKS[Tone(finding.severity)]} {finding.code}{where} {finding.title}: {finding.value}{change}"
        yield from self._marked(text, Tone(finding.severity), 2)

    def _finding(self, finding: FindingBlock) -> Iterator[str]:
        tone = Tone(finding.severity)
        several = len(finding.instances) > 1
        first = finding.instances[0]
        value = "" if several else f": {finding.value}"
        where = f" [{first.where}]" if first.where and not several else ""
        alike = len({(one.threshold, one.confidence) for one in finding.instances}) == 1
        limits = f" (threshold {first.threshold}; confidence {first.confidence})" if alike else ""
        text = f"{MARKS[tone]} {finding.severity.upper()} {finding.code} {finding.title}{where}{value}{limits}"
        yield from self._marked(text, tone, 2)
        if several:
            for one in finding.instances:
                limits = "" if alike else f" (threshold {one.threshold}; confidence {one.confidence})"
                yield from self._wrapped(f"{one.where or 'whole database'}: {one.value}{limits}", 6, 8)
        for meaning in finding.meanings:
            yield from self._wrapped(meaning, 6, 6)
        for evidence in finding.evidence[:EVIDENCE_SHOWN]:
            yield from self._wrapped(f"evidence: {evidence}", 6, 8)
        if finding.advice:
            yield from self._wrapped(f"change: {finding.advice}", 6, 8)
        yield from _commands(finding.commands)
        for name, said in (("risk", finding.risk), ("check", finding.check)):
            if said:
                yield from self._wrapped(f"{name}: {said}", 6, 8)

    def _notices(self, block: Notices) -> Iterator[str]:
        for text in block.texts:
            yield from self._marked(f"{MARKS[Tone(block.severity)]} {text}", Tone(block.severity), 2)

    def _details(self, block: Details) -> Iterator[str]:
        yield from self._wrapped(f"{block.summary}:", 2, 4)
        for one in block.blocks:
            yield from self._block(one, 0)

    def _table(self, table: Table, caption: str, note: str) -> Iterator[str]:
        if caption:
            yield from self._wrapped(caption, 2, 4)
        yield from self._laid_out(table)
        if note:
            yield from self._wrapped(note, 2, 4)

    def _laid_out(self, table: Table) -> Iterator[str]:
        """The table within the width: minor columns left out on a first screen, words folded, then parts."""
        table = _printable(table)
        columns = list(range(len(table.header)))
        widths = [max(map(len, cells)) for cells in _cells_by_column(table)]
        room = self._table_width
        left_out: list[str] = []
        if room is not None:
            for importance in (Importance.MINOR, Importance.USUAL):
                if not self._full:
                    _leave_out(table, columns, widths, room, importance, left_out)
                _squeeze(table, columns, widths, room, are_names_kept=importance is Importance.MINOR)
        for number, part in enumerate(_parts(columns, widths, room)):
            if number:
                yield ""
            yield from self._part(table, part, widths)
        if left_out:
            yield from self._wrapped(f"left out for lack of width: {', '.join(reversed(left_out))}", 2, 4)

    def _part(self, table: Table, columns: Sequence[int], widths: Sequence[int]) -> Iterator[str]:
        rule = GAP.join("─" * widths[column] for column in columns)
        yield from self._row(table, table.header, columns, widths, {})
        yield rule
        for number, row in enumerate(table.rows):
            tones = {column: tone for column in columns if (tone := table.tones.get((number, column)))}
            yield from self._row(table, row, columns, widths, tones)
        if table.total is not None:
            yield rule
            yield from self._row(table, table.total, columns, widths, {})

    def _row(
        self, table: Table, cells: Sequence[str], columns: Sequence[int], widths: Sequence[int], tones: dict[int, str]
    ) -> Iterator[str]:
        """A row, of several lines where words are folded."""
        folded = [
            wrap(cells[column], widths[column], break_long_words=False, break_on_hyphens=False)
            if len(cells[column]) > widths[column]
            else [cells[column]]
            for column in columns
        ]
        for line in zip_longest(*folded, fillvalue=""):
            said = [
                self._styled(text, tones.get(column)) + " " * (widths[column] - len(text))
                if column in table.left
                else " " * (widths[column] - len(text)) + self._styled(text, tones.get(column))
                for column, text in zip(columns, line, strict=True)
            ]
            yield GAP.join(said).rstrip()

    def _verbatim(self, lines: Iterable[str]) -> Iterator[str]:
        """Lines as they are, but for a terminal that is narrower."""
        for line in map(printable, lines):
            if self._table_width is None or len(line) <= self._table_width:
                yield line
            else:
                yield from wrap(line, self._table_width, subsequent_indent=" " * 6, break_on_hyphens=False)

    def _folded(self, texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            yield from self._wrapped(text, 2, 4)

    def _in_a_row(self, texts: Iterable[str]) -> list[str]:
        """Texts with dots between, as many in a line as there is room for."""
        lines: list[str] = []
        for text in texts:
            if lines and len(lines[-1]) + len(text) + 5 <= self._width:
                lines[-1] += f" · {_one_line(text)}"
            else:
                lines[-1:] = [f"{lines[-1]} ·"] if lines else []
                lines += self._wrapped(text, 2 if lines else 0, 4)
        return lines

    def _marked(self, text: str, tone: Tone, indent: int) -> Iterator[str]:
        """Wrapped text whose mark and next word are in the tone's colour."""
        for number, line in enumerate(self._wrapped(text, indent, indent + 2)):
            mark, blank, rest = line[indent:].partition(" ")
            yield line if number else f"{' ' * indent}{self._styled(mark, tone)}{blank}{rest}"

    def _wrapped(self, text: str, indent: int, hanging: int) -> list[str]:
        return wrap(
            _unbroken(_one_line(text)),
            self._width,
            initial_indent=" " * indent,
            subsequent_indent=" " * hanging,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def _styled(self, text: str, style: str | None) -> str:
        return f"\x1b[{_SGR[style]}m{text}\x1b[0m" if self._colour and text and style in _SGR else text


def _one_line(text: str) -> str:
    return printable(_BLANKS.sub(" ", text).strip(" "))


def _unbroken(text: str) -> str:
    """The text where per cent stays with its number."""
    return text.replace(" %", f"{GROUP_SPACE}%")


def _commands(lines: Iterable[str]) -> list[str]:
    return [f"{' ' * COMMAND_INDENT}{printable(line)}" for line in lines]


def _printable(table: Table) -> Table:
    def row(cells: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(_one_line, cells))

    total = row(table.total) if table.total is not None else None
    return Table(row(table.header), tuple(map(row, table.rows)), total, table.left, table.importance, table.tones)


def _cells_by_column(table: Table) -> Iterable[tuple[str, ...]]:
    return zip(table.header, *table.rows, *([table.total] if table.total else []), strict=True)


def _needed(columns: Sequence[int], widths: Sequence[int]) -> int:
    return sum(widths[column] for column in columns) + len(GAP) * (len(columns) - 1)


def _leave_out(
    table: Table, columns: list[int], widths: Sequence[int], room: int, importance: Importance, left_out: list[str]
) -> None:
    """Leave out columns of this importance, the last ones first, until the others fit."""
    for column in reversed(columns[1:]):
        if _needed(columns, widths) <= room:
            return
        if table.importance and table.importance[column] is importance:
            columns.remove(column)
            left_out.append(table.header[column])


def _squeeze(table: Table, columns: Sequence[int], widths: list[int], room: int, are_names_kept: bool) -> None:
    """Make columns of words narrower, the widest first, as far as no word breaks, till all fit, or each by itself."""
    words = [max(len(word) for cell in cells for word in cell.split(" ")) for cells in _cells_by_column(table)]
    least = [
        min(width, max(LEAST_TEXT, words[column])) if column in table.left and (column or not are_names_kept) else width
        for column, width in enumerate(widths)
    ]
    if _needed(columns, least) > room:
        for column in columns[1:]:
            widths[column] = max(least[column], min(widths[column], room - widths[0] - len(GAP)))
        return
    while _needed(columns, widths) > room:
        widest = max((column for column in columns if widths[column] > least[column]), key=widths.__getitem__)
        widths[widest] -= 1


def _parts(columns: Sequence[int], widths: Sequence[int], room: int | None) -> list[list[int]]:
    """The columns in parts that fit, each with the first column and as many others as there is room for."""
    first, *others = columns
    parts = [[first]]
    for column in others:
        if room is not None and len(parts[-1]) > 1 and _needed([*parts[-1], column], widths) > room:
            parts.append([first])
        parts[-1].append(column)
    return parts
