"""A recommendation as Markdown."""

from lsmlens.reports.markdown import Markdown, escaped
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

MOST_TRIED = 40


def render(report: RecommendationReport) -> str:
    """The whole report."""
    one = report.recommendation
    document = Markdown()
    document.heading(f"Recommendation for {one.fitted.name}", 1)
    document.paragraph(headline(one))
    document.paragraph(f"Why: {one.reason}.")
    if one.picked is not None:
        document.table(differences_table(one.picked), "Settings that change")
        document.table(changes_table(one, one.picked), "Predicted, for the same work")
        document.table(families_table(one, one.picked)[0], "Bytes written by column family")
        document.heading("What it costs")
        document.items([escaped(text) for text in costs_of(one.picked, one)])
    if report.application is not None:
        document.heading("How to apply it")
        for number, step in enumerate(report.application.steps, 1):
            document.heading(f"{number}. {step.title}", 3)
            document.items([escaped(text) for text in step.notes])
            document.fenced(step.commands, "sh")
    if one.finalists:
        document.heading("Finalists")
        document.table(front_table(one))
        document.table(cases_table(one), "Cost in every case; the current settings have 1")
    if tried_table(one).rows:
        with document.details("Tried and lost"):
            document.table(tried_table(one, MOST_TRIED))
    document.heading("What this rests on")
    document.items([escaped(text) for text in (*basis(report), *notes(report))])
    return document.text()
