"""The frame of every HTML report: what a page is made of, and its rendering into one file that needs no network.

A report says what it has as sections of blocks; how they look is the frame's matter alone. All text is escaped by the
template, so content of logs stays text.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import version
from importlib.resources import files
from itertools import count
from typing import TypeAlias, cast

from jinja2 import DictLoader, Environment, StrictUndefined
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.printable import printable
from lsmlens.reports.html.charts import CONFIG, Chart
from lsmlens.reports.html.palette import declarations
from lsmlens.reports.tables import Table
from markupsafe import Markup

# Two levels of the table of contents, as long as it stays a help.
CONTENTS_LIMIT = 40


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure to be seen first: what it is, its value with its unit, and what to know of it."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures side by side."""

    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """Sentences, one paragraph each; `lead` in larger type."""

    texts: tuple[str, ...]
    lead: bool = False


@dataclass(frozen=True, slots=True)
class Notices:
    """What a reader must know before the figures; `severity` says how they are marked."""

    texts: tuple[str, ...]
    severity: Severity = Severity.WARNING


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table with its caption. `tones` marks cells by (row, column): better, worse, neutral, or a severity."""

    caption: str
    table: Table
    tones: tuple[tuple[int, int, str], ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class ChartBlock:
    """A chart, what to know when reading it, and its figures as a table, which may be open from the first."""

    chart: Chart
    table: Table
    note: str = ""
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Instance:
    """Where a rule fired: in which run and column family, with which value."""

    where: str
    value: str
    threshold: str
    confidence: str
    meaning: str


@dataclass(frozen=True, slots=True)
class FindingBlock:
    """A rule that fired, wherever it did, and what is the same for all of it; the first place tells its value."""

    code: str
    title: str
    severity: Severity
    instances: tuple[Instance, ...]
    evidence: tuple[str, ...] = ()
    threshold_source: str = ""
    advice: str = ""
    commands: tuple[str, ...] = ()
    risk: str = ""
    check: str = ""
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Terms:
    """What words and figures mean."""

    terms: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """Text as it was written, in fixed width."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks behind a line that opens them; open when printed."""

    summary: str
    blocks: "tuple[Block, ...]"
    is_open: bool = False


Block: TypeAlias = Figures | Paragraphs | Notices | TableBlock | ChartBlock | FindingBlock | Terms | Lines | Details


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a heading; `anchor` is its address in the page, and unique."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]
    sections: "tuple[Section, ...]" = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A report. `facts` are named facts under the title: versions, times."""

    title: str
    subtitle: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]


def render(page: Page) -> str:
    """The page as one HTML file: no network, no clock, the same bytes for the same page."""
    charts = list(_charts(page.sections))
    scripts = [_bundle(), _source("page.js")] if charts else [_source("page.js")]
    environment = Environment(
        loader=DictLoader({name: _source(name) for name in ("page.html", "blocks.html", "notices.html")}),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["kind"] = lambda block: type(block).__name__
    environment.globals["tones_of"] = lambda block: {(row, column): tone for row, column, tone in block.tones}
    environment.globals["next_chart"] = count().__next__
    return environment.get_template("page.html").render(
        page=page,
        version=version("lsmlens"),
        has_charts=bool(charts),
        nested_contents=sum(1 + len(section.sections) for section in page.sections) <= CONTENTS_LIMIT,
        style=Markup(_source("page.css")),
        light=Markup(declarations(0)),
        dark=Markup(declarations(1)),
        printed=Markup(declarations(0, important=True)),
        scripts=[Markup(script) for script in scripts],
        script_hashes=" ".join(f"'sha256-{_hash(script)}'" for script in scripts),
        data=_data_block(charts),
    )


def _printable(value: object) -> object:
    """Text of logs without control characters; what is markup already is ours."""
    if not isinstance(value, str) or isinstance(value, Markup | Enum):
        return value
    return "\n".join(map(printable, value.split("\n")))


def _charts(sections: Sequence[Section]) -> Iterator[Chart]:
    """The charts in the order in which they stand in the page; a block's number is its place in this order."""
    for section in sections:
        yield from _charts_of(section.blocks)
        yield from _charts(section.sections)


def _charts_of(blocks: Sequence[Block]) -> Iterator[Chart]:
    for block in blocks:
        if isinstance(block, ChartBlock):
            yield block.chart
        elif isinstance(block, Details):
            yield from _charts_of(block.blocks)


def _data_block(charts: Sequence[Chart]) -> Markup:
    """All data of all charts, each dataset once; `<` is escaped so that nothing in it ends the element."""
    datasets = {name: dataset for chart in charts for name, dataset in chart.datasets.items()}
    block = {
        "config": CONFIG,
        "charts": [chart.spec for chart in charts],
        "datasets": {name: {"fields": one.fields, "rows": one.rows} for name, one in datasets.items()},
    }
    text = json.dumps(block, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    import vl_convert

    # its stub asks for a snippet, which has a default that defines vegaEmbed
    script = cast("Callable[[], str]", vl_convert.javascript_bundle)()
    assert "</script" not in script.lower()
    return script


def _source(name: str) -> str:
    return (files("lsmlens.reports.html") / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
