"""A comparison: arms side by side, metric by metric, each against the first, with verdicts and how sure they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from lsmlens.analyzer.comparison.arms import Arm
from lsmlens.analyzer.comparison.client_jobs import client_samples, incomplete_notes
from lsmlens.analyzer.comparison.differences import (
    FindingDifference,
    OptionDifference,
    finding_differences,
    option_differences,
)
from lsmlens.analyzer.comparison.estimates import CONFIDENCE, WITHIN, Estimate, of_repeated_runs
from lsmlens.analyzer.comparison.judging import judge_arm
from lsmlens.analyzer.comparison.observations import Kind
from lsmlens.analyzer.comparison.scaling import Scaling, scaling_of
from lsmlens.analyzer.comparison.sentences import summary
from lsmlens.analyzer.comparison.verdicts import SIGNIFICANCE, Judgement, Verdict
from lsmlens.analyzer.comparison.work import Work, work_notices, work_of
from lsmlens.analyzer.metrics import METRICS, Group, Metric, of_part, order_of_part


@dataclass(frozen=True, slots=True)
class Figure:
    """What an arm says of a metric: one value for each of its runs, and a published table's digits."""

    values: tuple[float, ...]
    printed: str | None = None

    @property
    def value(self) -> float:
        """The mean over runs."""
        return self.values[0] if len(self.values) == 1 else sum(self.values) / len(self.values)

    @property
    def samples(self) -> int:
        """How many runs there are."""
        return len(self.values)

    @property
    def spread(self) -> float | None:
        """Standard deviation between runs; None for a single one."""
        if len(self.values) < 2:
            return None
        mean = self.value
        spread = sqrt(sum((value - mean) ** 2 for value in self.values) / (len(self.values) - 1))
        return spread if spread > 1e-12 * abs(mean) else 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """One metric over all arms: None where an arm does not tell, and of judgements for the baseline."""

    metric: Metric
    figures: tuple[Figure | None, ...]
    judgements: tuple[Judgement | None, ...]

    @property
    def values(self) -> tuple[float | None, ...]:
        """The arms' values."""
        return tuple(figure.value if figure is not None else None for figure in self.figures)

    @property
    def verdict(self) -> Verdict:
        """The most worrying of all arms' verdicts."""
        judged = [judgement.verdict for judgement in self.judgements if judgement is not None]
        return min(judged, key=lambda verdict: verdict.rank, default=Verdict.NOT_COMPARABLE)


@dataclass(frozen=True, slots=True)
class Notice:
    """What to know before believing a verdict, and the arms it is of; none where it is of all together."""

    text: str
    arms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Arms compared; the first is the baseline. Rows come by section, in the order their metrics are declared."""

    arms: tuple[Arm, ...]
    rows: tuple[Row, ...]
    notices: tuple[Notice, ...]
    sentences: tuple[str, ...]
    options: tuple[OptionDifference, ...]
    findings: tuple[FindingDifference, ...]
    scalings: tuple[Scaling, ...]
    works: tuple[Work, ...]
    """Of each arm but the baseline."""
    confidence: float = CONFIDENCE

    @property
    def names(self) -> tuple[str, ...]:
        """The arms' names."""
        return tuple(arm.name for arm in self.arms)

    def of(self, group: Group) -> tuple[Row, ...]:
        """The rows of one section."""
        return tuple(row for row in self.rows if row.metric.group is group)

    def row(self, name: str) -> Row | None:
        """The row of a metric, by its name or an alias (also of a part: `write_amp.p-0`); None if there is none."""
        exact = next((row for row in self.rows if row.metric.name == name), None)
        return exact or next((row for row in self.rows if row.metric.name == resolve(name)), None)


def resolve(name: str) -> str:
    """The name of the metric that a name or alias means."""
    kind, point, part = name.partition(".")
    found = next((metric.name for metric in METRICS if kind in metric.aliases), kind)
    return found + point + part


def compare(arms: Sequence[Arm]) -> Comparison:
    """Compare arms that were read, two or more, with the first."""
    figures = _figures(arms)
    works = tuple(work_of(arms[0], arm) for arm in arms[1:])
    judged: list[Mapping[str, Judgement]] = [{}]
    for place, work in enumerate(works, 1):
        pairs = {metric: (_values(of_arms[0]), _values(of_arms[place])) for metric, of_arms in figures.items()}
        judged.append(judge_arm(arms[0], arms[place], work, pairs))
    rows = tuple(
        Row(metric, of_arms, tuple(one.get(metric.name) for one in judged)) for metric, of_arms in figures.items()
    )
    names = [arm.name for arm in arms]
    return Comparison(
        arms=tuple(arms),
        rows=rows,
        notices=tuple(_notices(arms, works, rows)),
        sentences=tuple(summary(names, rows, works)),
        options=option_differences(arms),
        findings=finding_differences(arms),
        scalings=tuple(_scalings(names, rows)),
        works=works,
    )


def _figures(arms: Sequence[Arm]) -> dict[Metric, tuple[Figure | None, ...]]:
    """What each arm says of each metric that any of them tells of, in the order of sections."""
    clients = client_samples([arm.observations for arm in arms])
    told: list[dict[str, list[float]]] = []
    for arm, samples in zip(arms, clients, strict=True):
        values: dict[str, list[float]] = {}
        for observation, jobs in zip(arm.observations, samples, strict=True):
            for name, value in observation.values.items():
                values.setdefault(name, []).append(value)
            for job, repeats in jobs.items():
                for name, value in ((f"{kind}.{job}", value) for one in repeats for kind, value in one.items()):
                    values.setdefault(name, []).append(value)
        told.append(values)
    printed = [arm.observations[0].printed if len(arm.observations) == 1 else {} for arm in arms]
    named = sorted({name for one in told for name in one if "." in name})
    parts = sorted((metric for name in named if (metric := of_part(name)) is not None), key=order_of_part)
    metrics = sorted((*METRICS, *parts), key=lambda metric: list(Group).index(metric.group))
    return {
        metric: tuple(
            Figure(tuple(one[metric.name]), digits.get(metric.name)) if metric.name in one else None
            for one, digits in zip(told, printed, strict=True)
        )
        for metric in metrics
        if any(metric.name in one for one in told)
    }


def _values(figure: Figure | None) -> tuple[float, ...]:
    return figure.values if figure is not None else ()


def _notices(arms: Sequence[Arm], works: Sequence[Work], rows: Sequence[Row]) -> Iterator[Notice]:
    """What was read badly, what work was unequal, and what the intervals do not tell."""
    of_arms: dict[str, list[str]] = {}
    for arm in arms:
        for text in _data_notices(arm):
            of_arms.setdefault(text, []).append(arm.name)
    for arm, work in zip(arms[1:], works, strict=True):
        for text in work_notices(arms[0], arm, work):
            of_arms.setdefault(text, []).append(arm.name)
    for text, names in of_arms.items():
        yield Notice(text, tuple(names))
    told = [f"{arm.name}: {arm.versions}" for arm in arms if arm.versions]
    if len({arm.versions for arm in arms if arm.versions}) > 1:
        yield Notice(f"the arms ran unlike versions ({'; '.join(told)})")
    if any(one is not None and one.method == WITHIN for row in rows for one in row.judgements):
        yield Notice(
            "one run of each arm: intervals tell what happens by chance within a run, not what differs from run to run"
        )


def _data_notices(arm: Arm) -> Iterator[str]:
    """What is to be known of an arm's data; of which of its paths, where it is not of all."""
    paths: dict[str, list[str]] = {}
    for observation in arm.observations:
        notes = [*observation.notes, *incomplete_notes(observation.client_results)]
        if observation.kind is Kind.ANALYSIS and observation.windows is None:
            notes.append("saved without window sums: save it anew to have its noise known")
        for note in notes:
            paths.setdefault(note, []).append(observation.path)
    for note, where in paths.items():
        yield note if len(where) == len(arm.observations) else f"{note} ({', '.join(where)})"


def _scalings(names: Sequence[str], rows: Sequence[Row]) -> Iterator[Scaling]:
    for row in rows:
        figures = [figure for figure in row.figures if figure is not None]
        if len(figures) == len(names):
            found = scaling_of(row.metric, names, [figure.value for figure in figures], _sureness(figures))
            if found is not None:
                yield found


def _sureness(figures: Sequence[Figure]) -> list[list[bool | None]]:
    """Whether two arms differ beyond chance; None where one run of each does not tell."""
    return [[_differ(one, other) for other in figures] for one in figures]


def _differ(one: Figure, other: Figure) -> bool | None:
    if one.samples == other.samples == 1:
        return None
    found = of_repeated_runs(one.values, other.values, SIGNIFICANCE)
    return found.p_value < SIGNIFICANCE if isinstance(found, Estimate) else None
