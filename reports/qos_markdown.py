"""The assessment of scheduling as Markdown."""

from lsmlens.analyzer.findings import Finding
from lsmlens.reports import qos_tables as tables
from lsmlens.reports.markdown import Markdown, code, escaped
from lsmlens.reports.numbers import file_name
from lsmlens.reports.qos_text import in_short
from lsmlens.tuners.qos.assessment import QosAssessment
from lsmlens.tuners.qos.recommendation import Recommendation


def render(assessment: QosAssessment, limit: int | None = None) -> str:
    """The report, of at most `limit` characters where one is given."""
    view, subject = assessment.view, assessment.subject
    document = Markdown()
    document.heading("Scheduling", 1)
    for sentence in in_short(assessment):
        document.paragraph(sentence)
    document.heading("What schedules operations")
    for osd in view.osds if len(view.osds) <= 3 else ():
        document.table(tables.in_force(osd), osd.name)
    if len(view.osds) > 3:
        document.table(tables.in_force_by_osd(view))
    document.heading("Findings")
    for diagnosis in assessment.diagnoses:
        for finding in diagnosis.findings:
            _add(document, diagnosis.subject or "the cluster", finding)
    if subject.allocation:
        document.heading(f"Allocation of {subject.name}")
        document.table(tables.allocation(subject.allocation), "of the OSD")
        document.table(tables.allocation(subject.allocation, per_shard=True), "of each queue")
        document.items([escaped(text) for text in tables.charges(subject)])
        if assessment.mended and assessment.mended_capacity is not None:
            document.table(
                tables.allocation(assessment.mended), f"with a capacity of {assessment.mended_capacity:,.0f} IOPS"
            )
        with document.details("Which class a message falls in"):
            document.table(tables.classes(subject))
    if assessment.forms:
        document.heading("Recovery by charges and queues alone")
        document.table(tables.forms(assessment))
    if view.littles_law:
        document.table(tables.littles_law(view), "Little's law")
    if assessment.recommendation is not None:
        _recommend(document, assessment.recommendation)
    return document.text(limit)


def _add(document: Markdown, subject: str, finding: Finding) -> None:
    document.marked(
        f"**{finding.severity.upper()} {finding.code} {escaped(finding.title)}** ({escaped(subject)}):"
        f" {escaped(finding.value)}"
    )
    document.paragraph(finding.meaning)
    places = [
        f"{file_name(one.source)}{'' if one.line is None else f':{one.line}'}: {one.text}" for one in finding.evidence
    ]
    document.items([code(place) for place in places])
    document.paragraph(finding.advice)
    if finding.commands:
        document.fenced(finding.commands, "sh")


def _recommend(document: Markdown, recommendation: Recommendation) -> None:
    document.heading("What other settings would do (simulated)")
    document.table(tables.candidates(recommendation))
    document.paragraph(f"Error: {tables.error_of(recommendation.pick, recommendation)}")
    document.items([escaped(f"played: {fact}") for fact in recommendation.model.facts])
    document.items([escaped(f"assumed: {one}") for one in recommendation.model.assumptions])
    document.heading("Recommendation")
    document.paragraph(tables.settings_of(recommendation.pick, recommendation))
    document.items([escaped(reason) for reason in recommendation.reasons])
    if recommendation.commands:
        document.fenced(recommendation.commands, "sh")
        document.paragraph("The way back:")
        document.fenced(recommendation.way_back, "sh")
