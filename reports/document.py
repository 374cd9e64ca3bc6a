"""What a report is made of: one document a subject, which terminal, Markdown and HTML render each in their way.

A report says what it has as sections of blocks; how they look is the renderers' matter alone: `terminal.render`,
`markdown.render`, `html.page.render`. They escape all text, so content of logs stays text.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, TypeAlias

from lsmlens.analyzer.findings import Severity
from lsmlens.reports.tables import Table

if TYPE_CHECKING:
    from lsmlens.reports.html.charts import Chart


class Detail(IntEnum):
    """Where a block is shown.

    BRIEF: everywhere, first of all on a terminal's first screen. FULL: by `--full`, in text files, folded in Markdown,
    and in the page. PAGE: in the page alone.
    """

    BRIEF = 0
    FULL = 1
    PAGE = 2


class Tone(StrEnum):
    """What colour and mark say of a cell or a statement; always beside words that say it."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"
    BETTER = "better"
    WORSE = "worse"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class Statement:
    """A few words of a verdict: `4 warnings`, `no stalls`."""

    text: str
    tone: Tone | None = None


@dataclass(frozen=True, slots=True)
class VerdictBlock:
    """The answer in one line: of which subject (empty where there is one only), and what is said of it."""

    subject: str
    statements: tuple[Statement, ...]
    detail: Detail = Detail.BRIEF


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """One figure to be seen first: what it is, its value with its unit, and what to know of it."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """Figures side by side."""

    figures: tuple[KeyFigure, ...]
    detail: Detail = Detail.PAGE


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """Sentences, one paragraph each; `lead` in larger type."""

    texts: tuple[str, ...]
    lead: bool = False
    detail: Detail = Detail.FULL


@dataclass(frozen=True, slots=True)
class Notices:
    """What a reader must know before the figures; `severity` says how they are marked."""

    texts: tuple[str, ...]
    severity: Severity = Severity.WARNING
    detail: Detail = Detail.FULL


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table with its caption, and what to know when reading it."""

    caption: str
    table: Table
    note: str = ""
    detail: Detail = Detail.FULL


@dataclass(frozen=True, slots=True)
class ChartBlock:
    """A chart, what to know when reading it, and its figures as a table, which may be open from the first.

    Where nothing can be drawn the table stands for it under `caption` (else it is left out), or the lines `as_text`.
    Drawing is dear: give a function, which only a page calls, in what a terminal may show.
    """

    chart: "Chart | Callable[[], Chart]"
    table: Table
    note: str = ""
    is_open: bool = False
    caption: str = ""
    as_text: tuple[str, ...] = ()
    detail: Detail = Detail.PAGE

    def drawn(self) -> "Chart":
        """The chart, drawn now if it was not yet."""
        return self.chart() if callable(self.chart) else self.chart


@dataclass(frozen=True, slots=True)
class Instance:
    """Where a rule fired: in which run and column family, with which value."""

    where: str
    value: str
    threshold: str
    confidence: str


@dataclass(frozen=True, slots=True)
class FindingBlock:
    """A rule that fired, wherever it did, and what is the same for all of it.

    `where` and `value` are of all places together; `meanings` what it means, once for places that differ in numbers
    alone; `change` is the advice in a few words.
    """

    code: str
    title: str
    severity: Severity
    where: str
    value: str
    instances: tuple[Instance, ...]
    meanings: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    threshold_source: str = ""
    change: str = ""
    advice: str = ""
    commands: tuple[str, ...] = ()
    risk: str = ""
    check: str = ""
    is_open: bool = False
    detail: Detail = Detail.BRIEF


@dataclass(frozen=True, slots=True)
class CommandBlock:
    """Lines to paste, never folded, and what they do."""

    caption: str
    lines: tuple[str, ...]
    detail: Detail = Detail.FULL


@dataclass(frozen=True, slots=True)
class Terms:
    """What words and figures mean."""

    terms: tuple[tuple[str, str], ...]
    detail: Detail = Detail.FULL


@dataclass(frozen=True, slots=True)
class Lines:
    """Text as it was written, in fixed width."""

    lines: tuple[str, ...]
    detail: Detail = Detail.FULL


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks behind a line that opens them; open when printed."""

    summary: str
    blocks: "tuple[Block, ...]"
    is_open: bool = False
    detail: Detail = Detail.FULL


@dataclass(frozen=True, slots=True)
class Deferred:
    """Blocks that are dear to make, made only where they are shown."""

    make: "Callable[[], Iterable[Block]]"
    detail: Detail = Detail.PAGE


Block: TypeAlias = (
    VerdictBlock
    | KeyFigures
    | Paragraphs
    | Notices
    | TableBlock
    | ChartBlock
    | FindingBlock
    | CommandBlock
    | Terms
    | Lines
    | Details
    | Deferred
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document under a heading; `anchor` is its address in a page, and unique."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]
    sections: "tuple[Section, ...]" = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A report. `facts` are named facts under the title: versions, times. `more` says where more than BRIEF is."""

    title: str
    subtitle: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    more: str = ""

    def at(self, detail: Detail) -> "Document":
        """The same with the blocks shown at this level, made where deferred; sections left empty are left out."""
        return replace(self, sections=_sections(self.sections, detail))


def _sections(sections: Iterable[Section], detail: Detail) -> tuple[Section, ...]:
    shown = (
        replace(one, blocks=tuple(_blocks(one.blocks, detail)), sections=_sections(one.sections, detail))
        for one in sections
    )
    return tuple(one for one in shown if one.blocks or one.sections)


def _blocks(blocks: Iterable[Block], detail: Detail) -> Iterator[Block]:
    for block in blocks:
        if block.detail > detail:
            continue
        if isinstance(block, Deferred):
            yield from _blocks(block.make(), detail)
        elif isinstance(block, Details):
            yield replace(block, blocks=tuple(_blocks(block.blocks, detail)))
        else:
            yield block


def charts(sections: Iterable[Section]) -> "Iterator[Chart]":
    """All charts of a page, drawn, in the order in which they stand in it."""
    for section in sections:
        yield from _charts(_blocks(section.blocks, Detail.PAGE))
        yield from charts(section.sections)


def _charts(blocks: Iterable[Block]) -> "Iterator[Chart]":
    for block in blocks:
        if isinstance(block, ChartBlock):
            yield block.drawn()
        elif isinstance(block, Details):
            yield from _charts(block.blocks)
