"""Lines in which an OSD, a monitor or the manager says something about the op scheduler, and what they say.

A line is found by its anchor, wherever a transport or the cluster log put it; what stands before is not read but for
the stamp and the OSD's name. Examples are real lines.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class LineKind(StrEnum):
    """What a line says."""

    BENCH = "result of the OSD's own benchmark"
    BENCH_REFUSED = "benchmark refused"
    SCHEDULER = "scheduler in use"
    CAPACITY = "capacity in use"
    DEVICE = "device opened"
    REVERTED = "setting taken back"
    SLOW_OPERATIONS = "slow operations"
    SCRUBS_LATE = "scrubs late"
    CLUSTER_STATE = "state of the cluster"


# What is said of the whole cluster, though a line may name OSDs.
OF_CLUSTER = (LineKind.SLOW_OPERATIONS, LineKind.SCRUBS_LATE, LineKind.CLUSTER_STATE)


@dataclass(frozen=True, slots=True)
class QosLineShape:
    """One line shape: its kind, its anchor, what follows or surrounds it, and real lines that prove both.

    Named groups are what is read of it.
    """

    kind: LineKind
    anchor: bytes
    pattern: re.Pattern[bytes]
    examples: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class QosLine:
    """One line that was read: `osd` is the OSD's number where it says one, `values` what its pattern names.

    `number` is its place in the file, None where that is not known.
    """

    kind: LineKind
    source: str
    number: int | None
    text: str
    osd: str | None
    values: dict[str, str]

    def real(self, name: str) -> float | None:
        """A value as a number; None where the line has none."""
        value = self.values.get(name)
        try:
            return None if value is None else float(value)
        except ValueError:
            return None


_NUMBER = rb"[\d.]{1,40}"

SHAPES = (
    QosLineShape(
        LineKind.BENCH,
        b"osd bench result - bandwidth",
        re.compile(
            rb"bandwidth ?\(MiB/sec\): (?P<mib_per_second>%(n)s),? iops: (?P<iops>%(n)s)"
            rb",? elapsed_sec: (?P<seconds>%(n)s)" % {b"n": _NUMBER}
        ),
        (
            b"2026-11-21T01:01:00.165+0000 7f8ade3536c0  1 osd.0 0 maybe_override_max_osd_capacity_for_qos osd bench"
            b" result - bandwidth (MiB/sec): 169.965 iops: 43510.965 elapsed_sec: 0.069",
        ),
    ),
    QosLineShape(
        LineKind.BENCH_REFUSED,
        b"OSD bench result of ",
        re.compile(
            rb"OSD bench result of (?P<iops>%(n)s) IOPS (?:exceeded the threshold limit of (?P<limit>%(n)s) IOPS"
            rb"|is not within the threshold limit range of (?P<low>%(n)s) IOPS and (?P<high>%(n)s) IOPS)"
            rb" for osd\.(?P<osd>\d+)\. IOPS capacity is unchanged at (?P<unchanged>%(n)s) IOPS" % {b"n": _NUMBER}
        ),
        (
            b"2026-11-21T01:01:00.165+0000 7f8ade3536c0  0 log_channel(cluster) log [WRN] : OSD bench result of"
            b" 43510.964720 IOPS is not within the threshold limit range of 50.000000 IOPS and 500.000000 IOPS for"
            b" osd.0. IOPS capacity is unchanged at 315.000000 IOPS. The recommendation is to establish the osd's IOPS"
            b" capacity using other benchmark tools (e.g. Fio) and then override"
            b" osd_mclock_max_capacity_iops_[hdd|ssd].",
            b"2024-01-31T23:58:22.017893+0300 osd.1 [WRN] OSD bench result of 801.732253 IOPS exceeded the threshold"
            b" limit of 500.000000 IOPS for osd.1. IOPS capacity is unchanged at 315.000000 IOPS. The recommendation is"
            b" to establish the osd's IOPS capacity using other benchmark tools (e.g. Fio) and then override"
            b" osd_mclock_max_capacity_iops_[hdd|ssd].",
        ),
    ),
    QosLineShape(
        LineKind.SCHEDULER,
        b"OSDShard using op scheduler ",
        re.compile(
            rb"(?:osd\.(?P<osd>\d+):(?P<shard>\d+)\.)?OSDShard using op scheduler (?P<scheduler>[\w]+)"
            rb"(?:\(queue=(?P<queue>\w+))?(?:[^\n]{0,80}?cutoff=(?P<cutoff>\d+))?"
        ),
        (
            b"2026-11-21T01:00:58.497+0000 7f8ade3536c0  0 osd.0:0.OSDShard using op scheduler mclock_scheduler,"
            b" cutoff=196",
            b"2026-11-20T22:56:24.381+0000 7f5e8ae4c1c0  0 osd.0:0.OSDShard using op scheduler"
            b" ClassedOpQueueScheduler(queue=WeightedPriorityQueue, cutoff=196)",
        ),
    ),
    QosLineShape(
        LineKind.CAPACITY,
        b"set_osd_capacity_params_from_config: ",
        re.compile(
            rb"osd_bandwidth_cost_per_io: (?P<bytes_per_io>%(n)s) bytes/io, osd_bandwidth_capacity_per_shard"
            rb" (?P<bytes_per_shard>%(n)s) bytes/second" % {b"n": _NUMBER}
        ),
        (
            b"2026-11-21T01:00:58.497+0000 7f8ade3536c0  1 mClockScheduler: set_osd_capacity_params_from_config:"
            b" osd_bandwidth_cost_per_io: 499321.90 bytes/io, osd_bandwidth_capacity_per_shard 157286400.00"
            b" bytes/second",
        ),
    ),
    QosLineShape(
        LineKind.CAPACITY,
        b"max osd capacity(iops) per shard: ",
        re.compile(
            rb"#op shards: (?P<shards>\d+) max osd capacity\(iops\) per shard: (?P<iops_per_shard>%s)" % _NUMBER
        ),
        (),  # built from the source of 16.2 and 17.2.0: no real log of such an OSD was at hand
    ),
    QosLineShape(
        LineKind.DEVICE,
        b"rotational device",
        re.compile(
            rb"bdev\(\S+ (?P<path>[^\n)]{1,200}/block)\) open size [^\n]{1,120}\) (?P<kind>(?:non-)?rotational)"
        ),
        (
            b"2026-11-21T01:00:58.217+0000 7f8ade3536c0  1 bdev(0x55c02fc76800 /var/lib/ceph-lab/osd.0/block) open"
            b" size 25769803776 (0x600000000, 24 GiB) block_size 4096 (4 KiB) rotational device, discard supported",
        ),
    ),
    QosLineShape(
        LineKind.REVERTED,
        b"did not take effect. Enable osd_mclock_override",
        re.compile(rb"Change to (?P<option>\w+) on osd\.(?P<osd>\d+) did not take effect"),
        (),  # built from the text of OSD.cc (17.2.7 and later): no log with it was at hand
    ),
    QosLineShape(
        LineKind.SLOW_OPERATIONS,
        b" slow ops, oldest ",
        re.compile(
            rb"(?P<count>\d+) slow ops, oldest (?:one blocked for (?P<seconds>\d+) sec|is (?P<operation>[^\n]{0,120}))"
        ),
        (),
    ),
    QosLineShape(
        LineKind.SCRUBS_LATE,
        b"scrubbed in time",
        re.compile(rb"(?P<count>\d+) pgs not (?P<kind>(?:deep-)?scrubbed) in time"),
        (),
    ),
    QosLineShape(
        LineKind.CLUSTER_STATE,
        b" pgmap v",
        re.compile(rb" pgmap v\d+: (?P<groups>\d+) pgs: (?P<state>[^\n]{1,2000})"),
        (
            b"2021-02-26 16:58:06.359967 mgr.a client.4097 10.1.1.9:0/854553116 16170 : cluster [DBG] pgmap v6705:"
            b" 7168 pgs: 7168 active+clean; 87.2GiB data, 180GiB used, 36.0TiB / 36.2TiB avail; 12.3KiB/s rd,"
            b" 505B/s wr, 15op/s; 10.5MiB/s, 2objects/s recovering",
        ),
    ),
)

_NAMED = re.compile(rb"\bosd\.(\d+)\b")
# A line may not be taken for longer than this.
LINE_BYTES = 4096
# How many lines of one kind are kept of one file; the state of the cluster is said every two seconds.
KEPT = {LineKind.CLUSTER_STATE: 100_000}
KEPT_OTHERWISE = 1000


def parse_line(shape: QosLineShape, text: bytes, source: str, number: int | None) -> QosLine | None:
    """What a line with the shape's anchor says; None where its rest is not as expected."""
    match = shape.pattern.search(text)
    if match is None:
        return None
    values = {name: value.decode(errors="replace") for name, value in match.groupdict().items() if value is not None}
    osd = values.pop("osd", None)
    if osd is None and (named := _NAMED.search(text)) is not None:
        osd = named[1].decode()
    return QosLine(shape.kind, source, number, text.decode(errors="replace").strip(), osd, values)


Finder = Callable[[bytes | memoryview], Iterator[tuple[QosLineShape, int]]]


def finder() -> Finder:
    """What finds the anchors in a stretch of a log: the shape, and where its anchor stands."""
    from ahocorasick_rs import BytesAhoCorasick

    search = BytesAhoCorasick([shape.anchor for shape in SHAPES])

    def find(text: bytes | memoryview) -> Iterator[tuple[QosLineShape, int]]:
        for pattern, begin, _ in search.find_matches_as_indexes(text):
            yield SHAPES[pattern], begin

    return find
