"""A fleet as a document: one screen, and behind it every finding, outlier, group, option and OSD."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.fleet.overview import (
    COMPARED,
    LEAST_PEERS,
    OUTLYING,
    Drift,
    FleetFinding,
    Outlier,
    Overview,
    in_ranges,
)
from lsmlens.analyzer.fleet.rows import UNKNOWN
from lsmlens.analyzer.metrics import Metric, Unit
from lsmlens.analyzer.numbers import counted, percent, plain, size
from lsmlens.reports.document import (
    Block,
    Detail,
    Document,
    Paragraphs,
    Section,
    Statement,
    TableBlock,
    Tone,
    VerdictBlock,
)
from lsmlens.reports.jobs_csv import csv_of
from lsmlens.reports.tables import Column, Importance, tabulate

SHOWN: Final = 6  # findings, outliers, options and groups on the first screen
TRENDS_SHOWN: Final = 3
LEAST_COURSE: Final = 0.01  # of the highest; a course that stays within it is flat
NAMES_SHOWN: Final = 40  # characters of a list of OSDs there
TONES: Final = {Severity.CRITICAL: Tone.CRITICAL, Severity.WARNING: Tone.WARNING, Severity.INFO: Tone.INFO}
BARS: Final = "▁▂▃▄▅▆▇█"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FleetReport:
    """What there is to report: the look over a fleet, what it is of, and which groups come first."""

    overview: Overview
    subtitle: str = ""
    by: str = "class"


def document(overview: Overview, subtitle: str = "", by: str = "class") -> Document:
    """The fleet's report; `by` says which groups stand on the first screen."""
    daemons = overview.daemons
    days = overview.days
    hosts = daemons.filter(pl.col("host") != UNKNOWN)["host"].n_unique()
    facts = (
        ("OSDs", plain(daemons.height)),
        *((("hosts", plain(hosts)),) if hosts else ()),
        ("versions", _names_of(daemons["version"])),
        ("device classes", _names_of(daemons["class"])),
        ("days", f"{days[0]} to {days[-1]}" if len(days) > 1 else str(days[0])),
    )
    several = [name for name in ("class", "version") if daemons[name].n_unique() > 1]
    first = several if by == "class" and several else [by]
    order = [*first, *(one for one in overview.groups if one not in first)]
    sections = [
        Section("verdict", "Verdict", tuple(_verdict(overview))),
        Section("findings", "Findings", tuple(_findings(overview))),
        Section("outliers", "Outliers", tuple(_outliers(overview))),
        Section("groups", "Side by side", tuple(_groups(overview, order, first))),
        Section("drift", "Option drift", tuple(_drift(overview))),
        Section("osds", "Every OSD", (_heat(overview),)),
        Section("quality", "Data quality", (_quality(overview),)),
    ]
    more = "More: --full (all findings, outliers, groups, options, OSDs) · -o fleet.html (sortable) · -o osds.csv"
    return Document("Fleet", subtitle, facts, tuple(sections), more)


def compose(report: FleetReport) -> Document:
    """The document of a report that was asked for."""
    return document(report.overview, report.subtitle, report.by)


def to_csv(report: FleetReport) -> str:
    """One row an OSD: its sums, its metrics, and how far they lie from its peers'."""
    return csv_of(report.overview.daemons)


def _names_of(names: pl.Series) -> str:
    counts = names.value_counts(sort=True).head(4)
    said = [f"{name} ({plain(count)})" for name, count in counts.iter_rows()]
    return ", ".join([*said, *(["…"] if names.n_unique() > len(said) else [])])


def _verdict(overview: Overview) -> Iterator[Block]:
    counts = {severity: sum(one.severity is severity for one in overview.findings) for severity in Severity}
    words = {Severity.CRITICAL: "critical finding", Severity.WARNING: "warning", Severity.INFO: "note"}
    said = [Statement(counted(counts[one], words[one]), TONES[one]) for one in reversed(Severity) if counts[one]]
    if outliers := overview.outliers:
        are = "is an outlier" if len(outliers) == 1 else "are outliers"
        said.append(
            Statement(f"{plain(len(outliers))} of {counted(overview.daemons.height, 'OSD')} {are}", Tone.WARNING)
        )
    else:
        said.append(Statement("no OSD is an outlier"))
    yield VerdictBlock("", tuple(said))


def _findings(overview: Overview) -> Iterator[Block]:
    if not overview.findings:
        yield Paragraphs(("None of the rules that could be applied found anything.",), detail=Detail.BRIEF)
        return
    total = overview.daemons.height
    yield from _first_and_all(
        overview.findings,
        [
            Column[FleetFinding]("", lambda one: one.code, tone=lambda one: TONES[one.severity]),
            Column[FleetFinding]("finding", lambda one: one.title, left=True),
            Column[FleetFinding]("OSDs", lambda one: f"{plain(len(one.daemons))} of {plain(total)}"),
        ],
        [
            Column[FleetFinding]("which", lambda one: _short(one.daemons), left=True, importance=Importance.USUAL),
        ],
        [
            Column[FleetFinding]("which", lambda one: in_ranges(one.daemons), left=True),
            Column[FleetFinding]("least", lambda one: one.least, left=True),
            Column[FleetFinding]("greatest", lambda one: one.greatest, left=True),
        ],
        "findings",
        "lsmlens explain CODE says what a finding means.",
    )


def _outliers(overview: Overview) -> Iterator[Block]:
    note = f"Against OSDs of the same device class and release, by robust z-score: |z| above {OUTLYING}."
    if overview.unjudged:
        note += f" {counted(overview.unjudged, 'OSD')} with fewer than {LEAST_PEERS} such peers: not judged."
    if not overview.outliers:
        yield Paragraphs((note,), detail=Detail.BRIEF)
        return
    yield from _first_and_all(
        overview.outliers,
        [
            Column[Outlier]("OSD", lambda one: one.daemon),
            Column[Outlier]("host", lambda one: one.host, left=True, importance=Importance.USUAL),
            Column[Outlier]("metric", lambda one: one.deviations[0].metric.label, left=True),
            Column[Outlier]("value", lambda one: _shown(one.deviations[0].metric, one.deviations[0].value)),
            Column[Outlier]("median", lambda one: _shown(one.deviations[0].metric, one.deviations[0].median)),
            Column[Outlier]("z", lambda one: f"{one.deviations[0].score:+.1f}"),
        ],
        [
            Column[Outlier](
                "differs in",
                lambda one: (one.differs or ("nothing known",))[0],
                left=True,
                importance=Importance.USUAL,
            )
        ],
        [
            Column[Outlier]("peers", lambda one: str(one.peers)),
            Column[Outlier](
                "also",
                lambda one: "; ".join(
                    f"{also.metric.label} {_shown(also.metric, also.value)}" for also in one.deviations[1:]
                ),
                left=True,
            ),
            Column[Outlier]("differs in", lambda one: "; ".join(one.differs) or "nothing known", left=True),
        ],
        "outliers",
        note,
    )


def _groups(overview: Overview, order: Sequence[str], first: Sequence[str]) -> Iterator[Block]:
    for by in order:
        rows = overview.groups[by].to_dicts()
        if by in first:
            table = tabulate(_metric_columns(by), rows[:SHOWN])
            left = f"{len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
            yield TableBlock("", table, left, Detail.BRIEF)
        if by == "day" and len(rows) > 1:
            yield Paragraphs(tuple(_trends(rows)), detail=Detail.BRIEF)
        if by not in first or len(rows) > SHOWN:
            yield TableBlock(f"by {by}", tabulate(_metric_columns(by), rows), detail=Detail.FULL)


def _trends(rows: Sequence[Row]) -> Iterator[str]:
    """The course of the first metrics over the days, a bar a day."""
    for metric in COMPARED[:TRENDS_SHOWN]:
        values = [row[metric.name] for row in rows if row[metric.name] is not None][-60:]
        if len(values) > 1:
            least, most = min(values), max(values)
            steps = (
                round((value - least) / (most - least) * (len(BARS) - 1)) if most - least > LEAST_COURSE * most else 0
                for value in values
            )
            course = "".join(BARS[step] for step in steps)
            yield f"{metric.label} by day: {course} {_shown(metric, values[0])} to {_shown(metric, values[-1])}"


def _drift(overview: Overview) -> Iterator[Block]:
    if not overview.drift:
        yield Paragraphs(("OSDs of one device class and release run with the same options.",), detail=Detail.BRIEF)
        return
    yield from _first_and_all(
        overview.drift,
        [
            Column[Drift]("option", lambda one: one.name),
            Column[Drift]("usual", lambda one: _cut(one.values[0].value), left=True),
            Column[Drift]("other", lambda one: _cut(one.values[1].value), left=True),
        ],
        [Column[Drift]("whose", lambda one: _short(one.values[1].daemons), left=True)],
        [
            Column[Drift]("families", lambda one: ", ".join(one.families), left=True),
            Column[Drift](
                "values and whose",
                lambda one: "; ".join(f"{value.value}: {in_ranges(value.daemons)}" for value in one.values),
                left=True,
            ),
        ],
        "options",
        "Among OSDs of one device class and release.",
    )


def _heat(overview: Overview) -> Block:
    """Every OSD with every metric; cells far from the peers' median are marked."""
    columns = [
        Column[Row]("OSD", lambda row: row["daemon"]),
        *(Column[Row](name, lambda row, name=name: row[name], left=True) for name in ("host", "class", "version")),  # type: ignore[misc]
        *_metric_columns("daemon")[2:],
    ]
    return TableBlock(
        "",
        tabulate(columns, overview.daemons.to_dicts()),
        f"Marked where |z| is above {OUTLYING} within device class and release.",
        Detail.FULL,
    )


def _metric_columns(by: str) -> list[Column[Row]]:
    def cell(metric: Metric) -> Callable[[Row], str]:
        return lambda row: _shown(metric, row[metric.name])

    def tone(metric: Metric) -> Callable[[Row], str]:
        return lambda row: Tone.WARNING if abs(row.get(f"z:{metric.name}") or 0) > OUTLYING else ""

    return [
        Column(by, lambda row: str(row[by])),
        Column("OSDs", lambda row: plain(row["daemons"])),
        *(
            Column(
                metric.label, cell(metric), importance=Importance.USUAL if place else Importance.KEY, tone=tone(metric)
            )
            for place, metric in enumerate(COMPARED)
        ),
    ]


def _quality(overview: Overview) -> Block:
    texts = [f"{plain(overview.lines_read)} lines, {size(overview.bytes_read)} of logs were read."]
    if overview.events_rejected:
        texts.append(f"{plain(overview.events_rejected)} events could not be read.")
    if overview.members_unreadable:
        texts.append(f"{counted(overview.members_unreadable, 'file')} could not be read to the end.")
    is_bad = overview.events_rejected or overview.members_unreadable
    return Paragraphs(tuple(texts), detail=Detail.BRIEF if is_bad else Detail.FULL)


def _first_and_all(
    rows: Sequence[Any],
    both: Sequence[Column[Any]],
    brief: Sequence[Column[Any]],
    full: Sequence[Column[Any]],
    what: str,
    note: str,
) -> Iterable[TableBlock]:
    """The first rows for the first screen, and all of them, in all columns, behind it."""
    left = f"{len(rows) - SHOWN} more {what}. " if len(rows) > SHOWN else ""
    yield TableBlock("", tabulate([*both, *brief], rows[:SHOWN]), left + note, Detail.BRIEF)
    yield TableBlock(f"all {what}, in full", tabulate([*both, *full], rows), "", Detail.FULL)


def _short(names: Sequence[str]) -> str:
    """Names in ranges, cut where the list grows long."""
    return _cut(in_ranges(names))


def _cut(text: str) -> str:
    return text if len(text) <= NAMES_SHOWN else text[: NAMES_SHOWN - 1].rstrip(", ") + "…"


def _shown(metric: Metric, value: float | None) -> str:
    if value is None:
        return "-"
    return percent(value) if metric.unit is Unit.SHARE else plain(float(value), 4)
