"""A recommendation as a terminal report."""

from collections.abc import Iterator
from textwrap import wrap

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
from lsmlens.reports.sections import WIDTH, indented, lay_out

MOST_TRIED = 10


def render(report: RecommendationReport, colour: bool = False) -> str:
    """The whole report, ending in a newline; with terminal emphasis where `colour` is set."""
    return lay_out(_parts(report), colour)


def _parts(report: RecommendationReport) -> Iterator[tuple[str, list[str]]]:
    one = report.recommendation
    picked = one.picked
    yield (
        f"Recommendation for {one.fitted.name} from {report.source}",
        [
            *_wrapped(headline(one)),
            *_wrapped(f"why: {one.reason}"),
        ],
    )
    if picked is not None:
        yield "settings that change", indented(differences_table(picked).lines())
        yield "predicted, for the same work", indented(changes_table(one, picked).lines())
        table, hidden = families_table(one, picked)
        body = indented(table.lines())
        if hidden:
            body.append(f"  ({hidden} column families with less than 1 % of the bytes are not shown)")
        yield "bytes written by column family", body
        yield "what it costs", [line for text in costs_of(picked, one) for line in _wrapped(f"- {text}", "  ")]
    if one.finalists:
        yield (
            "finalists",
            [
                *indented(front_table(one).lines()),
                "  (front: no other is better in everything; cost and worst: the current settings have 1)",
            ],
        )
        yield "where each does worst: cost in every case", indented(cases_table(one).lines())
    table = tried_table(one)
    if table.rows:
        body = indented(tried_table(one, MOST_TRIED).lines())
        if len(table.rows) > MOST_TRIED:
            body.append(f"  ({len(table.rows) - MOST_TRIED} more in -o FILE.json)")
        yield "tried and lost", body
    if report.application is not None:
        for number, step in enumerate(report.application.steps, 1):
            body = [line for text in step.notes for line in _wrapped(text, "    ")]
            yield f"step {number}: {step.title}", [*body, *(f"    {command}" for command in step.commands)]
    yield "what this rests on", [line for text in basis(report) for line in _wrapped(text)]
    said = list(notes(report))
    if said:
        yield "notes", [line for text in said for line in _wrapped(f"! {text}", "  ")]


def _wrapped(text: str, indent: str = "  ") -> list[str]:
    return wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False)
