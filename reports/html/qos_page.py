"""The HTML report on scheduling."""

from collections.abc import Iterator

from lsmlens.analyzer.qos.rules import Diagnosis
from lsmlens.reports import qos_tables as tables
from lsmlens.reports.document import (
    Block,
    Document,
    Figure,
    Figures,
    Lines,
    Paragraphs,
    Section,
    TableBlock,
    Terms,
)
from lsmlens.reports.finding_blocks import finding_blocks
from lsmlens.reports.html.qos_charts import qos_charts
from lsmlens.reports.numbers import file_name, millis, plain
from lsmlens.reports.qos_text import SIDE_BY_SIDE, in_short
from lsmlens.tuners.qos.assessment import QosAssessment
from lsmlens.tuners.qos.recommendation import Recommendation

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
    ("Little's law", "IOPS x mean latency = operations on their way. A result that breaks it is not what it claims."),
)


def qos_page(assessment: QosAssessment) -> Document:
    """The page of an assessment."""
    view, subject = assessment.view, assessment.subject
    charts = [block for _, block in qos_charts(assessment)]
    drawn = tuple(block for block in charts if block.drawn().name != "allocation")
    sections = [Section("verdict", "In short", tuple(_verdict(assessment)))]
    if assessment.recommendation is not None:
        sections.append(Section("pick", "Recommendation", tuple(_pick(assessment.recommendation))))
    in_force: list[Block] = (
        [TableBlock(osd.name, tables.in_force(osd)) for osd in view.osds]
        if len(view.osds) <= SIDE_BY_SIDE
        else [TableBlock("All OSDs", tables.in_force_by_osd(view))]
    )
    sections.append(Section("in-force", "What schedules operations", tuple(in_force)))
    sections.append(Section("findings", "Findings", tuple(_findings(assessment.diagnoses))))
    if subject.allocation:
        sections.append(Section("allocation", "Allocation", (*charts[:1], *_allocation(assessment))))
    if assessment.forms or view.littles_law:
        sections.append(Section("forms", "By charges and queues alone", tuple(_forms(assessment))))
    if assessment.recommendation is not None:
        blocks = (*drawn, *_played(assessment.recommendation))
        sections.append(Section("simulated", "What other settings would do", blocks))
    sections.append(Section("computed", "What words and figures mean", (Terms(TERMS),)))
    release = subject.in_force.release
    facts = [("Ceph", ".".join(map(str, release)))] if release is not None else []
    if view.osd_count is not None:
        facts.append(("OSDs in the cluster", str(view.osd_count)))
    names = [osd.name for osd in view.osds]
    title = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return Document("Ceph scheduling report", title, tuple(facts), tuple(sections))


def _verdict(assessment: QosAssessment) -> Iterator[Block]:
    yield Paragraphs(tuple(in_short(assessment)), lead=True)
    subject = assessment.subject.in_force
    figures = [Figure("scheduler", "mClock" if subject.is_mclock else "WPQ" if subject.is_wpq else "not known")]
    if subject.profile is not None:
        figures.append(Figure("profile", subject.profile.value, subject.profile.origin))
    if subject.capacity is not None:
        figures.append(Figure("capacity", f"{plain(subject.capacity.real)} IOPS", subject.capacity.origin))
    if assessment.recommendation is not None:
        pick = assessment.recommendation.pick
        figures.append(Figure("clients' mean", millis(pick.mean_seconds), f"± {pick.mean_error:.0%}, as recommended"))
        between = f"{tables.duration(pick.recovery_low)} to {tables.duration(pick.recovery_high)}"
        figures.append(Figure("recovery takes", tables.duration(pick.recovery_seconds), between))
    yield Figures(tuple(figures))


def _pick(recommendation: Recommendation) -> Iterator[Block]:
    pick = recommendation.pick
    keep = "Keep" if pick.candidate.is_current else "Set"
    yield Paragraphs((f"{keep}: {tables.settings_of(pick, recommendation)}.", *recommendation.reasons))
    if recommendation.commands:
        yield Lines(recommendation.commands)
        yield Paragraphs(
            ("OSDs must be restarted." if recommendation.needs_restart else "No restart.", "The way back:")
        )
        yield Lines(recommendation.way_back)


def _findings(diagnoses: tuple[Diagnosis, ...]) -> Iterator[Block]:
    named = [(one.subject or "cluster", one) for one in diagnoses]
    return finding_blocks(
        ((subject, finding) for subject, one in named for finding in one.findings),
        ((subject, rule) for subject, one in named for rule in one.not_assessed),
    )


def _allocation(assessment: QosAssessment) -> Iterator[Block]:
    subject = assessment.subject
    yield Paragraphs(tables.charges(subject))
    if (subject.in_force.shard_count or 1) > 1:
        yield TableBlock("In each queue", tables.allocation(subject.allocation, per_shard=True))
    if assessment.mended and assessment.mended_capacity is not None:
        caption = f"With the {assessment.mended_capacity:,.0f} IOPS that its benchmark gave"
        yield TableBlock(caption, tables.allocation(assessment.mended))
    yield TableBlock("Which class a message falls in", tables.classes(subject))


def _forms(assessment: QosAssessment) -> Iterator[Block]:
    if assessment.forms:
        yield TableBlock("Recovery's time by profile", tables.forms(assessment))
    if assessment.view.littles_law:
        yield TableBlock("Clients' figures against Little's law", tables.littles_law(assessment.view))


def _played(recommendation: Recommendation) -> Iterator[Block]:
    model = recommendation.model
    said = [f"Error: {tables.error_of(recommendation.pick, recommendation)}."]
    said += [f"Played: {fact}." for fact in model.facts]
    said += [f"Assumed: {one}." for one in model.assumptions]
    calibration = recommendation.calibration
    if calibration.source:
        said.append(
            f"Calibrated on {file_name(calibration.source)}: clients x {calibration.client:.2f}, recovery x"
            f" {calibration.recovery:.2f}. {calibration.note}".strip()
        )
    yield Paragraphs(tuple(said))
