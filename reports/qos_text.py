"""The report on scheduling for a terminal of 100 columns."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from lsmlens.analyzer.findings import Finding
from lsmlens.analyzer.qos.rules import Diagnosis
from lsmlens.analyzer.qos.view import OsdView
from lsmlens.reports import qos_tables as tables
from lsmlens.reports.numbers import file_name, millis, plain
from lsmlens.reports.sections import lay_out
from lsmlens.tuners.qos.assessment import QosAssessment
from lsmlens.tuners.qos.recommendation import Recommendation

WIDTH = 100
SIDE_BY_SIDE = 3
EVIDENCE_SHOWN = 3


def render(assessment: QosAssessment, colour: bool = False) -> str:
    """The whole report, ending in a newline; with terminal emphasis where `colour` is set."""
    return lay_out(_sections(assessment), colour)


def _sections(assessment: QosAssessment) -> Iterator[tuple[str, list[str]]]:
    view, subject = assessment.view, assessment.subject
    yield "In short", _hanging(*in_short(assessment))
    if len(view.osds) <= SIDE_BY_SIDE:
        for osd in view.osds:
            yield f"{osd.name}: what schedules its operations", tables.in_force(osd).lines()
    else:
        yield "What schedules operations", tables.in_force_by_osd(view).lines()
    for diagnosis in assessment.diagnoses:
        if diagnosis.findings or diagnosis.not_assessed:
            yield f"{diagnosis.subject or 'The cluster'}: findings", _diagnosis(diagnosis)
    if subject.allocation:
        yield from _allocation(assessment)
        yield "Which class a message falls in", tables.classes(subject).lines()
    if assessment.forms:
        yield "Recovery by charges and queues alone", [*tables.forms(assessment).lines(), *_form_notes(assessment)]
    if view.littles_law:
        yield "Are the clients' figures whole?", tables.littles_law(view).lines()
    if assessment.recommendation is not None:
        yield from _recommendation(assessment.recommendation)


def in_short(assessment: QosAssessment) -> list[str]:
    """A few sentences: what is in force, what is wrong, what is recommended."""
    subject = assessment.subject
    said = [_of_scheduler(subject)]
    if subject.in_force.is_wpq:
        said.append("WPQ draws operations by lot: there is no allocation, and mClock's options do nothing.")
    grave = [finding for one in assessment.diagnoses for finding in one.findings if finding.severity != "info"]
    if grave:
        said.append(
            f"{len(grave)} finding{'s' * (len(grave) > 1)} to act on: "
            + "; ".join(dict.fromkeys(f"{one.code} {one.title.lower()}" for one in grave))
            + "."
        )
    if assessment.recommendation is not None:
        pick = assessment.recommendation.pick
        settings = tables.settings_of(pick, assessment.recommendation)
        verb = "Keep" if pick.candidate.is_current else "Recommended"
        said.append(f"{verb}: {settings}; {assessment.recommendation.reasons[0]}.")
    return said


def _of_scheduler(osd: OsdView) -> str:
    one = osd.in_force
    if one.scheduler is None:
        return f"{osd.name}: which scheduler is in force the bundle does not say."
    said = f"{osd.name}: {one.scheduler.value} in force"
    if one.profile is not None:
        said += f", profile {one.profile.value}"
    if one.capacity is not None and one.capacity.real is not None:
        said += f", capacity {plain(one.capacity.real)} IOPS"
    return said + (f" ({one.scheduler.origin})." if one.scheduler.origin else ".")


def _hanging(*texts: str) -> list[str]:
    return [
        line
        for text in texts
        for line in wrap(
            text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )
    ]


def _paragraph(text: str) -> Iterator[str]:
    indent = " " * 6
    yield from wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _diagnosis(diagnosis: Diagnosis) -> list[str]:
    lines = [line for finding in diagnosis.findings for line in _finding(finding)]
    if not diagnosis.findings:
        lines.append("  none")
    lacking: dict[str, list[str]] = {}
    for rule in diagnosis.not_assessed:
        lacking.setdefault(rule.needs, []).append(rule.code)
    for needs, codes in sorted(lacking.items(), key=lambda item: item[1]):
        lines += _hanging(f"not assessed: {', '.join(codes)}: needs {needs}")
    return lines


def _finding(finding: Finding) -> Iterator[str]:
    yield from _hanging(
        f"{finding.severity.upper()} {finding.code} {finding.title}: {finding.value}"
        f" (threshold {finding.threshold}; confidence {finding.confidence})"
    )
    yield from _paragraph(finding.meaning)
    for evidence in finding.evidence[:EVIDENCE_SHOWN]:
        name = file_name(evidence.source)
        place = name if evidence.line is None else f"{name}:{evidence.line}"
        yield from _paragraph(f"evidence: {place}: {evidence.text}")
    yield from _paragraph(f"change: {finding.advice}")
    for command in finding.commands:
        yield f"        {command}"
    if finding.risk:
        yield from _paragraph(f"risk: {finding.risk}")
    if finding.check:
        yield from _paragraph(f"check: {finding.check}")


def _allocation(assessment: QosAssessment) -> Iterator[tuple[str, list[str]]]:
    subject = assessment.subject
    shards = subject.in_force.shard_count or 1
    shares = subject.in_force.shares
    notes = [tables.ALLOCATION_NOTE, *tables.charges(subject)]
    if shares is not None and shares.is_assumed:
        notes.append(f"shares are {shares.source}: there is no config show")
    yield (
        f"{subject.name}: allocation, of the OSD",
        [*tables.allocation(subject.allocation).lines(), *_hanging(*notes)],
    )
    if shards > 1:
        yield (
            f"{subject.name}: allocation, of each of its {shards} queues",
            tables.allocation(subject.allocation, per_shard=True).lines(),
        )
    if assessment.mended and assessment.mended_capacity is not None:
        yield (
            f"{subject.name}: allocation with the {assessment.mended_capacity:,.0f} IOPS its benchmark gave",
            tables.allocation(assessment.mended).lines(),
        )


def _form_notes(assessment: QosAssessment) -> list[str]:
    model = assessment.model
    if model is None:
        return []
    notes = ["* in force"]
    if assessment.view.loads:
        notes.append(f"queues of the pg dump: {len(assessment.view.loads)} have something to recover")
    else:
        notes.append(
            f"{len(model.groups)} groups with {model.objects:,} objects fall on queues by chance: the interval is"
            " of 90 % of placements"
        )
    if any(form.recovery.bound == "reservation" for form in assessment.forms):
        notes.append(
            "no limit binds: what reservations give with clients in every queue, if enough is under way at once"
        )
    return _hanging(*notes)


def _recommendation(recommendation: Recommendation) -> Iterator[tuple[str, list[str]]]:
    model, pick = recommendation.model, recommendation.pick
    lines = tables.candidates(recommendation).lines()
    lines += _hanging(*tables.candidate_notes(recommendation))
    base = recommendation.base
    if base is not None:
        alone = f"clients alone: {plain(round(base.iops))} IOPS, mean {millis(base.mean_seconds)}"
        without = recommendation.base_without_compactions
        if without is not None:
            alone += f"; without compactions {plain(round(without.iops))}, {millis(without.mean_seconds)}"
        lines += _hanging(alone)
    lines += _hanging(
        f"error: {tables.error_of(pick, recommendation)}",
        *(f"played: {fact}" for fact in model.facts),
        *(f"assumed: {assumption}" for assumption in model.assumptions),
    )
    calibration = recommendation.calibration
    if calibration.source:
        lines += _hanging(
            f"calibrated on {file_name(calibration.source)}: clients x {calibration.client:.2f}, recovery x"
            f" {calibration.recovery:.2f}" + (f"; {calibration.note}" if calibration.note else "")
        )
    yield "What other settings would do (simulated)", lines
    yield "Recommendation", list(_pick(recommendation))


def _pick(recommendation: Recommendation) -> Iterator[str]:
    pick = recommendation.pick
    settings = tables.settings_of(pick, recommendation)
    yield from _hanging(("keep " if pick.candidate.is_current else "set ") + settings)
    yield from _hanging(*recommendation.reasons)
    yield from _commands("commands", recommendation.commands)
    if recommendation.commands:
        yield from _hanging("OSDs must be restarted" if recommendation.needs_restart else "no restart")
    yield from _commands("the way back", recommendation.way_back)


def _commands(title: str, commands: Sequence[str]) -> Iterator[str]:
    if commands:
        yield from _hanging(f"{title}:")
        yield from (f"        {command}" for command in commands)
