"""A page with every kind of block there is, for the tests of its frame and of how it looks."""

from typing import Any

from lsmlens.analyzer.findings import Severity
from lsmlens.reports.html.charts import Chart, Dataset
from lsmlens.reports.html.page import (
    ChartBlock,
    Details,
    Figure,
    Figures,
    FindingBlock,
    Instance,
    Lines,
    Notices,
    Page,
    Paragraphs,
    Section,
    TableBlock,
    Terms,
)
from lsmlens.reports.tables import Table


def every_block(text: str) -> Page:
    """A page with each kind of block, all text in it the same."""
    table = Table((text, text), ((text, text),), (text, text))
    spec: dict[str, Any] = {"mark": "point", "data": {"name": text}, "title": text}
    chart = Chart("name", text, text, spec, {text: Dataset(("a",), ((text,),))})
    instance = Instance(text, text, text, text, text)
    finding = FindingBlock(text, text, Severity.CRITICAL, (instance,), (text,), text, text, (text,), text, text)
    several = FindingBlock("R", text, Severity.INFO, (instance, instance))
    blocks = (
        Figures((Figure(text, text, text),)),
        Paragraphs((text,), lead=True),
        Notices((text,)),
        TableBlock(text, table, ((0, 1, "worse"),), text),
        ChartBlock(chart, table, text),
        finding,
        several,
        Terms(((text, text),)),
        Lines((text,)),
        Details(text, (Paragraphs((text,)), ChartBlock(chart, table))),
    )
    return Page(text, text, ((text, text),), (Section("a", text, blocks, (Section("b", text, blocks),)),))
