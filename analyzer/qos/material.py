"""What a bundle holds on scheduling, by OSD and for the cluster, before anything is made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lsmlens.analyzer.qos.documents import Cluster, OsdMetadata, QosDocument, QueueState, StoredOption
from lsmlens.analyzer.qos.log_lines import LineKind, QosLine
from lsmlens.analyzer.qos.placement_groups import PlacementGroup

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis
    from lsmlens.analyzer.clients.client_results import ClientResult
    from lsmlens.analyzer.counters.perf_dumps import PerfDump


@dataclass(frozen=True, slots=True)
class ClusterDocument:
    """A member that is no log, parsed (JSON) or as text, and the daemon it is of, as far as it says one."""

    path: str
    directory: str
    kind: QosDocument
    content: Any
    daemon: str | None = None


@dataclass(frozen=True, slots=True)
class OsdMaterial:
    """What the bundle holds on one OSD. Each part may be empty; `run` is what its RocksDB's log came to."""

    name: str
    release: str | None = None
    config_show: Mapping[str, object] = field(default_factory=dict)
    config_show_source: str = ""
    config_diff: Mapping[str, object] = field(default_factory=dict)
    config_diff_source: str = ""
    metadata: OsdMetadata | None = None
    metadata_source: str = ""
    queue_states: tuple[tuple[str, tuple[QueueState, ...]], ...] = ()
    perf_dumps: "tuple[PerfDump, ...]" = ()
    lines: tuple[QosLine, ...] = ()
    run: "RunAnalysis | None" = None

    @property
    def number(self) -> str:
        """The OSD's number, `N` where its name does not say it."""
        digits = self.name.rpartition("osd.")[2]
        return digits if digits.isdigit() else "N"

    def lines_of(self, kind: LineKind) -> tuple[QosLine, ...]:
        """The lines of one kind, in the order of the files."""
        return tuple(line for line in self.lines if line.kind is kind)

    def last_line(self, kind: LineKind) -> QosLine | None:
        """The last line of one kind."""
        lines = self.lines_of(kind)
        return lines[-1] if lines else None


@dataclass(frozen=True, slots=True)
class QosMaterial:
    """What the bundle holds: its OSDs by name, and what is the whole cluster's.

    `placement_groups` are those of the dump with the most that recover; `cluster_lines` are lines of logs that are no
    OSD's, and `stored` is the monitors' configuration store, None where no dump of it is there.
    """

    osds: tuple[OsdMaterial, ...] = ()
    cluster: Cluster = field(default_factory=Cluster)
    stored: tuple[StoredOption, ...] | None = None
    stored_source: str = ""
    ceph_conf: str | None = None
    ceph_conf_source: str = ""
    placement_groups: tuple[PlacementGroup, ...] | None = None
    placement_source: str = ""
    statuses: tuple[tuple[str, object], ...] = ()
    cluster_lines: tuple[QosLine, ...] = ()
    client_results: "tuple[ClientResult, ...]" = ()
