"""What a member of a bundle is, told by its content."""

import re
from enum import StrEnum

from lsmlens.analyzer.counters.size_histograms import SIGN as SIZE_HISTOGRAM
from lsmlens.analyzer.counters.size_histograms import has_request_sizes
from lsmlens.analyzer.logs.stamps import LINE_STAMP, STAMP


class Role(StrEnum):
    """The part a member plays in a bundle."""

    OSD_LOG = "OSD log"
    MONITOR_LOG = "monitor log"
    ROCKSDB_LOG = "RocksDB LOG"
    LOG = "log"
    CLUSTER_LOG = "cluster log"
    PERF_DUMP = "perf dump"
    CONFIG_SHOW = "config show"
    OSD_METADATA = "osd metadata"
    HISTORIC_OPS = "historic ops"
    HEALTH = "health detail"
    OSD_DF = "osd df"
    OSD_TREE = "osd tree"
    BLUEFS_STATS = "bluefs stats"
    MEMPOOLS = "mempools"
    ALLOCATOR = "allocator score"
    CONFIG_DIFF = "config diff"
    MANIFEST = "manifest"
    FIO_RESULT = "fio result"
    FIO_LOG = "fio log"
    RADOS_BENCH_RESULT = "rados bench result"
    CEPH_CONF = "ceph.conf"
    SHARDING = "sharding text"
    SIZE_HISTOGRAM = "key and value sizes"
    REQUEST_SIZES = "request sizes"
    CBT_CONFIGURATION = "CBT configuration"
    OTHER = "other"

    @property
    def is_log(self) -> bool:
        """Whether members of this role are read line by line for what RocksDB wrote."""
        return self in (Role.OSD_LOG, Role.MONITOR_LOG, Role.ROCKSDB_LOG, Role.LOG)


# 2026/11/20-22:56:20.821000 7f9fa51141c0 [db/…] …
NATIVE_LINE = re.compile(rb"^\d{4}/\d\d/\d\d-\d\d:\d\d:\d\d\.\d{6} [0-9a-f]+ ", re.MULTILINE)
OSD_SIGNS = re.compile(rb"process ceph-osd|\bosd\.\d+ |bluestore\(|bluefs |bdev\(|ceph-osd\[")
MONITOR_SIGNS = re.compile(rb"process ceph-mon|ceph-mon: |\bmon\.[\w.-]+@|/store\.db|ceph-mon\[")
RADOS_BENCH = re.compile(rb"^Maintaining \d+ concurrent |^Total time run:\s+[\d.]+", re.MULTILINE)
# 2021-02-26 16:58:14.418809 mon.a mon.0 10.1.1.9:6789/0 2658853 : cluster [DBG] osdmap e1034: 10 total, 10 up, 10 in
# 2024-01-31T23:58:22.017893+0300 osd.1 (osd.1) 3 : cluster [WRN] OSD bench result of …
# 2017-06-03 01:54:21.596632 mon.0 [INF] osdmap e90: 4 osds: 4 up, 3 in                                  to 12
CLUSTER_LINE = re.compile(
    rb"^\d{4}-\d\d-\d\d[ T][\d:.]+(?:[+-]\d{4})? (?:mon|osd|mgr|mds|client)\.[^\n]{1,200}?\[(?:DBG|INF|WRN|ERR|SEC)\] ",
    re.MULTILINE,
)
INI_SECTION = re.compile(rb"^\[(global|osd|mon|mgr|mds|client)[\w.]*\]\s*$", re.MULTILINE)
# 1000, 201835, 0, 0, 0        a line of the logs that fio writes, whose names say what they hold: randw_lat.1.log
FIO_LOG_LINE = re.compile(rb"\d{1,20}, \d{1,20}, [012](?:, (?:\d{1,20}|0x[0-9a-f]{1,8})){1,3}\r?\n")
FIO_LOG_NAME = re.compile(
    r"(?:.*[/!])?(?P<prefix>[^/!]+?)_(?P<kind>lat|clat|slat|bw|iops)(?:\.(?P<part>\d{1,6}))?\.log[.\w-]*", re.DOTALL
)
CBT_CONFIGURATION = re.compile(rb"cluster:\s*$", re.MULTILINE)
LOG_NAME = re.compile(r"(^|[/.-])log([./-]|$)", re.IGNORECASE)

# m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru} L P        what show-sharding prints
SHARDING_TEXT = re.compile(rb"\w+\(\d+(?:,\d+-\d*)?\)(?:=\S+)?(?: \w+(?:\(\d+(?:,\d+-\d*)?\))?(?:=\S+)?)*")
# The daemon a log is of:
#   starting osd.0 osd_data /var/lib/ceph/osd/ceph-0 …
#   bluestore(/var/lib/ceph/osd/ceph-0) _mount path …      also /var/lib/ceph/<fsid>/osd.0
#   starting mon.a rank 0 at …, mon.a@0(leader).paxosservice(…)
OSD_NAME = re.compile(rb"\bstarting osd\.(\d+)|osd/[\w.]+-(\d+)[/) ]|/osd\.(\d+)[/) ]|\s-?\d+ osd\.(\d+) ")
MONITOR_NAME = re.compile(
    rb"\bstarting mon\.([\w-]+)|\bmon\.([\w-]+)@|/mon\.([\w-]+)/store\.db|mon/[\w.]+?-([\w-]+)/store\.db"
)
FILE_DAEMON = re.compile(r"\b((?:osd|mon|mgr|mds)\.[\w-]+?)(?=\.|$)")


# HEALTH_WARN 1 OSD(s) experiencing BlueFS spillover        what `ceph health detail` prints
HEALTH_TEXT = re.compile(rb"HEALTH_(?:OK|WARN|ERR)\b")
# 1 : device size 0x7fffe000 : using 0x5db00000(1.5 GiB)        what `bluefs stats` prints
BLUEFS_STATS_TEXT = re.compile(rb"[012] : device size 0x[0-9a-f]{1,16} : ")
# ID  CLASS  WEIGHT   REWEIGHT  SIZE     RAW USE  DATA     OMAP     META     AVAIL    %USE   VAR   PGS  STATUS
OSD_DF_TEXT = re.compile(rb"ID +CLASS +WEIGHT +REWEIGHT +SIZE +")
# ID  CLASS  WEIGHT   TYPE NAME       STATUS  REWEIGHT  PRI-AFF
OSD_TREE_TEXT = re.compile(rb"ID +CLASS +WEIGHT +TYPE +NAME")


_PRINTED = (
    (HEALTH_TEXT, Role.HEALTH),
    (OSD_DF_TEXT, Role.OSD_DF),
    (OSD_TREE_TEXT, Role.OSD_TREE),
    (BLUEFS_STATS_TEXT, Role.BLUEFS_STATS),
)


def recognise_text(head: bytes, name: str) -> Role:
    """The role of a member whose first bytes are `head` (up to 64 KiB) and which is not a JSON document.

    The name is asked only where the content cannot tell: a piece of a log may begin inside an options dump.
    """
    if head.lstrip()[:1] == b"{" and SIZE_HISTOGRAM.search(head):
        return Role.SIZE_HISTOGRAM
    first = head.lstrip()
    for pattern, role in _PRINTED:
        if pattern.match(first):
            return role
    if RADOS_BENCH.search(head):
        return Role.RADOS_BENCH_RESULT
    if SHARDING_TEXT.fullmatch(head.strip()):
        return Role.SHARDING
    if CBT_CONFIGURATION.match(head) and name.endswith("benchmark_config.yaml"):
        return Role.CBT_CONFIGURATION
    if (not head or FIO_LOG_LINE.match(head)) and FIO_LOG_NAME.fullmatch(name):
        return Role.FIO_LOG
    if INI_SECTION.search(head) and not LINE_STAMP.search(head):
        return Role.CEPH_CONF
    if CLUSTER_LINE.match(head.lstrip()):
        return Role.CLUSTER_LOG
    named_log = LOG_NAME.search(name.rsplit("/", 1)[-1]) is not None
    starts_stamped = STAMP.match(head.lstrip(b"\r\n")) is not None
    if NATIVE_LINE.search(head) and (starts_stamped or named_log):
        return Role.ROCKSDB_LOG
    if not (named_log or starts_stamped):
        return Role.OTHER
    osd, monitor = len(OSD_SIGNS.findall(head)), len(MONITOR_SIGNS.findall(head))
    if monitor > osd:
        return Role.MONITOR_LOG
    return Role.OSD_LOG if osd else Role.LOG


def recognise_json(document: object) -> Role | None:
    """The role of a member that is one JSON document; None for what is read as text, as an event: a piece of a log."""
    if not isinstance(document, dict):
        is_metadata = isinstance(document, list) and document and all(map(_is_metadata, document))
        return Role.OSD_METADATA if is_metadata else Role.OTHER
    keys = document.keys()
    if "key_hist" in keys or "rocksdb_key_value_histogram" in keys:
        return None  # names repeat in it, so it is read as text
    if {"time_micros", "event"} <= keys:
        return None
    if "fio version" in keys:
        return Role.FIO_RESULT
    if {"total_time_run", "average_latency"} <= keys or {"concurrent_ios", "datas"} <= keys or "Total time run" in keys:
        return Role.RADOS_BENCH_RESULT
    if isinstance(document.get("ops", document.get("Ops")), list):
        return Role.HISTORIC_OPS
    if any(isinstance(document.get(name), str) for name in ("bluestore_rocksdb_options", "osd_memory_target")):
        return Role.CONFIG_SHOW
    if isinstance(document.get("checks"), dict) and str(document.get("status", "")).startswith("HEALTH_"):
        return Role.HEALTH
    nodes = document.get("nodes")
    if isinstance(nodes, list) and nodes and isinstance(nodes[0], dict) and "id" in nodes[0]:
        return Role.OSD_DF if "kb_used_meta" in nodes[0] or "kb_used_meta" in nodes[-1] else Role.OSD_TREE
    if isinstance(pools := document.get("mempool"), dict) and "by_pool" in pools:
        return Role.MEMPOOLS
    if "fragmentation_rating" in keys:
        return Role.ALLOCATOR
    if isinstance(document.get("diff"), dict):
        return Role.CONFIG_DIFF
    if {"name", "levels", "stats"} <= keys:  # of `lsmlens collect --db`
        return Role.MANIFEST
    if _is_metadata(document):
        return Role.OSD_METADATA
    if has_request_sizes(document):
        return Role.REQUEST_SIZES
    if any(_holds_counters(document.get(section)) for section in ("bluefs", "rocksdb", "bluestore", "osd")):
        return Role.PERF_DUMP
    return Role.OTHER


def _is_metadata(document: object) -> bool:
    """Whether this is what `ceph osd metadata` says of an OSD; of all it is a list."""
    return isinstance(document, dict) and (
        "osd_objectstore" in document or {"osd_data", "ceph_version"} <= document.keys()
    )


def _holds_counters(section: object) -> bool:
    """Whether this is a section of a perf dump: numbers and `{avgcount, sum}`; not of its schema, nor of others."""
    if isinstance(section, list) and section:  # as `counter dump` prints it
        section = section[0]
    if isinstance(section, dict) and isinstance(section.get("counters"), dict):
        section = section["counters"]
    return isinstance(section, dict) and any(
        isinstance(value, int | float) or (isinstance(value, dict) and "avgcount" in value)
        for name, value in section.items()
        if name.isidentifier()
    )


def daemon_in(text: bytes | memoryview, role: Role) -> str | None:
    """The daemon's name (`osd.3`, `mon.a`) a stretch of its log gives away, None where it does not."""
    pattern, kind = (MONITOR_NAME, "mon") if role is Role.MONITOR_LOG else (OSD_NAME, "osd")
    match = pattern.search(text)
    if match is None:
        return None
    name = next(group for group in match.groups() if group is not None)
    return f"{kind}.{name.decode(errors='replace')}"


def daemon_of_name(name: str) -> str | None:
    """The daemon a file name says (`ceph-osd.3.log.2.gz`), None where it does not."""
    match = FILE_DAEMON.search(name.rsplit("/", 1)[-1])
    return match[1] if match else None
