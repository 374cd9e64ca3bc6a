"""An analysis as metrics for Prometheus: the text that node_exporter's textfile collector and OpenMetrics both take.

    # HELP lsmlens_write_amplification_lsm_ratio (flush bytes + compaction output bytes) / flush bytes. …
    # TYPE lsmlens_write_amplification_lsm_ratio gauge
    # UNIT lsmlens_write_amplification_lsm_ratio ratio
    lsmlens_write_amplification_lsm_ratio{run="osd.0"} 1.573

Every metric of a run and of its column families under its own name, in base units: seconds, bytes, ratios. All are
gauges, for they are of the log that was read, which a later log need not go on from. Labels are bounded: runs, column
families, codes of findings, severities, versions.
https://prometheus.io/docs/practices/naming/ and https://prometheus.io/docs/specs/om/open_metrics_spec/
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import polars as pl
from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.comparison.observations import daemon_of, figures_of
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.metrics import LOG_SECONDS, METRICS, Group, Metric, Unit, metric_named, sums_of, values_of
from lsmlens.analyzer.units import GIB, MIB, MICROS

PREFIX: Final = "lsmlens_"
HOUR_MICROS: Final = 3600 * MICROS
UNITS: Final = ("seconds", "bytes", "ratio")
# What a metric's name says of its unit, what stands for it in base units, and the factor between them.
_BASE: Final[Mapping[Unit, tuple[str, str, float]]] = {
    Unit.SECONDS: ("_seconds", "_seconds", 1),
    Unit.BYTES: ("_bytes", "_bytes", 1),
    Unit.MIB: ("_mib", "_bytes", MIB),
    Unit.COUNT: ("", "", 1),
    Unit.RECORDS: ("", "", 1),
    Unit.RATIO: ("_ratio", "_ratio", 1),
    Unit.SHARE: ("_share", "_ratio", 1),
    Unit.MIB_PER_SECOND: ("_mib_per_second", "_bytes_per_second", MIB),
    Unit.RECORDS_PER_SECOND: ("_records_per_second", "_records_per_second", 1),
    Unit.BYTES_PER_RECORD: ("_bytes_per_record", "_bytes_per_record", 1),
    Unit.BYTES_PER_OPERATION: ("", "_bytes", 1),
    Unit.SECONDS_PER_GIB: ("_gib", "_byte", 1 / GIB),
    Unit.SECONDS_PER_MILLION_RECORDS: ("_per_million_records", "_per_record", 1e-6),
}


class Sample(NamedTuple):
    """A value under its labels, and the moment it is of in seconds since 1970, where that is not the present."""

    labels: dict[str, str]
    value: float
    moment: float | None = None


@dataclass(slots=True)
class Family:
    """One metric with its samples."""

    name: str
    help: str
    samples: list[Sample] = field(default_factory=list)
    type: str = "gauge"

    def lines(self) -> Iterator[str]:
        """The metric in the text format."""
        yield f"# HELP {self.name} {_escaped(self.help)}"
        yield f"# TYPE {self.name} {self.type}"
        if unit := next((unit for unit in UNITS if self.name.endswith(f"_{unit}")), None):
            yield f"# UNIT {self.name} {unit}"
        for labels, value, moment in self.samples:
            said = ",".join(f'{name}="{_quoted(text)}"' for name, text in labels.items())
            at = "" if moment is None else f" {moment:.3f}"
            yield f"{self.name}{'_total' if self.type == 'counter' else ''}{{{said}}} {float(value)!r}{at}"


_OWN: Final = {
    "run_info": "Versions of Ceph and RocksDB at the end of the log; always 1.",
    "log_start_timestamp_seconds": "When the log that was read begins.",
    "log_end_timestamp_seconds": "When the log that was read ends.",
    "lines_read": "Lines of the log that was read.",
    "events_rejected": "Events of the log that could not be read.",
    "findings": "Findings of each severity.",
    "finding_info": "A rule that fired, see `lsmlens explain CODE`; always 1.",
}


def to_openmetrics(analysis: Analysis | None, counters: Sequence[Family] = ()) -> str:
    """The metrics of all runs, ending in `# EOF`, which the textfile collector takes for a comment.

    `counters` come after them: what a watch has added up.
    """
    families: dict[str, Family] = {}
    for one in analysis.runs if analysis is not None else ():
        for name, text, labels, value in _of_run(one):
            families.setdefault(name, Family(name, text)).samples.append(Sample({"run": one.run.name, **labels}, value))
    return _text((*families.values(), *counters))


def to_history(analysis: Analysis) -> str:
    """The metrics of each hour of all runs, with its end as their time, to be filled into Prometheus afterwards.

    Those metrics that a run's jobs tell; a job counts in the hour in which it finished. `promtool tsdb
    create-blocks-from openmetrics` makes blocks of it.
    """
    families: dict[str, Family] = {}
    for one in analysis.runs:
        jobs = analysis.selection.of(one.run).of(one.run.jobs)
        hours = sums_of(jobs, by=[pl.col("finished_at").dt.truncate("1h").dt.epoch("us").alias("hour")]).sort("hour")
        first, last = (one.run.utc_micros(millis or 0) for millis in (one.run.stamps.first, one.run.stamps.last))
        for row in hours.iter_rows(named=True):
            begin, end = max(row["hour"], first), min(row["hour"] + HOUR_MICROS, last)
            for name, value in values_of({**row, LOG_SECONDS: max(end - begin, 1) / MICROS}).items():
                metric = metric_named(name)
                if metric is not None and metric.unit in _BASE:
                    exported, factor = exported_name(metric)
                    family = families.setdefault(exported, Family(exported, metric.explanation))
                    family.samples.append(Sample({"run": one.run.name}, value * factor, end / MICROS))
    return _text(families.values())


def _text(families: Iterable[Family]) -> str:
    return "\n".join([*(line for family in families for line in family.lines()), "# EOF"]) + "\n"


def exported_name(metric: Metric) -> tuple[str, float]:
    """The name of a metric in base units, and the factor that its value takes."""
    said, base, factor = _BASE[metric.unit]
    kind = metric.name.partition(".")[0].removesuffix(said).removesuffix("_share")
    if f"{base}_" in kind:  # bluefs_wal_bytes_written: the unit stands last
        kind = kind.replace(base, "", 1)
    prefix = f"{PREFIX}column_family_" if metric.group is Group.FAMILIES else PREFIX
    return f"{prefix}{kind}{base}", factor


def names() -> set[str]:
    """Every name that can be exported."""
    of_families = (metric_named(f"{metric.name}.x") for metric in METRICS)
    metrics = [*METRICS, *(metric for metric in of_families if metric is not None and metric.group is Group.FAMILIES)]
    return {exported_name(metric)[0] for metric in metrics} | {PREFIX + name for name in _OWN}


def _of_run(one: RunAnalysis) -> Iterator[tuple[str, str, dict[str, str], float]]:
    run = one.run
    versions = {"ceph_version": run.ceph_version or "", "rocksdb_version": run.rocksdb_version or ""}
    yield _own("run_info", 1, versions)
    if run.stamps.first is not None and run.stamps.last is not None:
        yield _own("log_start_timestamp_seconds", run.utc_micros(run.stamps.first) / MICROS)
        yield _own("log_end_timestamp_seconds", run.utc_micros(run.stamps.last) / MICROS)
    yield _own("lines_read", run.quality.lines)
    yield _own("events_rejected", run.quality.events_rejected)
    for severity in Severity:
        count = sum(found.severity is severity for found in one.findings)
        yield _own("findings", count, {"severity": str(severity)})
    for code, severity in sorted({(found.code, found.severity) for found in one.findings}):
        yield _own("finding_info", 1, {"code": code, "severity": str(severity)})
    for name, value in figures_of(one.statistics, [daemon_of(one)]).items():
        metric = metric_named(name)
        if metric is not None and metric.unit in _BASE:
            exported, factor = exported_name(metric)
            labels = {"column_family": metric.part} if metric.part is not None else {}
            yield exported, metric.explanation, labels, value * factor


def _own(name: str, value: float, labels: dict[str, str] | None = None) -> tuple[str, str, dict[str, str], float]:
    return PREFIX + name, _OWN[name], labels or {}, value


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', r"\"")
