"""The tables of a comparison, cells as people read them: all its reports for people print these.

Places are those of arms in the comparison, 0 the baseline; a table is.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from lsmlens.analyzer.comparison.comparison import Comparison, Figure, MetricRow
from lsmlens.analyzer.comparison.verdicts import Judgement, Verdict
from lsmlens.analyzer.comparison.work import Scaling, change
from lsmlens.analyzer.metrics import Better, Group, Metric, Unit
from lsmlens.analyzer.numbers import bytes_of, percent, plain, ratio, setting, time_of
from lsmlens.reports.document import Tone
from lsmlens.reports.tables import Column, Importance, Table, tabulate

TONES = {Verdict.BETTER: Tone.BETTER, Verdict.WORSE: Tone.WORSE}
SHOWN = (Verdict.BETTER, Verdict.WORSE, Verdict.SAME)
# Of an option, and of an arm at the head of its verdicts.
LONGEST_VALUE = 24
LONGEST_NAME = 12


def statistics(comparison: Comparison) -> Table:
    """The published "Compaction Statistics" table, one column an arm; digits of published tables as they were."""
    places = range(len(comparison.arms))
    rows = [
        (row.metric.label, *(_published(row.figures[place]) for place in places))
        for row in comparison.of(Group.STATISTICS)
    ]
    return Table(("", *(comparison.names[place] for place in places)), tuple(rows))


def _published(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    if figure.printed is not None:
        return figure.printed
    return plain(figure.value) + _spread(figure, lambda value: plain(value, 2))


def verdicts(comparison: Comparison, place: int, everything: bool = False) -> Table:
    """An arm's verdicts on the whole database, with their intervals.

    `everything` adds what is not significant or not comparable, and the verdicts on column families and client jobs.
    """
    names = (comparison.names[0], comparison.names[place])
    if max(map(len, names)) > LONGEST_NAME:
        names = ("baseline", "this arm")
    columns: tuple[Column[tuple[MetricRow, Judgement]], ...] = (
        Column("", lambda one: name_of(one[0])),
        Column(names[0], lambda one: _measured(one[0], 0)),
        Column(names[1], lambda one: _measured(one[0], place)),
        Column("change", lambda one: _change(one[1])),
        Column("95 % interval", lambda one: interval(one[1]), importance=Importance.USUAL),
        Column("verdict", lambda one: _verdict(one[1]), left=True, tone=lambda one: TONES.get(one[1].verdict)),
    )
    judged = _judged(comparison, place, everything)
    return tabulate(columns, [one for one in judged if everything or one[1].verdict in SHOWN])


def _measured(row: MetricRow, place: int) -> str:
    value = row.values[place]
    return "-" if value is None else _value(row.metric, value)


def counts(comparison: Comparison, place: int) -> Counter[Verdict]:
    """How many metrics of the whole database have which verdict in an arm."""
    return Counter(judgement.verdict for _, judgement in _judged(comparison, place, False))


def hidden(comparison: Comparison, place: int) -> str:
    """What `verdicts` hides without `everything`, counted; empty where it hides nothing."""
    said = _unjudged(judgement for _, judgement in _judged(comparison, place, False))
    return f"hidden: {said}" if said else ""


def unjudged(comparison: Comparison, group: Group) -> str:
    """How many metrics of parts have no verdict in `figures`, and why; empty where all have."""
    said = _unjudged(
        judgement
        for place in range(1, len(comparison.arms))
        for row, judgement in _judged(comparison, place, True)
        if row.metric.group is group
    )
    return f"without a verdict: {said}" if said else ""


def _unjudged(judgements: Iterable[Judgement]) -> str:
    """How many of these are not significant, and not comparable."""
    judged = list(judgements)
    unknown = sum(one.verdict is Verdict.NOT_SIGNIFICANT and is_noise_unknown(one) for one in judged)
    chance = sum(one.verdict is Verdict.NOT_SIGNIFICANT for one in judged) - unknown
    apart = sum(one.verdict is Verdict.NOT_COMPARABLE for one in judged)
    split = [f"{chance} perhaps by chance" if chance else "", f"{unknown} of unknown noise" if unknown else ""]
    said = [
        f"{chance + unknown} not significant ({', '.join(filter(None, split))})" if chance + unknown else "",
        f"{apart} not comparable" if apart else "",
    ]
    return ", ".join(filter(None, said))


def reasons(comparison: Comparison, place: int) -> list[str]:
    """Why metrics of an arm were not judged, each reason once with how many it is of, the most frequent first."""
    found: dict[str, int] = {}
    for _, judgement in _judged(comparison, place, True):
        if judgement.verdict not in SHOWN and judgement.p_value is None:
            said = f"{judgement.verdict}: {judgement.reason}"
            found[said] = found.get(said, 0) + 1
    return [f"{count} {said}" for said, count in sorted(found.items(), key=lambda item: (-item[1], item[0]))]


def is_noise_unknown(judgement: Judgement) -> bool:
    """Whether that is why there is no verdict."""
    return judgement.reason.startswith("noise unknown")


def _judged(comparison: Comparison, place: int, parts: bool) -> Iterator[tuple[MetricRow, Judgement]]:
    """The metrics that could be better or worse, with what is said of an arm; also those of parts if wanted."""
    for row in comparison.rows:
        judgement = row.judgements[place]
        if judgement is not None and row.metric.better is not Better.NEITHER and (parts or row.metric.part is None):
            yield row, judgement


def figures(comparison: Comparison, groups: Sequence[Group]) -> Table:
    """Values of the metrics of some sections, by how much they differ from the baseline's, and verdicts on parts.

    Rows in which every arm has 0 are left out, except that nothing stalled is worth saying.
    """
    places = range(len(comparison.arms))
    rows = [row for group in groups for row in comparison.of(group) if any(row.values) or group is Group.STALLS]
    judged = any(
        one is not None and one.verdict in SHOWN
        for row in rows
        if row.metric.part is not None
        for one in row.judgements
    )
    header, left = [""], [0]
    for place in places:
        header += [comparison.names[place], *(["change"] if place else [])]
        if place and judged:
            left.append(len(header))
            header.append("verdict")
    cells = []
    for row in rows:
        of_row = [name_of(row)]
        for place in places:
            judgement = row.judgements[place]
            of_row.append(cell(row.metric, row.figures[place]))
            of_row += [_change(judgement)] if place else []
            if place and judged:
                of_row.append(str(judgement.verdict) if judgement is not None and judgement.verdict in SHOWN else "")
        cells.append(tuple(of_row))
    return Table(tuple(header), tuple(cells), left=tuple(left))


def client_kinds(comparison: Comparison) -> dict[str, str]:
    """The kinds of metrics that clients measured, such as `client_iops`, with their labels."""
    return {row.metric.name.partition(".")[0]: row.metric.label for row in comparison.of(Group.CLIENTS)}


def client_matrix(comparison: Comparison, kind: str = "client_iops") -> Table:
    """One kind of metric by client job and arm, and after which arm returns diminish, where arms are amounts."""
    places = range(len(comparison.arms))
    knees = {one.metric.name: one.knee or "-" for one in comparison.scalings}
    rows = [row for row in comparison.of(Group.CLIENTS) if row.metric.name.partition(".")[0] == kind]
    has_knees = any(row.metric.name in knees for row in rows)
    cells = [
        (
            row.metric.part or "",
            *(_with_share(row.metric, row.figures[place]) for place in places),
            *([knees.get(row.metric.name, "-")] if has_knees else []),
        )
        for row in rows
    ]
    header = (rows[0].metric.label if rows else "", *(comparison.names[place] for place in places))
    return Table((*header, *(["diminishes after"] if has_knees else [])), tuple(cells))


def _with_share(metric: Metric, figure: Figure | None) -> str:
    """A value with its spread in per cent of it."""
    if figure is None:
        return "-"
    spread = f" ±{100 * figure.spread / figure.value:.1f} %" if figure.spread and figure.value else ""
    return _value(metric, figure.value) + spread


def options(comparison: Comparison) -> Table:
    """Options that are not the same in all arms; `option_sources` says where they were read."""
    places = range(len(comparison.arms))
    every = {
        option.family
        for arm in comparison.arms
        for one in arm.observations
        for daemon in one.daemons
        for option in daemon.options
        if option.family is not None
    }
    rows = [
        (one.name, _families(one.families, len(every)), *(_short(one.name, one.values[place]) for place in places))
        for one in comparison.options
    ]
    return Table(("option", "of", *(comparison.names[place] for place in places)), tuple(rows), left=(0, 1))


def option_sources(comparison: Comparison) -> list[str]:
    """Where the options that differ were read: each source, and what was read there of which arm."""
    read: dict[tuple[str, ...], list[str]] = {}
    for one in comparison.options:
        sources = tuple(source or "-" for source in one.sources)
        read.setdefault(sources if len(set(sources)) > 1 else sources[:1], []).append(one.name)
    said = []
    for sources, names in read.items():
        named = [f"{arm}: {source}" for arm, source in zip(comparison.names, sources, strict=False)]
        where = sources[0] if len(sources) == 1 else "; ".join(named)
        said.append(f"{', '.join(dict.fromkeys(names))}: {where}")
    return said


def findings(comparison: Comparison) -> Table:
    """Findings that some arms have and others have not, or not as severe."""
    places = range(len(comparison.arms))
    rows = [
        (f"{one.code} {one.title}", *(one.severities[place] or "-" for place in places)) for one in comparison.findings
    ]
    return Table(("", *(comparison.names[place] for place in places)), tuple(rows))


def scaling(found: Scaling) -> Table:
    """One metric over amounts of a resource: what each step gained, and its yield of what it added."""
    rows = [
        (
            point.arm,
            _value(found.metric, point.value),
            "-" if point.gain is None else change(point.gain),
            "-" if point.step_yield is None else percent(point.step_yield),
        )
        for point in found.points
    ]
    return Table((found.resource or "amount", found.metric.label, "gain", "yield"), tuple(rows))


def name_of(row: MetricRow) -> str:
    """A metric's label, with the column family or client's job it is of."""
    metric = row.metric
    if metric.part is None:
        return metric.label
    return (
        f"{metric.part}: {metric.label}"
        if metric.group is Group.CLIENTS
        else f"{metric.label}, {metric.part or chr(34) * 2}"
    )


def cell(metric: Metric, figure: Figure | None) -> str:
    """An arm's value in a unit people read, with its spread where there are several runs."""
    if figure is None:
        return "-"
    return _value(metric, figure.value) + _spread(figure, lambda value: _value(metric, value, 2))


def interval(judgement: Judgement) -> str:
    """The interval of a ratio, as changes: `-47.3 … -10.2 %`; empty where the noise is not known."""
    if judgement.low is None or judgement.high is None:
        return ""
    low, high = change(judgement.low), change(judgement.high)
    return f"{low.removesuffix(' %') if high.endswith('%') else low} … {high}"


def _spread(figure: Figure, shown: Callable[[float], str]) -> str:
    if figure.spread is None:
        return ""
    return f" ± {shown(figure.spread)}" if figure.spread else " ± 0"


def _value(metric: Metric, value: float, digits: int = 5) -> str:
    match metric.unit:
        case Unit.BYTES:
            return bytes_of(value)
        case Unit.BYTES_PER_SECOND:
            return f"{bytes_of(value)}/s"
        case Unit.SHARE:
            return percent(value)
        case Unit.RATIO:
            return ratio(value)
        case Unit.SECONDS if metric.group is not Group.STATISTICS:
            return time_of(value) if 0 < value < 1 else f"{value:.4g} s"
        case Unit.RECORDS if value >= 1e9:
            return f"{plain(round(value / 1e6))} M"
        case _:
            return plain(value, digits)


def _change(judgement: Judgement | None) -> str:
    return "-" if judgement is None or judgement.ratio is None else change(judgement.ratio)


def _verdict(judgement: Judgement) -> str:
    if judgement.verdict is not Verdict.NOT_SIGNIFICANT:
        return str(judgement.verdict)
    return "noise unknown" if is_noise_unknown(judgement) else "not significant"


def _families(names: Sequence[str], every: int) -> str:
    if not names:
        return "database"
    if len(names) == every:
        return "all families"
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"


def _short(name: str, value: str | None) -> str:
    if value is None:
        return "-"
    shown = "; ".join(setting(name, one) for one in value.split("; "))
    return shown if len(shown) <= LONGEST_VALUE else shown[: LONGEST_VALUE - 1] + "…"
