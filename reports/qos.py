"""The report of `lsmlens qos`: what is in force, what is wrong and what to set; then allocation and simulation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.numbers import counted, file_name, percent, plain, time_of
from lsmlens.analyzer.qos.view import OsdView
from lsmlens.reports import qos_tables as tables
from lsmlens.reports.document import (
    Block,
    CommandBlock,
    Deferred,
    Detail,
    Document,
    FindingBlock,
    KeyFigure,
    KeyFigures,
    Paragraphs,
    Section,
    Statement,
    TableBlock,
    Terms,
    Tone,
    VerdictBlock,
)
from lsmlens.reports.finding_blocks import finding_blocks
from lsmlens.tuners.qos.assessment import QosAssessment
from lsmlens.tuners.qos.recommendation import QosRecommendation

SIDE_BY_SIDE = 3
NAMES_SHOWN = 6
TERMS = (
    ("reservation", "What a class gets at least while it has operations waiting: share x capacity, in each queue."),
    ("limit", "What a class gets at most. It is kept by each queue for itself, so a full queue decides."),
    ("weight", "How what is left above reservations is shared, among classes that wait and are below their limits."),
    (
        "capacity",
        "IOPS of 4 KiB random writes that mClock takes an OSD to do; shares are of this, or of the bandwidth.",
    ),
    (
        "recovered/s",
        "Objects of 4 MiB a second: all that one is charged at its primary, by the release's own cost model.",
    ),
    (
        "recovery by charges and queues",
        "(objects x charge) / limit of the fullest queue; without a limit, / reservation, the longest it can take.",
    ),
    (
        "simulated",
        "WPQ or dmClock, BlueStore's throttle and kv thread, device and messengers of a small cluster, with closed-loop"
        " clients. Errors are those against a published study.",
    ),
    ("Little's law", "IOPS x mean latency = operations in flight. A result that breaks it is not what it claims."),
)


@dataclass(frozen=True, slots=True)
class QosReport:
    """What there is to report, and the severity that fails, if one was asked for."""

    assessment: QosAssessment
    fail_on: Severity | None = None


def compose(assessment: QosAssessment) -> Document:
    """The report of an assessment."""
    view, subject, recommendation = assessment.view, assessment.subject, assessment.recommendation
    findings = tuple(_findings(assessment))
    sections = [Section("verdict", "In short", tuple(_verdict(assessment)))]
    if recommendation is not None:
        sections.append(Section("pick", "Recommendation", tuple(_pick(recommendation))))
    sections += [
        Section("findings", "Findings", findings),
        Section("in-force", "What schedules operations", tuple(_in_force(assessment))),
    ]
    if subject.allocation:
        sections.append(Section("allocation", f"Allocation of {subject.name}", tuple(_allocation(assessment))))
    sections.append(Section("forms", "Recovery by charges and queues alone", tuple(_forms(assessment))))
    if recommendation is not None:
        title = "What other settings would do (simulated)"
        sections.append(Section("simulated", title, tuple(_simulated(assessment, recommendation))))
    sections.append(Section("computed", "What words and figures mean", (Terms(TERMS, detail=Detail.PAGE),)))
    release = subject.in_force.release
    facts = [("Ceph", ".".join(map(str, release)))] if release is not None else []
    if view.osd_count is not None:
        facts.append(("OSDs in the cluster", str(view.osd_count)))
    names = [osd.name for osd in view.osds]
    more = len(names) - NAMES_SHOWN
    title = ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
    fired = next((block for block in findings if isinstance(block, FindingBlock)), None)
    explained = f" · lsmlens explain {fired.code}" if fired is not None else ""
    where = f"More: --full (allocation, simulation, evidence, commands){explained} · -o report.html (charts)"
    return Document("Ceph scheduling report", title, tuple(facts), tuple(sections), where)


def _verdict(assessment: QosAssessment) -> Iterator[Block]:
    subject = assessment.subject
    grave = [finding for one in assessment.diagnoses for finding in one.findings if finding.severity != Severity.INFO]
    worst = max(grave, key=lambda finding: finding.severity.rank, default=None)
    said = [Statement(_scheduler(subject))]
    if worst is None:
        said.append(Statement("nothing to act on", Tone.BETTER))
    else:
        said.append(Statement(f"{counted(len(grave), 'finding')} to act on", Tone(worst.severity)))
    recommendation = assessment.recommendation
    if recommendation is not None:
        pick = recommendation.pick
        keep = "keep" if pick.candidate.is_current else "set"
        said.append(Statement(f"{keep} {tables.settings_of(pick, recommendation)}"))
    yield VerdictBlock(subject.name, tuple(said))
    if recommendation is not None:
        error = f"Its error: {tables.error_of(recommendation.pick, recommendation)}."
        yield Paragraphs((f"Why: {'; '.join(recommendation.reasons)}.", error), detail=Detail.BRIEF)
    if subject.in_force.is_wpq:
        lot = "WPQ picks operations at random by priority: there is no allocation, and mClock's options do nothing."
        yield Paragraphs((lot,), detail=Detail.BRIEF)
    yield KeyFigures(tuple(_key_figures(assessment)))


def _scheduler(osd: OsdView) -> str:
    one = osd.in_force
    if one.scheduler is None:
        return "the bundle does not say which scheduler is in force"
    said = f"{one.scheduler.value} in force"
    if one.profile is not None:
        said += f", profile {one.profile.value}"
    if one.capacity is not None and one.capacity.real is not None:
        said += f", capacity {plain(one.capacity.real)} IOPS"
    return said + (f" ({one.scheduler.origin})" if one.scheduler.origin else "")


def _key_figures(assessment: QosAssessment) -> Iterator[KeyFigure]:
    one = assessment.subject.in_force
    yield KeyFigure("scheduler", "mClock" if one.is_mclock else "WPQ" if one.is_wpq else "not known")
    if one.profile is not None:
        yield KeyFigure("profile", one.profile.value, one.profile.origin)
    if one.capacity is not None:
        yield KeyFigure("capacity", f"{plain(one.capacity.real)} IOPS", one.capacity.origin)
    if assessment.recommendation is not None:
        pick = assessment.recommendation.pick
        yield KeyFigure("clients' mean", time_of(pick.mean_seconds), f"± {percent(pick.mean_error, 0)}, as recommended")
        between = f"{tables.duration(pick.recovery_low)} to {tables.duration(pick.recovery_high)}"
        yield KeyFigure("recovery takes", tables.duration(pick.recovery_seconds), between)


def _pick(recommendation: QosRecommendation) -> Iterator[Block]:
    if not recommendation.commands:
        return
    restart = "OSDs must be restarted" if recommendation.needs_restart else "no restart"
    yield CommandBlock(f"To set it ({restart}):", recommendation.commands, detail=Detail.BRIEF)
    yield CommandBlock("The way back:", recommendation.way_back)


def _findings(assessment: QosAssessment) -> Iterator[Block]:
    named = [(one.subject or "cluster", one) for one in assessment.diagnoses]
    return finding_blocks(
        ((subject, finding) for subject, one in named for finding in one.findings),
        ((subject, rule) for subject, one in named for rule in one.not_assessed),
    )


def _in_force(assessment: QosAssessment) -> Iterator[Block]:
    osds = assessment.view.osds
    if len(osds) > SIDE_BY_SIDE:
        yield TableBlock("", tables.in_force_by_osd(assessment.view), detail=Detail.BRIEF)
        return
    for osd in osds:
        detail = Detail.BRIEF if len(osds) == 1 else Detail.FULL
        yield TableBlock(osd.name if len(osds) > 1 else "", tables.in_force(osd), detail=detail)


def _allocation(assessment: QosAssessment) -> Iterator[Block]:
    subject = assessment.subject
    shards, shares = subject.in_force.shard_count or 1, subject.in_force.shares
    yield Deferred(lambda: _charts(assessment, ["allocation"]))
    yield TableBlock("Of the OSD", tables.allocation(subject.allocation), tables.ALLOCATION_NOTE)
    if shards > 1:
        caption = f"Of each of its {shards} queues"
        yield TableBlock(caption, tables.allocation(subject.allocation, per_shard=True))
    if assessment.mended and assessment.mended_capacity is not None:
        caption = f"With the {plain(round(assessment.mended_capacity))} IOPS that its benchmark gave"
        yield TableBlock(caption, tables.allocation(assessment.mended))
    said = [*tables.charges(subject)]
    if shares is not None and shares.is_assumed:
        said.append(f"shares are {shares.source}: there is no config show")
    yield Paragraphs(tuple(said))
    yield TableBlock("Which class a message falls in", tables.classes(subject))


def _forms(assessment: QosAssessment) -> Iterator[Block]:
    if assessment.forms:
        yield TableBlock("Recovery's time by profile", tables.forms(assessment))
        yield Paragraphs(tuple(_form_notes(assessment)))
    if assessment.view.littles_law:
        yield TableBlock("Clients' figures against Little's law", tables.littles_law(assessment.view))


def _form_notes(assessment: QosAssessment) -> Iterator[str]:
    model = assessment.model
    if model is None:
        return
    yield "* in force"
    if assessment.view.loads:
        yield f"queues of the pg dump: {len(assessment.view.loads)} have something to recover"
    else:
        yield (
            f"{len(model.groups)} groups with {plain(model.objects)} objects fall on queues by chance: the interval is"
            " of 90 % of placements"
        )
    if any(form.recovery.bound == "reservation" for form in assessment.forms):
        yield "no limit binds: what reservations give with clients in every queue, if enough is under way at once"


def _simulated(assessment: QosAssessment, recommendation: QosRecommendation) -> Iterator[Block]:
    notes = "; ".join(tables.candidate_notes(recommendation))
    yield TableBlock("Candidates", tables.candidates(recommendation), notes)
    yield Deferred(lambda: _charts(assessment, ["front", "course", "recovery"]))
    yield Paragraphs(tuple(_basis(recommendation)))


def _basis(recommendation: QosRecommendation) -> Iterator[str]:
    """What the simulation rests on."""
    base, without = recommendation.base, recommendation.base_without_compactions
    if base is not None:
        alone = f"clients alone: {plain(round(base.iops))} IOPS, mean {time_of(base.mean_seconds)}"
        if without is not None:
            alone += f"; without compactions {plain(round(without.iops))}, {time_of(without.mean_seconds)}"
        yield alone
    yield from (f"played: {fact}" for fact in recommendation.model.facts)
    yield from (f"assumed: {one}" for one in recommendation.model.assumptions)
    calibration = recommendation.calibration
    if calibration.source:
        yield (
            f"calibrated on {file_name(calibration.source)}: clients x {calibration.client:.2f}, recovery x"
            f" {calibration.recovery:.2f}" + (f"; {calibration.note}" if calibration.note else "")
        )


def _charts(assessment: QosAssessment, names: Sequence[str]) -> Iterator[Block]:
    from lsmlens.reports.html.qos_charts import qos_charts

    return (block for _, block in qos_charts(assessment) if block.drawn().name in names)
