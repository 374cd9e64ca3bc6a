"""A comparison as Markdown: what to know first and the verdict, then tables, long ones folded."""

from lsmlens.analyzer.comparison.comparison import Comparison
from lsmlens.analyzer.metrics import Group
from lsmlens.reports import comparison_tables as tables
from lsmlens.reports.glossary import COMPARISON_TERMS
from lsmlens.reports.markdown import COMMENT_CHARACTERS, Markdown, escaped
from lsmlens.reports.outputs import ComparisonReport
from lsmlens.reports.tables import Table

MARKS = {"better": "🟢 better", "worse": "🔴 worse", "same": "⚪ same"}

SECTIONS = (
    (
        "Write amplification, work, stalls and latencies",
        (Group.AMPLIFICATION, Group.WORK, Group.STALLS, Group.COUNTERS),
    ),
    ("By column family", (Group.FAMILIES,)),
    ("What clients measured", (Group.CLIENTS,)),
)


def render(report: ComparisonReport, limit: int = COMMENT_CHARACTERS) -> str:
    """The report, of at most `limit` characters."""
    comparison = report.comparison
    names = comparison.names
    page = Markdown()
    page.heading(f"RocksDB comparison: {', '.join(names[1:])} against {names[0]}")
    gates = sorted(report.gates, key=lambda one: not one.is_failed)
    page.items([f"{'🛑 **failed**' if one.is_failed else '✅ passed'}: {escaped(one.reason)}" for one in gates])
    notices = [(", ".join(notice.arms), notice.text) for notice in comparison.notices]
    page.items([f"⚠️ {escaped(f'{arms}: {text}' if arms else text)}" for arms, text in notices])
    page.items([escaped(sentence) for sentence in comparison.sentences])
    if comparison.of(Group.STATISTICS):
        page.table(tables.statistics(comparison), "Compaction Statistics")
    for place in range(1, len(names)):
        _verdicts(page, comparison, place)
    for title, groups in SECTIONS:
        table = tables.figures(comparison, groups)
        if table.rows:
            with page.details(title):
                page.table(table)
    for found in comparison.scalings:
        page.table(tables.scaling(found), f"{found.metric.part}: {found.metric.label}")
        page.paragraph(f"{found.sentence}.")
    if comparison.options:
        with page.details(f"{len(comparison.options)} options that differ"):
            page.table(tables.options(comparison))
    if comparison.findings:
        with page.details("Findings that not all arms have"):
            page.table(tables.findings(comparison))
    with page.details("How each number is computed"):
        page.items([f"**{escaped(term)}**: {escaped(text)}" for term, text in COMPARISON_TERMS])
    return page.text(limit)


def _verdicts(page: Markdown, comparison: Comparison, place: int) -> None:
    name = comparison.names[place]
    table = tables.verdicts(comparison, place)
    if not table.rows:
        page.paragraph(f"{name}: no metric can be judged better or worse.")
        return
    rows = tuple((*row[:-1], MARKS.get(row[-1], row[-1])) for row in table.rows)
    page.table(Table(table.header, rows, left=table.left), f"{name} against {comparison.names[0]}")
    hidden = tables.hidden(comparison, place)
    if hidden:
        page.paragraph(hidden)
