"""What stands beside the logs in a bundle: counters, configuration, operations, benchmark results.

A member belongs to the daemons whose logs stand in the same folder or archive folder. Where several daemons' do, it
belongs to the one its name says (`perf_dump.osd.3.json`), else to none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from lsmlens.analyzer.bundles.roles import Role, daemon_of_name

if TYPE_CHECKING:
    from lsmlens.analyzer.bundles.cluster_status import ClusterStatus
    from lsmlens.analyzer.clients.client_results import ClientResult
    from lsmlens.analyzer.clients.client_series import ClientSeries
    from lsmlens.analyzer.clients.operations import Operation
    from lsmlens.analyzer.counters.perf_dumps import PerfDump
    from lsmlens.analyzer.counters.size_histograms import RequestSizes, SizeHistogram


class Companion(NamedTuple):
    """A member that is no log, as it was read: a JSON document, text, or what a fio log says."""

    path: str
    directory: str
    role: Role
    content: Any

    @property
    def daemon(self) -> str | None:
        """The daemon its name says."""
        return daemon_of_name(self.path)


@dataclass(frozen=True, slots=True)
class Beside:
    """What stands beside one run's logs. Each part may be empty."""

    perf_dumps: "tuple[PerfDump, ...]" = ()
    operations: "tuple[Operation, ...]" = ()
    client_results: "tuple[ClientResult, ...]" = ()
    client_series: "tuple[ClientSeries, ...]" = ()
    config_show: dict[str, object] = field(default_factory=dict)
    ceph_conf: str | None = None
    sharding_output: str | None = None
    size_histogram: "SizeHistogram | None" = None
    request_sizes: "RequestSizes | None" = None
    cluster: "ClusterStatus | None" = None
    paths: tuple[str, ...] = ()


READ_AS_TEXT = (
    Role.CEPH_CONF,
    Role.RADOS_BENCH_RESULT,
    Role.SHARDING,
    Role.SIZE_HISTOGRAM,
    Role.CBT_CONFIGURATION,
    Role.HEALTH,
    Role.OSD_DF,
    Role.OSD_TREE,
    Role.BLUEFS_STATS,
)
CLUSTER_WIDE = (Role.CEPH_CONF, Role.HEALTH, Role.OSD_DF, Role.OSD_TREE, Role.OSD_METADATA, Role.CLUSTER_LOG)
READ_AS_DOCUMENT = (
    Role.PERF_DUMP,
    Role.CONFIG_SHOW,
    Role.HISTORIC_OPS,
    Role.REQUEST_SIZES,
    Role.FIO_RESULT,
    Role.RADOS_BENCH_RESULT,
    Role.HEALTH,
    Role.OSD_DF,
    Role.OSD_TREE,
    Role.OSD_METADATA,
    Role.MEMPOOLS,
    Role.ALLOCATOR,
    Role.CONFIG_DIFF,
    Role.MANIFEST,
)
# What stands in for a perf dump where there is none: the same gauges, by commands that print no more than them.
GAUGES = (Role.BLUEFS_STATS, Role.MEMPOOLS, Role.ALLOCATOR)


def belonging_to(daemon: str | None, is_alone: bool, companions: Iterable[Companion]) -> list[Companion]:
    """Those of a folder's companions that are of one daemon: by their names, all if it is alone, else the shared."""
    return [
        one
        for one in companions
        if one.role in CLUSTER_WIDE or (one.daemon == daemon if one.daemon is not None else is_alone)
    ]


def read_companions(mine: Sequence[Companion]) -> Beside:
    """What the companions of one daemon say."""
    if not mine:
        return Beside()
    from lsmlens.analyzer.clients.operations import read_operations, unique
    from lsmlens.analyzer.counters.perf_dumps import read_perf_dump

    conf = next((str(one.content) for one in _of(mine, Role.CEPH_CONF)), None)
    dumps = tuple(read_perf_dump(one.content, one.path) for one in _of(mine, Role.PERF_DUMP)) or _gauges(mine)
    operations = [read_operations(one.content, one.path).operations for one in _of(mine, Role.HISTORIC_OPS)]
    results = client_results_of(mine)
    shown: object = next((one.content for one in _of(mine, Role.CONFIG_SHOW)), None)
    if shown is None:
        shown = next((_finals(one.content) for one in _of(mine, Role.CONFIG_DIFF)), {})
    return Beside(
        perf_dumps=dumps,
        operations=unique(operation for some in operations for operation in some),
        client_results=results,
        client_series=_client_series(mine, results),
        config_show=shown if isinstance(shown, dict) else {},
        ceph_conf=conf,
        size_histogram=next((_size_histogram(one) for one in _of(mine, Role.SIZE_HISTOGRAM)), None),
        request_sizes=next((_request_sizes(one) for one in _of(mine, Role.REQUEST_SIZES)), None),
        cluster=_cluster(mine),
        sharding_output=next((str(one.content) for one in _of(mine, Role.SHARDING)), None),
        paths=tuple(sorted(one.path for one in mine)),
    )


def _gauges(mine: Sequence[Companion]) -> "tuple[PerfDump, ...]":
    found = [(one.role, one.content, one.path) for one in mine if one.role in GAUGES]
    if not found:
        return ()
    from lsmlens.analyzer.counters.gauges import read_gauges

    return (read_gauges(found),)


def _finals(document: object) -> dict[str, object]:
    """What `config diff` says is in force, of the options that are not as Ceph has them."""
    said = document.get("diff") if isinstance(document, dict) else None
    return {
        name: values["final"]
        for name, values in (said if isinstance(said, dict) else {}).items()
        if isinstance(values, dict) and isinstance(values.get("final"), str)
    }


def client_results_of(companions: Iterable[Companion]) -> "tuple[ClientResult, ...]":
    """The results of all load programs among these: fio's first, then rados bench's."""
    some = list(companions)
    found = [*_of(some, Role.FIO_RESULT), *_of(some, Role.RADOS_BENCH_RESULT)]
    if not found:
        return ()
    from lsmlens.analyzer.clients.client_results import read_fio
    from lsmlens.analyzer.clients.rados_bench import read_rados_bench, read_rados_bench_json

    results: list[ClientResult] = []
    for one in found:
        read = read_rados_bench if isinstance(one.content, str) else read_rados_bench_json
        results += (read_fio if one.role is Role.FIO_RESULT else read)(one.content, one.path).results
    return tuple(results)


def _cluster(mine: Sequence[Companion]) -> "ClusterStatus | None":
    found = {role: next((one for one in _of(mine, role)), None) for role in (Role.HEALTH, Role.OSD_DF, Role.OSD_TREE)}
    metadata = _of(mine, Role.OSD_METADATA)
    logs = _of(mine, Role.CLUSTER_LOG)
    if not any(found.values()) and not metadata and not logs:
        return None
    from lsmlens.analyzer.bundles.cluster_status import (
        ClusterStatus,
        read_health,
        read_osd_df,
        read_osd_metadata,
        read_osd_tree,
    )

    health, df, tree = (None if one is None else one.content for one in found.values())
    sources = {role.value: one.path for role, one in found.items() if one is not None}
    places = {osd: place for one in metadata for osd, place in read_osd_metadata(one.content).items()}
    hosts = {osd: place.host for osd, place in places.items() if place.host} | read_osd_tree(tree)
    devices = {osd: place.devices for osd, place in places.items() if place.devices}
    requests = tuple(request for one in logs for request in one.content)
    return ClusterStatus(read_health(health), read_osd_df(df), hosts, sources, devices, requests)


def _size_histogram(companion: Companion) -> "SizeHistogram":
    from lsmlens.analyzer.counters.size_histograms import read_size_histogram

    return read_size_histogram(str(companion.content), companion.path)


def _request_sizes(companion: Companion) -> "RequestSizes":
    from lsmlens.analyzer.counters.size_histograms import read_request_sizes

    return read_request_sizes(companion.content, companion.path)


def _client_series(mine: Sequence[Companion], results: "Sequence[ClientResult]") -> "tuple[ClientSeries, ...]":
    logs = _of(mine, Role.FIO_LOG)
    if not logs and not any(one.latency_by_second for one in results):
        return ()
    from lsmlens.analyzer.clients.client_series import client_series, series_of_results

    return (*series_of_results(results), *client_series(logs, _of(mine, Role.FIO_RESULT)))


def _of(companions: Sequence[Companion], role: Role) -> list[Companion]:
    return [one for one in companions if one.role is role]
