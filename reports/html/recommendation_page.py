"""The HTML report of a recommendation."""

from collections.abc import Iterator

from lsmlens.reports.document import (
    Block,
    Document,
    Figure,
    Figures,
    Lines,
    Notices,
    Paragraphs,
    Section,
    TableBlock,
    Terms,
)
from lsmlens.reports.html.recommendation_charts import recommendation_charts, timeline
from lsmlens.reports.recommendation_report import (
    RecommendationReport,
    basis,
    cases_table,
    changes_table,
    costs_of,
    differences_table,
    families_table,
    front_table,
    headline,
    notes,
    tried_table,
)

TERMS = (
    ("cost", "A weighed product of ratios to the current settings, which cost 1; the weights are the objective's."),
    ("worst", "The cost in the case in which a finalist does worst: draws of the workload, loads, seeds."),
    (
        "predicted",
        "What the log shows, times the ratio of the replays under these settings and under the current ones.",
    ),
    ("90 % interval", "By the scatter of the replays, what the fit leaves open, and what any model errs."),
    ("memtables at most", "All buffers of all column families, or the WAL's limit that flushes them before."),
)


def recommendation_page(report: RecommendationReport) -> Document:
    """The page of a recommendation."""
    one = report.recommendation
    run = one.fitted.evidence.run.run
    charts = list(recommendation_charts(report))
    sections = [Section("verdict", "In short", tuple(_verdict(report)))]
    if report.application is not None:
        blocks: list[Block] = []
        for number, step in enumerate(report.application.steps, 1):
            blocks.append(Paragraphs((f"{number}. {step.title}.", *step.notes)))
            blocks.append(Lines(step.commands))
        sections.append(Section("apply", "How to apply it", tuple(blocks)))
    finalists: list[Block] = [TableBlock("Finalists beside the current settings", front_table(one))]
    finalists += [TableBlock("Cost in every case", cases_table(one))] if one.finalists else []
    sections.append(Section("finalists", "Finalists", tuple(finalists)))
    sections.append(Section("charts", "The search", tuple(charts)))
    for number, finalist in enumerate(one.finalists, 1):
        drawn = timeline(one, finalist, number)
        against: list[Block] = [
            TableBlock("Settings that change", differences_table(finalist)),
            TableBlock("Predicted, for the same work", changes_table(one, finalist)),
            *([] if drawn is None else [drawn]),
            TableBlock("Bytes written by column family", families_table(one, finalist)[0]),
        ]
        title = f"{finalist.name} against the current settings"
        sections.append(Section(f"finalist-{number}", title, tuple(against)))
    sections.append(Section("tried", "Tried and lost", (TableBlock("Candidates", tried_table(one)),)))
    sections.append(
        Section("basis", "What this rests on", (Paragraphs(tuple(basis(report))), Notices(tuple(notes(report)))))
    )
    sections.append(Section("computed", "How each number is computed", (Terms(TERMS),)))
    facts = (
        ("Ceph", run.ceph_version or "-"),
        ("RocksDB", run.rocksdb_version or "-"),
        ("objective", str(one.objective)),
    )
    return Document("Recommendation", one.fitted.name, facts=facts, sections=tuple(sections))


def _verdict(report: RecommendationReport) -> Iterator[Block]:
    one = report.recommendation
    yield Paragraphs((headline(one), f"Why: {one.reason}."), lead=True)
    if one.picked is None:
        return
    table = changes_table(one, one.picked)
    yield Figures(tuple(Figure(row[0], row[2], f"now {row[1]}, {row[4]}") for row in table.rows[:4]))
    yield TableBlock("Settings that change", differences_table(one.picked))
    yield Paragraphs(("It costs: " + "; ".join(costs_of(one.picked, one)) + ".",))
