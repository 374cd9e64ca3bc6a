"""The rows that one analysed run gives to each table, with the day of each; and many runs as a data set in memory."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

import polars as pl
from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.counters.perf_dumps import LongRunAverage, PerfDump
from lsmlens.analyzer.fleet.tables import TABLES, Count, FindingSeen, Option, Reading
from lsmlens.analyzer.runs.columns import frame
from lsmlens.analyzer.runs.reading import MemberSummary
from lsmlens.analyzer.runs.run import Run
from lsmlens.analyzer.units import MICROS

DAY = timedelta(days=1)
UNKNOWN = "unknown"


def rows_of(
    analysis: RunAnalysis, members: Sequence[MemberSummary], device_class: str | None, jobs: pl.DataFrame | None = None
) -> dict[str, pl.DataFrame]:
    """The rows of each of TABLES, with the `day` (UTC) they belong to; `jobs` where not all of the run's are wanted."""
    run = analysis.run
    sources = {
        "jobs": run.jobs if jobs is None else jobs,
        "tables": run.tables,
        "opens": run.opens,
        "options": frame(Option, _options(analysis)),
        "counters": frame(Count, [row for dump in analysis.beside.perf_dumps for row in _counts(dump)]),
        "findings": frame(FindingSeen, _findings(analysis)),
        "readings": frame(Reading, _readings(analysis, members, device_class)),
    }
    last_day = datetime.fromtimestamp(_micros(run, run.stamps.last) / MICROS, UTC).date()
    dated = {}
    for name, rows in sources.items():
        kept = TABLES[name]
        moment = pl.coalesce(*kept.moments).dt.date() if kept.moments else pl.lit(None, pl.Date)
        dated[name] = rows.cast(kept.schema).with_columns(moment.fill_null(last_day).alias("day"))  # type: ignore[arg-type]
    return dated


class AnalysedRuns:
    """The runs of an analysis as a data set has them: what was selected of their jobs, without monitors."""

    name = "what was read"

    def __init__(self, analysis: Analysis) -> None:
        self._rows: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}
        for one in analysis.counted:
            number = one.run.name.rpartition(".")[2]
            hosts: Mapping[int, str] = {} if one.beside.cluster is None else one.beside.cluster.hosts
            host = hosts.get(int(number), UNKNOWN) if number.isdecimal() else UNKNOWN
            jobs = analysis.selection.of(one.run).of(one.run.jobs)
            identity = {"cluster": pl.lit(""), "host": pl.lit(host), "daemon": pl.lit(one.run.name)}
            for name, rows in rows_of(one, analysis.members, None, jobs).items():
                self._rows[name].append(rows.with_columns(**identity))

    def scan(self, table: str) -> pl.LazyFrame:
        """A table, with the cluster, host, daemon and day of each row as columns."""
        return pl.concat(self._rows[table]).lazy()


def _micros(run: Run, millis: int | None) -> int:
    return 0 if millis is None else run.utc_micros(millis)


def _readings(analysis: RunAnalysis, members: Sequence[MemberSummary], device_class: str | None) -> list[Reading]:
    """The reading, a row for each day that it reaches into."""
    run, counters = analysis.run, analysis.counters
    if run.stamps.first is None:
        return []
    began, ended = _micros(run, run.stamps.first), _micros(run, run.stamps.last)
    names = set(run.members)
    check = analysis.cross_check
    covered = counters if check is not None and check.is_of_same_time else None
    rows = [
        Reading(
            began_at=began,
            ended_at=ended,
            ceph_version=run.ceph_version,
            rocksdb_version=run.rocksdb_version,
            device_class=device_class,
            bytes=run.quality.bytes,
            lines=run.quality.lines,
            events_rejected=run.quality.events_rejected,
            members_unreadable=sum(one.problem is not None for one in members if one.path in names),
            stall_lines=sum(run.stall_lines.values()),
            covered_client_writes=covered.client_writes if covered is not None else None,
            covered_client_write_bytes=covered.client_write_bytes if covered is not None else None,
        )
    ]
    day_micros = DAY // timedelta(microseconds=1)
    while ended > (midnight := (rows[-1].began_at // day_micros + 1) * day_micros):
        rows[-1].ended_at = midnight
        rows.append(
            Reading(
                began_at=midnight,
                ended_at=ended,
                ceph_version=run.ceph_version,
                rocksdb_version=run.rocksdb_version,
                device_class=device_class,
            )
        )
    return rows


def _options(analysis: RunAnalysis) -> list[Option]:
    return [
        Option(scope, one.family, one.name, one.value, one.default, str(one.source))
        for scope, some in (("rocksdb", analysis.options), ("ceph", analysis.ceph_options))
        for one in some
    ]


def _counts(dump: PerfDump) -> list[Count]:
    content = repr(sorted(dump.counters.items())).encode()
    name = blake2b(content, digest_size=8).hexdigest()
    return [
        Count(name, counter, value.sum_seconds, value.count)
        if isinstance(value, LongRunAverage)
        else Count(name, counter, float(value), None)
        for counter, value in sorted(dump.counters.items())
    ]


def _findings(analysis: RunAnalysis) -> list[FindingSeen]:
    return [
        FindingSeen(
            one.code,
            one.column_family,
            one.title,
            str(one.severity),
            str(one.confidence),
            one.value,
            one.threshold,
            one.meaning,
            one.advice,
        )
        for one in analysis.findings
    ]
