"""Documents that say how an OSD or its cluster was set up and how it was: recognised by content, as JSON or text.

The operation queues of an OSD at one moment are what `dump_op_pq_state` prints, of either scheduler:

    {"OSD:ShardedOpWQ:0": {"queue_sizes": {"high_priority_queue": 0, "scheduler": 2}, "mClockClients": {…}, …}, …}
    {"OSD:ShardedOpWQ:0": {"high_queues": [], "queues": [66, 20971520, {"priority": 63, "num_keys": 2, …}]}, …}

17.2 and earlier call the first size `immediate`. Source: `dump` of the two schedulers and of `ShardedOpWQ`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from lsmlens.analyzer.qos.placement_groups import is_pg_dump

# WHO     MASK  LEVEL     OPTION                            VALUE          RO
_DUMP_HEADER = re.compile(r"^\s*WHO\s+MASK\s+LEVEL\s+OPTION\s+VALUE", re.MULTILINE)
_DUMP_ROW = re.compile(
    r"\s*(?P<who>(?:global|mon|mgr|osd|mds|client)\S*)\s+(?:(?P<mask>\S+[:=]\S+)\s+)?"
    r"(?P<level>basic|advanced|dev|unknown)\s+(?P<name>\w+)\s+(?P<value>.*?)(?:\s+\*)?\s*"
)
#     recovery: 480 MiB/s, 120 objects/s
_STATUS_HEALTH = re.compile(r"^\s*health:\s*HEALTH_|^\s*cluster:\s*$", re.MULTILINE)
_OUTSIDE = re.compile(r"client:\{ class_id: (?:3|client) client_id: (\d+)")
_SHARD = re.compile(r"OSD:ShardedOpWQ:(\d+)")


class QosDocument(StrEnum):
    """What a member that is no log says about scheduling."""

    CONFIG_SHOW = "config show"
    CONFIG_DIFF = "config diff"
    CONFIG_DUMP = "config dump"
    OSD_METADATA = "osd metadata"
    QUEUE_STATE = "dump_op_pq_state"
    PG_DUMP = "pg dump"
    STATUS = "ceph status"
    OSD_DUMP = "osd dump"
    VERSIONS = "versions"

    @property
    def is_of_cluster(self) -> bool:
        """Whether it says something of the whole cluster rather than of one OSD."""
        return self in (self.CONFIG_DUMP, self.PG_DUMP, self.STATUS, self.OSD_DUMP, self.VERSIONS)


def recognise(document: object) -> QosDocument | None:
    """What a parsed JSON document is; None for another."""
    if isinstance(document, list):
        first = document[0] if document else None
        keys = first.keys() if isinstance(first, Mapping) else set()
        if {"section", "name", "value"} <= keys:
            return QosDocument.CONFIG_DUMP
        return QosDocument.OSD_METADATA if {"id", "osd_data"} <= keys else None
    if not isinstance(document, Mapping):
        return None
    keys = document.keys()
    diff = document.get("diff")
    if isinstance(diff, Mapping) and any(isinstance(entry, Mapping) and "final" in entry for entry in diff.values()):
        return QosDocument.CONFIG_DIFF
    if isinstance(document.get("osd_op_queue"), str):
        return QosDocument.CONFIG_SHOW
    if "osd_objectstore" in keys or {"osd_data", "ceph_version"} <= keys:
        return QosDocument.OSD_METADATA
    if read_queue_states(document):
        return QosDocument.QUEUE_STATE
    holder = document.get("pg_map", document)
    if isinstance(holder, Mapping) and isinstance(holder.get("pg_stats"), list):
        return QosDocument.PG_DUMP
    if {"osdmap", "pgmap"} <= keys:
        return QosDocument.STATUS
    if isinstance(document.get("pools"), list) and isinstance(document.get("osds"), list):
        return QosDocument.OSD_DUMP
    if {"mon", "osd", "overall"} <= keys:
        return QosDocument.VERSIONS
    return None


def recognise_text(head: str) -> QosDocument | None:
    """What a text that is no log is; None for another."""
    if is_pg_dump(head):
        return QosDocument.PG_DUMP
    if _DUMP_HEADER.search(head):
        return QosDocument.CONFIG_DUMP
    return QosDocument.STATUS if len(_STATUS_HEALTH.findall(head)) > 1 else None


@dataclass(frozen=True, slots=True)
class StoredOption:
    """One line of the monitors' configuration store: for whom, under which mask (`class:ssd`, `host:a`)."""

    who: str
    mask: str
    name: str
    value: str

    @property
    def section(self) -> str:
        """As a command names it: `osd`, `osd/class:ssd`, `osd.3`."""
        return f"{self.who}/{self.mask}" if self.mask else self.who


def read_config_dump(document: object) -> tuple[StoredOption, ...]:
    """`ceph config dump`, parsed JSON or text."""
    if isinstance(document, str):
        rows = (_DUMP_ROW.fullmatch(line) for line in document.splitlines())
        return tuple(StoredOption(row["who"], row["mask"] or "", row["name"], row["value"]) for row in rows if row)
    if not isinstance(document, list):
        return ()
    return tuple(
        StoredOption(str(row["section"]), str(row.get("mask") or ""), str(row["name"]), str(row["value"]))
        for row in document
        if isinstance(row, Mapping) and {"section", "name", "value"} <= row.keys()
    )


@dataclass(frozen=True, slots=True)
class OsdMetadata:
    """What `ceph osd metadata` says of an OSD; None is what it does not say."""

    osd: str | None
    release: str | None = None
    rotational: bool | None = None
    device_class: str | None = None
    model: str | None = None
    devices: str | None = None
    objectstore: str | None = None
    has_own_db: bool = False


def read_osd_metadata(document: object) -> tuple[OsdMetadata, ...]:
    """The OSDs of `ceph osd metadata`, of one or of all."""
    rows = document if isinstance(document, list) else [document]
    return tuple(_metadata(row) for row in rows if isinstance(row, Mapping))


def _metadata(row: Mapping[str, object]) -> OsdMetadata:
    def text(name: str) -> str | None:
        value = row.get(name)
        return str(value) if value not in (None, "") else None

    rotational = text("bluestore_bdev_rotational") or text("rotational")
    # "nvme0n1=INTEL_SSDPE2KX040T8_PHLJ…": model and serial number, the last part of it
    model = (text("device_ids") or "").split(",")[0].partition("=")[2].rpartition("_")[0]
    return OsdMetadata(
        osd=text("id"),
        release=text("ceph_version_short") or text("ceph_version"),
        rotational=None if rotational is None else rotational == "1",
        device_class=text("default_device_class"),
        model=model or None,
        devices=text("bluestore_bdev_devices") or text("devices"),
        objectstore=text("osd_objectstore"),
        has_own_db=text("bluefs_dedicated_db") == "1" or text("bluefs_dedicated_wal") == "1",
    )


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool: its number, and whether it is erasure-coded."""

    number: int
    size: int
    is_erasure_coded: bool


@dataclass(frozen=True, slots=True)
class Cluster:
    """What is known of the whole cluster; None is what no document says.

    `release` is that of its OSDs where all run the same.
    """

    osds: int | None = None
    release: str | None = None
    pools: tuple[Pool, ...] = ()
    sources: tuple[str, ...] = field(default=())

    @property
    def erasure_coded(self) -> tuple[int, ...]:
        """The numbers of erasure-coded pools."""
        return tuple(pool.number for pool in self.pools if pool.is_erasure_coded)

    @property
    def size(self) -> int | None:
        """The size most replicated pools have."""
        sizes = [pool.size for pool in self.pools if not pool.is_erasure_coded]
        return max(set(sizes), key=sizes.count) if sizes else None


ERASURE_CODED = 3


def read_cluster(documents: Iterable[tuple[QosDocument, str, object]]) -> Cluster:
    """What status, versions and osd dump say of the cluster; each document with its kind and source."""
    osds: int | None = None
    release: str | None = None
    pools: tuple[Pool, ...] = ()
    sources: list[str] = []
    for kind, source, document in documents:
        found: int | None = None
        if kind is QosDocument.STATUS:
            found = _osds_of_status(document)
        elif kind is QosDocument.VERSIONS and isinstance(document, Mapping):
            versions = document.get("osd")
            if isinstance(versions, Mapping):
                found = sum(_counts(versions.values()))
                release = str(next(iter(versions))) if len(versions) == 1 else release
        elif kind is QosDocument.OSD_DUMP and isinstance(document, Mapping):
            pools = tuple(_pools(document.get("pools")))
            listed = document.get("osds")
            found = len(listed) if isinstance(listed, list) else None
        elif kind is QosDocument.OSD_METADATA and isinstance(document, list):
            found = len(document)
        if found:
            osds = max(osds or 0, found)
            sources.append(source)
    return Cluster(osds, release, pools, tuple(sources))


def _osds_of_status(document: object) -> int | None:
    if isinstance(document, str):
        match = re.search(r"^\s*osd: (\d+) osds:", document, re.MULTILINE)
        return int(match[1]) if match else None
    osdmap = document.get("osdmap") if isinstance(document, Mapping) else None
    if isinstance(osdmap, Mapping):
        inner = osdmap.get("osdmap", osdmap)
        count = inner.get("num_osds") if isinstance(inner, Mapping) else None
        return count if isinstance(count, int) else None
    return None


def _counts(values: Iterable[object]) -> Sequence[int]:
    return [value for value in values if isinstance(value, int) and not isinstance(value, bool)]


def _pools(rows: object) -> Iterable[Pool]:
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping) and isinstance(row.get("pool"), int):
            size = row.get("size")
            yield Pool(row["pool"], size if isinstance(size, int) else 3, row.get("type") == ERASURE_CODED)


@dataclass(frozen=True, slots=True)
class QueueState:
    """One shard's queue: operations above the scheduler (strict), and those that it schedules.

    `clients` are the clients outside that mClock tells apart, None for WPQ.
    """

    shard: int
    scheduler: str
    strict: int
    scheduled: int
    clients: int | None = None


def read_queue_states(document: object) -> tuple[QueueState, ...] | None:
    """The shards' queues in order; None for a document that is no such dump."""
    if not isinstance(document, Mapping):
        return None
    states = []
    for name, shard in document.items():
        match = _SHARD.fullmatch(name) if isinstance(name, str) else None
        if match is not None and isinstance(shard, Mapping):
            states.append(_read(int(match[1]), shard))
    return tuple(sorted(states, key=lambda state: state.shard)) if states else None


def _read(number: int, shard: Mapping[str, object]) -> QueueState:
    sizes = shard.get("queue_sizes")
    if isinstance(sizes, Mapping):
        strict = _count(sizes.get("high_priority_queue", sizes.get("immediate")))
        return QueueState(number, "mclock_scheduler", strict, _count(sizes.get("scheduler")), _clients(shard))
    return QueueState(number, "wpq", _operations(shard.get("high_queues")), _operations(shard.get("queues")))


def _clients(shard: Mapping[str, object]) -> int:
    """Of the clients' text: `{ client:{ class_id: 3 client_id: 4153 profile_id: 0 }, record:…`; 3 are those outside."""
    holder = shard.get("mClockClients")
    text = holder.get("clients") if isinstance(holder, Mapping) else None
    return len(set(_OUTSIDE.findall(text))) if isinstance(text, str) else 0


def _operations(queue: object) -> int:
    """Operations of WPQ's list: of each priority only those of the owner whose turn it is are printed."""
    if not isinstance(queue, list):
        return 0
    return sum(_count(entry.get("num_keys")) for entry in queue if isinstance(entry, Mapping))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
