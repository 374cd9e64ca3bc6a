"""A document with every kind of block there is, for the tests of its renderers and of how a page looks."""

from dataclasses import replace
from typing import Any

from lsmlens.analyzer.findings import Severity
from lsmlens.reports.document import (
    ChartBlock,
    CommandBlock,
    Deferred,
    Detail,
    Details,
    Document,
    FindingBlock,
    Instance,
    KeyFigure,
    KeyFigures,
    Lines,
    Notices,
    Paragraphs,
    Section,
    Statement,
    TableBlock,
    Terms,
    Tone,
    VerdictBlock,
)
from lsmlens.reports.html.charts import Chart, Dataset
from lsmlens.reports.tables import Table


def every_block(text: str) -> Document:
    """A document with each kind of block, all text in it the same."""
    table = Table((text, text), ((text, text),), (text, text))
    spec: dict[str, Any] = {"mark": "point", "data": {"name": text}, "title": text}
    chart = Chart("name", text, text, spec, {text: Dataset(("a",), ((text,),))})
    instance = Instance(text, text, text, text)
    said = dict.fromkeys(("threshold_source", "change", "advice", "risk", "check"), text)
    lines = dict.fromkeys(("meanings", "evidence", "commands"), (text,))
    finding = FindingBlock(text, text, Severity.CRITICAL, text, text, (instance,), **said, **lines)  # type: ignore[arg-type]
    several = FindingBlock("R", text, Severity.INFO, text, text, (instance, instance))
    blocks = (
        VerdictBlock(text, (Statement(text, Tone.WARNING), Statement(text))),
        KeyFigures((KeyFigure(text, text, text),)),
        Paragraphs((text,), lead=True),
        Notices((text,)),
        TableBlock(text, replace(table, tones={(0, 1): "worse"}), text),
        ChartBlock(chart, table, text, caption=text, detail=Detail.FULL),
        finding,
        several,
        Terms(((text, text),)),
        Lines((text,)),
        CommandBlock(text, (text,)),
        Deferred(lambda: [Paragraphs((text,))]),
        Details(text, (Paragraphs((text,)), ChartBlock(chart, table))),
    )
    return Document(text, text, ((text, text),), (Section("a", text, blocks, (Section("b", text, blocks),)),))
