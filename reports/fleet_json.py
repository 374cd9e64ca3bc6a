"""A look over a fleet as the document `lsmlens.fleet/1`."""

from typing import Annotated, Any, Final, Literal

from lsmlens.analyzer.analysis_document import Amount, Count, LsmAmplification, means, metric
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.fleet.overview import COMPARED, GROUPINGS, OUTLYING, Deviation, Drift, Outlier
from lsmlens.reports.fleet_report import FleetReport
from lsmlens.reports.json_form import made_of, to_text
from msgspec import Struct

SCHEMA: Final = "lsmlens.fleet/1"


class FiguresJson(Struct, kw_only=True):
    """The metrics that OSDs are compared by, computed from the sums of the jobs."""

    write_amplification_lsm: LsmAmplification
    compaction_busy_share: Annotated[float | None, metric("compaction_busy_share")]
    compaction_seconds_per_flushed_gib: Annotated[float | None, metric("compaction_seconds_per_flushed_gib")]
    flush_survival_share: Annotated[float | None, metric("flush_survival_share")]
    table_bytes_per_record: Annotated[float | None, metric("table_bytes_per_record")]
    table_bytes_per_client_byte: Annotated[float | None, metric("table_bytes_per_client_byte")]


class OsdJson(Struct, kw_only=True):
    """One OSD and its figures."""

    cluster: Annotated[str, means("The cluster it was added with.")]
    osd: Annotated[str, means("The daemon.")]
    host: Annotated[str, means("Its host; unknown where nothing told it.")]
    device_class: Annotated[str, means("Its device class; unknown where nothing told it.")]
    version: Annotated[str, means("The last release that its logs tell.")]
    figures: FiguresJson
    scores: Annotated[
        dict[str, float | None],
        means(
            "How far each metric lies from the peers' median, as a modified z-score; null where it cannot be judged."
        ),
    ]


class GroupJson(Struct, kw_only=True):
    """OSDs that have something in common."""

    name: Annotated[str, means("The host, device class, release or day.")]
    osds: Annotated[Count, means("How many.")]
    figures: FiguresJson


class FleetFindingJson(Struct, kw_only=True):
    """A rule that fired, over all OSDs."""

    code: Annotated[str, means("What `lsmlens explain` takes.")]
    title: Annotated[str, means("What it says, in a few words.")]
    severity: Annotated[Severity, means("The gravest of any OSD.")]
    osds: Annotated[list[str], means("Where it fired; with the cluster before the name where there are several.")]
    least: Annotated[str, means("The least of the values that it fired on, in words.")]
    greatest: Annotated[str, means("The greatest.")]


class DeviationJson(Struct, kw_only=True):
    """How far one metric of an OSD lies from its peers' median."""

    metric: Annotated[str, means("Its name.")]
    value: Annotated[float, means("Of the OSD.")]
    median: Annotated[float, means("Of its peers.")]
    score: Annotated[float, means("The modified z-score.")]


class OutlierJson(Struct, kw_only=True):
    """An OSD unlike those of its device class and release."""

    osd: Annotated[str, means("The daemon; with the cluster before the name where there are several.")]
    host: Annotated[str, means("Its host.")]
    peers: Annotated[Count, means("OSDs of its device class and release, itself among them.")]
    deviations: Annotated[list[DeviationJson], means("The farthest first.")]
    differs: Annotated[list[str], means("What else differs about it: options and load, in words.")]


class OptionValueJson(Struct, kw_only=True):
    """One value of an option."""

    value: Annotated[str, means("The value.")]
    osds: Annotated[list[str], means("Who runs with it.")]


class DriftJson(Struct, kw_only=True):
    """An option that OSDs of one device class and release run with differently."""

    option: Annotated[str, means("Its name.")]
    column_families: Annotated[list[str], means("Where they differ; none for the whole database.")]
    values: Annotated[list[OptionValueJson], means("The commonest first.")]


class FleetQualityJson(Struct, kw_only=True):
    """What was read."""

    bytes: Annotated[Count, means("Bytes of logs.")]
    lines: Annotated[Count, means("Lines of logs.")]
    events_rejected: Annotated[Count, means("Events that could not be read.")]
    members_unreadable: Annotated[Count, means("Files that could not be read to the end.")]


class FleetJson(Struct, kw_only=True):
    """What `lsmlens fleet report --format json` prints."""

    schema: Annotated[Literal["lsmlens.fleet/1"], means("The document's kind and version.")] = SCHEMA
    dataset: Annotated[str, means("The data set, and the condition where one was given.")]
    days: Annotated[list[str], means("The days (UTC) of which there are rows.")]
    osds: Annotated[list[OsdJson], means("Every OSD.")]
    findings: Annotated[list[FleetFindingJson], means("Each rule once, the gravest first.")]
    outliers: Annotated[list[OutlierJson], means("The farthest first.")]
    outlying_score: Annotated[Amount, means("Beyond which score an OSD is an outlier.")]
    unjudged: Annotated[Count, means("OSDs with too few peers for a median.")]
    groups: Annotated[
        dict[Literal["host", "class", "version", "day"], list[GroupJson]], means("OSDs by what they have in common.")
    ]
    drift: Annotated[list[DriftJson], means("Options that differ within a device class and release.")]
    data_quality: FleetQualityJson


def to_json(report: FleetReport) -> str:
    """The document as indented JSON text."""
    found = report.overview
    return to_text(
        FleetJson(
            dataset=report.subtitle,
            days=[str(day) for day in found.days],
            osds=[_osd(row) for row in found.daemons.to_dicts()],
            findings=[made_of(FleetFindingJson, one, osds=list(one.daemons)) for one in found.findings],
            outliers=[_outlier(one) for one in found.outliers],
            outlying_score=OUTLYING,
            unjudged=found.unjudged,
            groups={by: [_group(by, row) for row in found.groups[by].to_dicts()] for by in GROUPINGS},
            drift=[_drift(one) for one in found.drift],
            data_quality=FleetQualityJson(
                bytes=found.bytes_read,
                lines=found.lines_read,
                events_rejected=found.events_rejected,
                members_unreadable=found.members_unreadable,
            ),
        )
    )


def _figures(row: dict[str, Any]) -> FiguresJson:
    return FiguresJson(**{metric.name: row[metric.name] for metric in COMPARED})


def _osd(row: dict[str, Any]) -> OsdJson:
    return OsdJson(
        cluster=row["cluster"],
        osd=row["daemon"],
        host=row["host"],
        device_class=row["class"],
        version=row["version"],
        figures=_figures(row),
        scores={metric.name: row[f"z:{metric.name}"] for metric in COMPARED},
    )


def _group(by: str, row: dict[str, Any]) -> GroupJson:
    return GroupJson(name=str(row[by]), osds=row["daemons"], figures=_figures(row))


def _outlier(one: Outlier) -> OutlierJson:
    deviations = [_deviation(deviation) for deviation in one.deviations]
    return made_of(OutlierJson, one, osd=one.daemon, deviations=deviations, differs=list(one.differs))


def _deviation(one: Deviation) -> DeviationJson:
    return made_of(DeviationJson, one, metric=one.metric.name)


def _drift(one: Drift) -> DriftJson:
    values = [OptionValueJson(value=value.value, osds=list(value.daemons)) for value in one.values]
    return DriftJson(option=one.name, column_families=list(one.families), values=values)
