"""A comparison: arms side by side, metric by metric, each against the first, with verdicts and how sure they are."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from lsmlens.analyzer.comparison.arms import Arm
from lsmlens.analyzer.comparison.client_jobs import client_samples, incomplete_notes
from lsmlens.analyzer.comparison.estimates import CONFIDENCE, WITHIN, Estimate, of_repeated_runs
from lsmlens.analyzer.comparison.observations import Kind
from lsmlens.analyzer.comparison.verdicts import SIGNIFICANCE, Judgement, Verdict, judge_arm
from lsmlens.analyzer.comparison.work import MEASURES, Scaling, Work, scaling_of, work_notices, work_of
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.metrics import METRICS, Group, Metric, of_part, order_of_part
from lsmlens.analyzer.options.option_strings import same_value


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
class MetricRow:
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
class OptionDifference:
    """One option that is not the same in all arms; of the column families `families`, none for the whole database.

    `values` and `sources` are one for each arm, None where an arm does not tell.
    """

    name: str
    families: tuple[str, ...]
    values: tuple[str | None, ...]
    sources: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class FindingDifference:
    """One finding that some arms have and some have not, or not as severe; `severities` one for each arm.

    An arm that cannot have findings, such as a table, counts as None too.
    """

    code: str
    title: str
    severities: tuple[str | None, ...]
    families: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Arms compared; the first is the baseline. Rows come by section, in the order their metrics are declared."""

    arms: tuple[Arm, ...]
    rows: tuple[MetricRow, ...]
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

    def of(self, group: Group) -> tuple[MetricRow, ...]:
        """The rows of one section."""
        return tuple(row for row in self.rows if row.metric.group is group)

    def row(self, name: str) -> MetricRow | None:
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
        MetricRow(metric, of_arms, tuple(one.get(metric.name) for one in judged)) for metric, of_arms in figures.items()
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


def _notices(arms: Sequence[Arm], works: Sequence[Work], rows: Sequence[MetricRow]) -> Iterator[Notice]:
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
    for arm in arms[1:]:
        if arms[0].osds and arm.osds:
            same = arms[0].osds.keys() == arm.osds.keys()
            whose = (
                f"the same {len(arm.osds)} OSDs, each against itself" if same else "OSDs, of which the arms have others"
            )
            yield Notice(f"intervals are over {whose}", (arm.name,))
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


def _scalings(names: Sequence[str], rows: Sequence[MetricRow]) -> Iterator[Scaling]:
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


# table_factory.flush_block_policy_factory: FlushBlockBySizePolicyFactory (0x557e4c98ec90)
_ADDRESS = re.compile(r"\s*\(?0x[0-9a-f]{6,}\)?")
# Option strings whose options are listed one by one as well.
_COMPOSED = ("bluestore_rocksdb_options", "bluestore_rocksdb_options_annex", "bluestore_rocksdb_cfs")


def option_differences(arms: Sequence[Arm]) -> tuple[OptionDifference, ...]:
    """Options that arms do not share, those of the same values in several families together; by name.

    Options that only one arm tells of say nothing. Daemons of an arm that differ are told one after another.
    """
    told = [_options(arm) for arm in arms]
    alike: dict[tuple[str, tuple[str | None, ...]], list[tuple[str | None, list[_Told | None]]]] = {}
    for family, name in sorted({key for one in told for key in one}, key=lambda key: (key[1], key[0] or "")):
        found = [one.get((family, name)) for one in told]
        values = tuple("; ".join(one.values) if one else None for one in found)
        if _option_differs([value for value in values if value is not None]):
            alike.setdefault((name, values), []).append((family, found))
    return tuple(
        OptionDifference(
            name,
            tuple(family for family, _ in of_families if family is not None),
            values,
            tuple(_sources([found[place] for _, found in of_families]) for place in range(len(arms))),
        )
        for (name, values), of_families in alike.items()
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """The values the daemons of an arm have for one option, each once, and where they were read."""

    values: list[str]
    sources: list[str]


def _options(arm: Arm) -> dict[tuple[str | None, str], _Told]:
    """(family, name) -> what its daemons tell, without addresses in memory and what is told option by option too."""
    found: dict[tuple[str | None, str], _Told] = {}
    for daemon in (daemon for one in arm.observations for daemon in one.daemons):
        tells_each = any(option.family is not None for option in daemon.options)
        for option in daemon.options:
            if tells_each and option.name in _COMPOSED:
                continue
            value = _ADDRESS.sub("", option.value)
            told = found.setdefault((option.family, option.name), _Told([], []))
            if not any(same_value(value, other) for other in told.values):
                told.values.append(value)
            if option.source not in told.sources:
                told.sources.append(option.source)
    return found


def _sources(told: Sequence[_Told | None]) -> str | None:
    found = dict.fromkeys(source for one in told if one is not None for source in one.sources)
    return "; ".join(found) or None


def _option_differs(values: Sequence[str]) -> bool:
    return len(values) > 1 and any(not same_value(values[0], value) for value in values[1:])


def finding_differences(arms: Sequence[Arm]) -> tuple[FindingDifference, ...]:
    """Findings by code, the most severe of each arm, where arms differ."""
    severest: dict[str, list[str | None]] = {}
    titles: dict[str, str] = {}
    families: dict[str, set[str]] = {}
    for place, arm in enumerate(arms):
        for found in (found for one in arm.observations for daemon in one.daemons for found in daemon.findings):
            titles.setdefault(found.code, found.title)
            of_arms = severest.setdefault(found.code, [None] * len(arms))
            known = of_arms[place]
            if known is None or Severity(found.severity).rank > Severity(known).rank:
                of_arms[place] = found.severity
            if found.family is not None:
                families.setdefault(found.code, set()).add(found.family)
    return tuple(
        FindingDifference(code, titles[code], tuple(severest[code]), tuple(sorted(families.get(code, ()))))
        for code in sorted(severest)
        if len(set(severest[code])) > 1
    )


# What the first sentence tells of: of totals where arms did the same work, else per record.
_TOTALS = ("flush_bytes", "compaction_output_bytes", "table_bytes")
_PER_RECORD = ("flush_bytes_per_record", "compaction_bytes_per_record", "table_bytes_per_record")
_PUBLISHED = ("total_output_size_mib", "total_compaction_seconds", "total_input_records")
_NOTEWORTHY = 0.005
_NAMED = 4


def summary(names: Sequence[str], rows: "Sequence[MetricRow]", works: Sequence[Work]) -> Iterator[str]:
    """For each arm what it writes, its write amplification and what that leaves out, what is better and worse."""
    by_name = {row.metric.name: row for row in rows}
    for place, work in enumerate(works, 1):
        for said in (_bytes(by_name, place, work), _amplification(by_name, place), _verdicts(rows, place)):
            if said:
                yield f"{names[place]}: {said}"


def in_words(ratio: float) -> str:
    """A ratio as a change: `up 5.8 %`, `down 46.1 %`, `4.2 times as much`, `unchanged`."""
    if ratio >= 3:
        return f"{ratio:.3g} times as much"
    percent = 100 * (ratio - 1)
    if abs(percent) < 0.05:
        return "unchanged"
    return f"{'up' if percent > 0 else 'down'} {abs(percent):.1f} %"


def _bytes(rows: "dict[str, MetricRow]", place: int, work: Work) -> str:
    names = _TOTALS if work.is_equal else _PER_RECORD
    if not any(name in rows for name in names):
        names = _PUBLISHED
    judged = [(rows[name].metric.label, _judgement(rows, name, place)) for name in names if name in rows]
    told = [(label, one) for label, one in judged if one is not None and one.ratio is not None]
    said = ", ".join(f"{label} {in_words(one.ratio or 0.0)}{_sure(one)}" for label, one in told)
    if not said or work.measure is None or work.ratio is None:
        return said
    measure = f"{MEASURES[work.measure]} {in_words(work.ratio)}"
    if not work.is_equal:
        return f"{said}; {measure}"
    return f"{said}; {'over the same time' if work.is_by_time else 'for the same work'} ({measure})"


def _sure(judgement: Judgement) -> str:
    if judgement.verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.SAME):
        return ""
    return " (noise unknown)" if judgement.reason.startswith("noise unknown") else f" ({judgement.verdict})"


def _amplification(rows: "dict[str, MetricRow]", place: int) -> str:
    """Write amplification divides by flush bytes: it falls where more is flushed, and says nothing of that."""
    row, amplification = rows.get("write_amplification_lsm"), _judgement(rows, "write_amplification_lsm", place)
    if row is None or amplification is None or amplification.ratio is None:
        return ""
    before, after = row.values[0], row.values[place]
    is_unknown = amplification.reason.startswith("noise unknown")
    how = "noise unknown" if is_unknown else str(amplification.verdict)
    said = f"write amplification (LSM) {before:.3g} to {after:.3g}, {how}"
    flushed = _judgement(rows, "flush_bytes_per_record", place)
    if flushed is None or flushed.ratio is None or flushed.verdict not in (Verdict.BETTER, Verdict.WORSE):
        return said
    if abs(flushed.ratio - 1) < _NOTEWORTHY or (amplification.ratio < 1) == (flushed.ratio < 1):
        return said
    way = "down" if flushed.ratio > 1 else "up"
    return f"{said}; flush bytes per record {in_words(flushed.ratio)} alone move it {way}: see table bytes per record"


def _verdicts(rows: "Sequence[MetricRow]", place: int) -> str:
    """How many metrics became better, worse and stayed: of the whole database, or else what clients measured."""
    whole = [row for row in rows if row.metric.part is None]
    labels: dict[Verdict, list[str]] = {verdict: [] for verdict in Verdict}
    for row in whole or rows:
        judgement = row.judgements[place]
        if judgement is not None:
            part = f"{row.metric.part}: " if row.metric.part is not None else ""
            labels[judgement.verdict].append(part + row.metric.label)
    said = []
    for verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.SAME):
        found = labels[verdict]
        if found:
            which = f" ({', '.join(found)})" if verdict is Verdict.WORSE and len(found) <= _NAMED else ""
            said.append(f"{verdict} in {len(found)} metric{'' if len(found) == 1 else 's'}{which}")
    if said:
        return ", ".join(said)
    if labels[Verdict.NOT_SIGNIFICANT] and all(_is_unknown(row, place) for row in rows):
        return "no verdicts: what one run of each arm says by chance is not known"
    return "no metric tells it from the baseline beyond chance"


def _is_unknown(row: "MetricRow", place: int) -> bool:
    judgement = row.judgements[place]
    is_open = judgement is not None and judgement.verdict is Verdict.NOT_SIGNIFICANT
    return not is_open or (judgement is not None and judgement.reason.startswith("noise unknown"))


def _judgement(rows: "dict[str, MetricRow]", name: str, place: int) -> Judgement | None:
    row = rows.get(name)
    return row.judgements[place] if row is not None else None
