"""A comparison as the document `lsmlens.comparison/1`. Lists with one entry for each run follow the order of `runs`."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from lsmlens.analyzer.analysis_document import means
from lsmlens.analyzer.comparison.comparison import Comparison, Figure, MetricRow
from lsmlens.analyzer.comparison.gates import GateResult
from lsmlens.analyzer.comparison.observations import Kind
from lsmlens.analyzer.comparison.verdicts import Judgement, Verdict
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.metrics import Better, Group, Unit
from lsmlens.reports.json_form import made_of, to_text
from msgspec import Meta, Struct

SCHEMA: Final = "lsmlens.comparison/1"


class SourceJson(Struct, kw_only=True):
    """A path of a run."""

    path: Annotated[str, means("As it was given.")]
    kind: Annotated[Kind, means("What it is.")]
    daemons: Annotated[list[str], means("The databases that were added up.")]
    notes: Annotated[list[str], means("Data quality: what to know before believing its figures.")]


class ArmJson(Struct, kw_only=True):
    """One side of the comparison."""

    name: Annotated[str, means("Its name, given or made of its paths.")]
    versions: Annotated[str, means("Of Ceph and RocksDB, as far as they are told.")]
    sources: Annotated[list[SourceJson], means("One for each path.")]


class GateJson(Struct, kw_only=True):
    """What a --fail-if says of one run."""

    gate: Annotated[str, means("As asked for.")]
    run: Annotated[str, means("The run.")]
    failed: Annotated[bool, means("Whether it fails.")]
    reason: Annotated[str, means("Why, in words.")]


class NoticeJson(Struct, kw_only=True):
    """What to know before believing a verdict."""

    runs: Annotated[list[str], means("Which runs it is of; none for all together.")]
    text: Annotated[str, means("What there is to know.")]


class WorkJson(Struct, kw_only=True):
    """One run's work against the baseline's."""

    run: Annotated[str, means("The run.")]
    measure: Annotated[str | None, means("The metric that the work was compared by; null where nothing tells of it.")]
    ratio: Annotated[float | None, means("Its work / the baseline's.")]
    equal: Annotated[bool, means("Whether totals are comparable.")]


class JudgementJson(Struct, kw_only=True):
    """How one run's metric compares with the baseline's."""

    verdict: Annotated[Verdict, means("What it comes to.")]
    ratio_low: Annotated[
        float | None, means("The lower end of the ratio's interval; null where the noise is not known.")
    ]
    ratio_high: Annotated[float | None, means("Its upper end.")]
    p_value: Annotated[
        float | None,
        means(
            "How likely chance alone makes such a difference, after Holm's correction over the metrics of the section;"
            " null where it was not judged."
        ),
    ]
    method: Annotated[
        Literal["", "block bootstrap", "Welch's t", "permutation test", "Mann-Whitney"],
        means("What the interval and p value come from; empty for none."),
    ]
    reason: Annotated[str, means("Why it is this verdict, in words.")]


class MetricJson(Struct, kw_only=True):
    """A metric that any run tells of."""

    name: Annotated[str, means("Unique, and what --fail-if names; KIND.PART for a column family or client job.")]
    label: Annotated[str, means("The published label where there is one.")]
    unit: Annotated[Unit, means("Of its values.")]
    better: Annotated[Better, means("Which way is better.")]
    group: Annotated[Group, means("The section of the report.")]
    part: Annotated[str | None, means("The column family or client job it is of.")]
    how: Annotated[str, means("How it is computed.")]
    values: Annotated[
        list[float | None], means("One for each run: the mean of its samples; null where it is not known.")
    ]
    samples: Annotated[list[list[float]], means("One list for each run: the values of its bundles or repeats.")]
    spreads: Annotated[
        list[float | None],
        means("One for each run: the standard deviation of its samples; null for fewer than two."),
    ]
    printed: Annotated[list[str | None], means("One for each run: the digits of a published table.")]
    ratios: Annotated[
        list[float | None],
        means(
            "One for each run: its value / the baseline's, 1 for the baseline; null where that is 0 or either is not"
            " known."
        ),
    ]
    verdict: Annotated[
        Verdict,
        means(
            "The most worrying of all runs' verdicts, in the order worse, not comparable, not significant, same,"
            " better."
        ),
    ]
    verdicts: Annotated[
        list[JudgementJson | None],
        means("One for each run; null for the baseline, and where neither it nor the run tells."),
    ]


class ScalingPointJson(Struct, kw_only=True):
    """A metric at one amount of a resource."""

    arm: Annotated[str, means("The run.")]
    amount: Annotated[float, means("How much of the resource it had.")]
    value: Annotated[float, means("The metric.")]
    gain: Annotated[float | None, means("Value / the value before it.")]
    step_yield: Annotated[
        float | None, means("log(gain) / log(amount / amount before); 0 where the gain may be by chance.")
    ]


class ScalingJson(Struct, kw_only=True):
    """A metric of client jobs over amounts of a resource, where runs' names are numbers."""

    metric: Annotated[str, means("Its name.")]
    resource: Annotated[str, means("What runs' names say they are amounts of; may be empty.")]
    points: Annotated[list[ScalingPointJson], means("By amount.")]
    knee: Annotated[
        str | None, means("The run after which every step yields less than half of what it adds; null if none.")
    ]
    noise_known: Annotated[bool, means("Whether there are repeats to tell chance by.")]


class DifferingOptionJson(Struct, kw_only=True):
    """An option that is not the same in all runs."""

    name: Annotated[str, means("Its name.")]
    families: Annotated[list[str], means("The column families it is of; none for the whole database.")]
    values: Annotated[list[str | None], means("One for each run.")]
    sources: Annotated[list[str | None], means("Where each was read.")]


class DifferingFindingJson(Struct, kw_only=True):
    """A finding that some runs have and others have not, or not as severe."""

    code: Annotated[str, means("The rule.")]
    title: Annotated[str, means("What the rule is about.")]
    severities: Annotated[
        list[Severity | None], means("One for each run, the most severe; null where it was not found.")
    ]
    families: Annotated[list[str], means("The column families it is of.")]


class ComparisonJson(Struct, kw_only=True):
    """What `lsmlens compare --format json` prints."""

    schema: Annotated[Literal["lsmlens.comparison/1"], means("The document's kind and version.")] = SCHEMA
    baseline: Annotated[str, means("The name of the run the others are compared with, the first.")]
    runs: Annotated[
        list[ArmJson],
        Meta(min_length=2),
        means("The arms, in their order. Lists with one entry for each run follow it."),
    ]
    gates: Annotated[list[GateJson], means("What each --fail-if says of each run but the baseline.")]
    notices: Annotated[list[NoticeJson], means("What to know before believing a verdict.")]
    summary: Annotated[list[str], means("What it comes to, in sentences.")]
    work: Annotated[list[WorkJson], means("Each run's work against the baseline's.")]
    confidence: Annotated[float, means("Of the intervals.")]
    metrics: Annotated[list[MetricJson], means("Every metric that any run tells of.")]
    scaling: Annotated[list[ScalingJson], means("Metrics of client jobs over amounts of a resource.")]
    options: Annotated[list[DifferingOptionJson], means("Options that are not the same in all runs.")]
    findings: Annotated[
        list[DifferingFindingJson], means("Findings that some runs have and others have not, or not as severe.")
    ]


def to_json(comparison: Comparison, gates: Sequence[GateResult] = ()) -> str:
    """The document as indented JSON text, ending in a newline; the same bytes for the same input."""
    return to_text(document(comparison, gates))


def document(comparison: Comparison, gates: Sequence[GateResult] = ()) -> ComparisonJson:
    """Everything a comparison says."""
    return ComparisonJson(
        baseline=comparison.names[0],
        runs=[
            ArmJson(
                name=arm.name,
                versions=arm.versions,
                sources=[
                    SourceJson(path=one.path, kind=one.kind, daemons=list(one.runs), notes=list(one.notes))
                    for one in arm.observations
                ],
            )
            for arm in comparison.arms
        ],
        gates=[GateJson(gate=one.gate.text, run=one.arm, failed=one.is_failed, reason=one.reason) for one in gates],
        notices=[NoticeJson(runs=list(notice.arms), text=notice.text) for notice in comparison.notices],
        summary=list(comparison.sentences),
        work=[
            WorkJson(run=work.arm, measure=work.measure, ratio=work.ratio, equal=work.is_equal)
            for work in comparison.works
        ],
        confidence=comparison.confidence,
        metrics=[_metric(row) for row in comparison.rows],
        scaling=[
            ScalingJson(
                metric=one.metric.name,
                resource=one.resource,
                points=[made_of(ScalingPointJson, point) for point in one.points],
                knee=one.knee,
                noise_known=one.is_noise_known,
            )
            for one in comparison.scalings
        ],
        options=[made_of(DifferingOptionJson, one) for one in comparison.options],
        findings=[made_of(DifferingFindingJson, one) for one in comparison.findings],
    )


def _metric(row: MetricRow) -> MetricJson:
    return made_of(
        MetricJson,
        row.metric,
        values=list(row.values),
        samples=[list(figure.values) if figure is not None else [] for figure in row.figures],
        spreads=[figure.spread if figure is not None else None for figure in row.figures],
        printed=[figure.printed if figure is not None else None for figure in row.figures],
        ratios=[_own_ratio(row.figures[0]), *(one.ratio if one else None for one in row.judgements[1:])],
        verdict=row.verdict,
        verdicts=[None, *(_judgement(one) for one in row.judgements[1:])],
    )


def _own_ratio(figure: Figure | None) -> float | None:
    return 1.0 if figure is not None and figure.value else None


def _judgement(judgement: Judgement | None) -> JudgementJson | None:
    if judgement is None:
        return None
    return made_of(JudgementJson, judgement, ratio_low=judgement.low, ratio_high=judgement.high)
