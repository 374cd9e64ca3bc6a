"""A look over a fleet: counts, findings once, outliers with what differs about them, groups side by side, drift.

The jobs of all days are summed once, by daemon and day, over the lazily read data set; every grouping here adds these
sums up and applies the metrics' formulas to them.

An outlier is an OSD whose metric lies far from the others of its device class and release, by the modified z-score
0.6745 (x - median) / MAD, |z| > 3.5 (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Final, Protocol

import polars as pl
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.metrics import LOG_SECONDS, SUMS, WORK, Metric, metric_named, sums_of

OUTLYING: Final = 3.5
NOTABLE: Final = 0.1  # of the median; among OSDs that are all but alike a trifle would stand out (ours)
LEAST_PEERS: Final = 5  # OSDs of one class and release, without which a median says little (ours)
IDENTITY: Final = ("cluster", "daemon")
GROUPINGS: Final = ("host", "class", "version", "day")

COMPARED: Final[tuple[Metric, ...]] = tuple(
    metric
    for name in (
        "write_amplification_lsm",
        "compaction_busy_share",
        "compaction_seconds_per_flushed_gib",
        "flush_survival_share",
        "table_bytes_per_record",
        "table_bytes_per_client_byte",
    )
    if (metric := metric_named(name)) is not None
)
_COVERED: Final = ("covered_client_writes", "covered_client_write_bytes")
_PER_READING: Final = (LOG_SECONDS, "stall_lines")


class Source(Protocol):
    """What is looked over: a data set, or the runs of an analysis."""

    @property
    def name(self) -> str:
        """What it is called."""

    def scan(self, table: str) -> pl.LazyFrame:
        """A table, with the cluster, host, daemon and day of each row as columns."""


@dataclass(frozen=True, slots=True)
class FleetFinding:
    """A rule that fired, over all OSDs; `least` and `greatest` are the values at the ends of the range."""

    code: str
    title: str
    severity: Severity
    daemons: tuple[str, ...]
    least: str
    greatest: str


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far one metric of an OSD lies from its peers' median."""

    metric: Metric
    value: float
    median: float
    score: float


@dataclass(frozen=True, slots=True)
class Outlier:
    """An OSD unlike its peers, in which metrics, the farthest first, and what else differs about it."""

    daemon: str
    host: str
    peers: int
    deviations: tuple[Deviation, ...]
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OptionValue:
    """One value of an option, and the OSDs that run with it."""

    value: str
    daemons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drift:
    """An option that OSDs of one class and release run with differently, the commonest value first."""

    name: str
    families: tuple[str, ...]
    values: tuple[OptionValue, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """What a fleet comes to. Frames hold the columns of `sums_of` and of each metric of COMPARED.

    `daemons` has a row an OSD with cluster, daemon, host, class, version and the score `z:METRIC` of each metric;
    `groups` has a frame for each of GROUPINGS, with how many OSDs (`daemons`) are in it. `unjudged` OSDs have too few
    peers for a median.
    """

    daemons: pl.DataFrame
    groups: Mapping[str, pl.DataFrame]
    findings: tuple[FleetFinding, ...]
    outliers: tuple[Outlier, ...]
    drift: tuple[Drift, ...]
    days: tuple[date, ...]
    unjudged: int
    bytes_read: int
    lines_read: int
    events_rejected: int
    members_unreadable: int


def overview(dataset: Source, where: str | None = None) -> Overview:
    """Look over a data set, or over the days and daemons of which `where` holds.

    `where` is an SQL condition over cluster, host, daemon, class, version and day (as '2026-11-20'). Monitors are left
    out. Raises LsmlensError for a condition that cannot be understood, and where nothing is left to look over.
    """
    readings = _readings(dataset)
    if where is not None:
        try:
            told = readings.with_columns(pl.col("day").dt.to_string("%F")).with_columns(holds=pl.sql_expr(where))
            readings = readings.filter(told["holds"].cast(pl.Boolean))
        except pl.exceptions.PolarsError as error:
            columns = ", ".join(("cluster", "daemon", *GROUPINGS))
            what = str(error).splitlines()[0]
            raise LsmlensError(f"--where: {where}: {what}", f"an SQL condition over {columns}") from error
    if not readings.height:
        raise LsmlensError(
            f"{dataset.name}: nothing to look over", "no OSD is in it" if where is None else "make --where less strict"
        )
    daily = _daily(dataset, readings)
    daemons = _scored(_grouped(daily, IDENTITY, ("host", "class", "version")))
    options = _options(dataset, readings)
    names = _names(readings)
    return Overview(
        daemons=daemons,
        groups={by: _grouped(daily, (by,), ()) for by in GROUPINGS},
        findings=_findings(dataset, readings, names),
        outliers=tuple(_outliers(daemons, options, names)),
        drift=tuple(_drift(options, names)),
        days=tuple(readings["day"].unique().sort()),
        unjudged=daemons.filter(pl.col("peers") < LEAST_PEERS).height,
        bytes_read=int(readings["bytes"].sum()),
        lines_read=int(readings["lines"].sum()),
        events_rejected=int(readings["events_rejected"].sum()),
        members_unreadable=int(readings["members_unreadable"].sum()),
    )


def _readings(dataset: Source) -> pl.DataFrame:
    """What was read, a row a daemon and day, with the daemon's latest host, class and version; time read once."""
    ended = pl.col("ended_at").cum_max().shift(1).over(*IDENTITY, "day")
    seconds = (pl.col("ended_at") - pl.max_horizontal("began_at", ended)).dt.total_microseconds() / 1e6
    version = pl.coalesce("ceph_version", pl.format("RocksDB {}", "rocksdb_version"), pl.lit("unknown"))
    latest = [
        pl.col("host").last(),
        pl.col("device_class").drop_nulls().last().fill_null("unknown").alias("class"),
        version.last().alias("version"),
    ]
    rows = (
        dataset.scan("readings")
        .filter(~pl.col("daemon").str.starts_with("mon."))
        .sort("began_at")
        .collect()
        .with_columns(seconds.clip(0).alias(LOG_SECONDS))
    )
    attributes = rows.group_by(*IDENTITY).agg(latest)
    return (
        rows.group_by(*IDENTITY, "day")
        .agg(
            pl.col(*_PER_READING, "bytes", "lines", "events_rejected", "members_unreadable").sum(),
            *(pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name) for name in _COVERED),
        )
        .join(attributes, on=IDENTITY)
        .sort(*IDENTITY, "day")
    )


def _daily(dataset: Source, readings: pl.DataFrame) -> pl.DataFrame:
    """The sums of all jobs by daemon and day, with what the readings add to them."""
    jobs = dataset.scan("jobs").filter(pl.col("day").is_between(readings["day"].min(), readings["day"].max()))
    sums = sums_of(jobs, by=[*IDENTITY, "day"]).collect()
    return readings.join(sums, on=[*IDENTITY, "day"], how="left").with_columns(pl.col(*SUMS).fill_null(0))


def _grouped(daily: pl.DataFrame, by: Sequence[str], also: Sequence[str]) -> pl.DataFrame:
    """The sums added up by group, with the metrics; counters only where they cover all of a group's time."""
    covered = (pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name) for name in _COVERED)
    return (
        daily.group_by(*by)
        .agg(
            pl.struct(IDENTITY).n_unique().alias("daemons"),
            *(pl.col(name).last() for name in also),
            pl.col(*SUMS, *_PER_READING).sum(),
            *covered,
        )
        .with_columns(metric.formula for metric in COMPARED)
        .sort(*by)
    )


def _scored(daemons: pl.DataFrame) -> pl.DataFrame:
    """How far each metric of each daemon lies from its peers' median; null where there are too few peers."""
    peers = ("class", "version")

    def score(name: str) -> pl.Expr:
        value = pl.col(name)
        distance = value - value.median().over(peers)
        spread = distance.abs().median().over(peers)
        # Where more than half are alike, the mean distance stands for the median one (Iglewicz and Hoaglin).
        scale = pl.when(spread > 0).then(spread / 0.6745).otherwise(distance.abs().mean().over(peers) * 1.2533)
        is_known = (pl.len().over(peers) >= LEAST_PEERS) & (scale > 0)
        return pl.when(is_known).then(distance / scale).alias(f"z:{name}")

    medians = (pl.col(metric.name).median().over(peers).alias(f"median:{metric.name}") for metric in COMPARED)
    return daemons.with_columns(
        pl.len().over(peers).alias("peers"),
        *(score(metric.name) for metric in COMPARED),
        *medians,
        pl.col(WORK).median().over(peers).alias(f"median:{WORK}"),
    )


def _outliers(daemons: pl.DataFrame, options: pl.DataFrame, names: Mapping[tuple[str, str], str]) -> Iterable[Outlier]:
    found = []
    for row in daemons.iter_rows(named=True):
        deviations = [
            Deviation(metric, row[metric.name], row[f"median:{metric.name}"], score)
            for metric in COMPARED
            if (score := row[f"z:{metric.name}"]) is not None
            and abs(score) > OUTLYING
            and abs(row[metric.name] - row[f"median:{metric.name}"]) > NOTABLE * abs(row[f"median:{metric.name}"])
        ]
        if deviations:
            found.append((row, tuple(sorted(deviations, key=lambda one: -round(abs(one.score), 1)))))
    for row, farthest in sorted(found, key=lambda one: -abs(one[1][0].score)):
        work, usual = row[WORK], row[f"median:{WORK}"]
        load = (f"takes {work / usual:.2g} times their records",) if usual and not 0.5 <= work / usual <= 2 else ()
        key = (row["cluster"], row["daemon"])
        yield Outlier(names[key], row["host"], row["peers"], farthest, (*_own_options(options, *key), *load))


def _options(dataset: Source, readings: pl.DataFrame) -> pl.DataFrame:
    """The options of each daemon's last day that its class and release do not agree on, with the usual value.

    What nearly each daemon has for itself, such as paths, is no option to compare.
    """
    last = readings.group_by(*IDENTITY).agg(pl.col("day").max(), pl.col("class", "version").last())
    option = ["scope", "column_family", "name"]
    rows = dataset.scan("options").join(last.lazy(), on=[*IDENTITY, "day"])
    values = (
        rows.group_by("class", "version", *option, "value")
        .agg(pl.len().alias("count"))
        .with_columns(
            pl.len().over("class", "version", *option).alias("values"),
            pl.col("count").sum().over("class", "version", *option).alias("all"),
            pl.col("value").sort_by("count", descending=True).first().over("class", "version", *option).alias("usual"),
        )
        .filter((pl.col("values") > 1) & (2 * pl.col("values") <= pl.col("all")))
    )
    return (
        rows.join(values, on=["class", "version", *option, "value"], nulls_equal=True)
        .select(*IDENTITY, "class", "version", *option, "value", "usual", "count")
        .sort(*IDENTITY, *option)
        .collect()
    )


def _own_options(options: pl.DataFrame, cluster: str, daemon: str) -> list[str]:
    """The options of one daemon whose values are not its peers' usual ones, families together."""
    own = options.filter(pl.col("value") != pl.col("usual"), cluster=cluster, daemon=daemon)
    together = own.group_by("name", "value", "usual", maintain_order=True).agg(
        pl.col("column_family").drop_nulls().unique().sort()
    )
    return [
        f"{name}{f' of {_few(families)}' if families else ''} {value}, not {usual}"
        for name, value, usual, families in together.iter_rows()
    ]


def _few(families: Sequence[str]) -> str:
    return ", ".join(families[:3]) + (f" and {len(families) - 3} more" if len(families) > 3 else "")


def _drift(options: pl.DataFrame, names: Mapping[tuple[str, str], str]) -> Iterable[Drift]:
    """Each option that peers disagree on; those of several families that differ alike together."""
    alike: dict[tuple[str, tuple[OptionValue, ...]], list[str]] = {}
    for (name, family), some in options.group_by("name", "column_family", maintain_order=True):
        by_value: dict[str, list[str]] = {}
        for cluster, daemon, value in some.select(*IDENTITY, "value").iter_rows():
            by_value.setdefault(value, []).append(names[cluster, daemon])
        values = [OptionValue(value, tuple(whose)) for value, whose in by_value.items()]
        key = str(name), tuple(sorted(values, key=lambda one: -len(one.daemons)))
        alike.setdefault(key, []).extend([str(family)] if family is not None else [])
    for (option, found), families in sorted(alike.items(), key=lambda one: one[0][0]):
        yield Drift(option, tuple(families), found)


def _findings(
    dataset: Source, readings: pl.DataFrame, names: Mapping[tuple[str, str], str]
) -> tuple[FleetFinding, ...]:
    """Each code once, by the findings of each daemon's last day that has any reading."""
    last = readings.group_by(*IDENTITY).agg(pl.col("day").max())
    rows = dataset.scan("findings").join(last.lazy(), on=[*IDENTITY, "day"]).sort(*IDENTITY, "code").collect()
    found = []
    for (code,), some in rows.group_by("code", maintain_order=True):
        values = sorted(some["value"].unique(), key=_number)
        severity = max((Severity(one) for one in some["severity"].unique()), key=lambda one: one.rank)
        daemons = tuple(names[key] for key in some.select(*IDENTITY).unique(maintain_order=True).iter_rows())
        found.append(FleetFinding(str(code), some["title"][0], severity, daemons, values[0], values[-1]))
    return tuple(sorted(found, key=lambda one: (-one.severity.rank, -len(one.daemons), one.code)))


def _number(text: str) -> tuple[float, str]:
    """What orders values as they are shown: their first number."""
    match = re.search(r"-?\d+(?:\.\d+)?", text.replace("\u202f", ""))
    return (float(match[0]) if match else 0.0), text


def _names(readings: pl.DataFrame) -> dict[tuple[str, str], str]:
    """What each daemon is called: with its cluster only where there are several."""
    several = readings["cluster"].n_unique() > 1
    keys = readings.select(*IDENTITY).unique().iter_rows()
    return {(cluster, daemon): f"{cluster}/{daemon}" if several else daemon for cluster, daemon in keys}


def in_ranges(names: Iterable[str]) -> str:
    """Names in short: `osd.0-187, osd.190`."""
    numbered: dict[str, set[int]] = {}
    others = []
    for name in names:
        stem, _, number = name.rpartition(".")
        if stem and number.isdecimal():
            numbered.setdefault(stem, set()).add(int(number))
        else:
            others.append(name)
    said = []
    for stem, numbers in numbered.items():
        for _, run in groupby(enumerate(sorted(numbers)), key=lambda one: one[1] - one[0]):
            numbers_in_a_row = [number for _, number in run]
            first, last = numbers_in_a_row[0], numbers_in_a_row[-1]
            said.append(f"{stem}.{first}" if first == last else f"{stem}.{first}–{last}")  # noqa: RUF001
    return ", ".join([*said, *sorted(others)])
