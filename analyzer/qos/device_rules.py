"""Q07, Q08, Q19, Q20: what the scheduler is told of the device, and what lies between them."""

from collections.abc import Iterator
from typing import ClassVar

from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import plain, size
from lsmlens.analyzer.qos.capacity_rules import PLAUSIBLE, evidence_of, evidence_of_line
from lsmlens.analyzer.qos.log_lines import LineKind
from lsmlens.analyzer.qos.remedies import restart, set_option, show_option, unset_option
from lsmlens.analyzer.qos.view import OsdView, QosView

OBJECT_BYTES = 4 << 20
# Ours: what an NVMe and a SATA SSD write in sequence, roughly, against the option's 1200 MiB/s.
NVME_BYTES_PER_SECOND, SATA_BYTES_PER_SECOND = 2e9, 5e8
# Ours: from where on a transaction is slow below the queue, and how much slower than in it.
SLOW_SECONDS = {"ssd": 5e-3, "hdd": 50e-3}
TIMES_QUEUE = 3.0


class WrongKind:
    """The device is taken for another kind than it is: the other kind's options are in force.

    Evidence: the rotational flag (osd metadata, the log's `bdev` line) against the device's name or class, and against
    the OSD's own benchmark: a rotating device that did more than 1000 writes a second is none. Virtual disks, RAID
    controllers and bcache report what they like.

    Threshold: NVMe, class ssd or over 1000 IOPS while rotational; class hdd or under 500 while not (rook PR 18144).

    Advice: let the kernel say the truth (a udev rule for /sys/block/…/queue/rotational) and restart the OSD; the device
    class is set apart from it. Until then the capacity of the kind in force can be set by hand.

    Risk: with the flag the OSD changes shards, throttles and sleeps too; caches and min_alloc_size stay.

    Check: ceph osd metadata N | grep rotational; the benchmark at the next start.
    """

    code: ClassVar[str] = "Q07"
    title: ClassVar[str] = "Device taken for another kind"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        kind, metadata = osd.in_force.kind, osd.material.metadata
        bench = osd.material.last_line(LineKind.BENCH) or osd.material.last_line(LineKind.BENCH_REFUSED)
        if kind is None or (metadata is None and bench is None):
            yield NotAssessed(self.code, self.title, "osd metadata, or the OSD's log from its start")
            return
        evidence = [Evidence(osd.in_force.kind_source, f"taken for: {kind}")]
        signs: list[str] = []
        if metadata is not None:
            device, device_class = metadata.devices or "", metadata.device_class
            if kind == "hdd" and (device.startswith("nvme") or device_class in ("ssd", "nvme")):
                signs.append(f"the device is {device or 'unknown'} of class {device_class}")
            if kind == "ssd" and device_class == "hdd":
                signs.append(f"its class is {device_class}")
        iops = bench.real("iops") if bench is not None else None
        if bench is not None and iops is not None:
            if kind == "hdd" and iops > PLAUSIBLE["ssd"][0]:
                signs.append(f"it did {plain(round(iops))} writes a second")
                evidence.append(evidence_of_line(bench))
            if kind == "ssd" and iops < PLAUSIBLE["hdd"][1]:
                signs.append(f"it did {plain(round(iops))} writes a second")
                evidence.append(evidence_of_line(bench))
        if not signs:
            return
        capacity = osd.in_force.capacity
        by_hand = f"{iops:.0f}" if iops is not None else "IOPS"
        disk = metadata.devices if metadata is not None and metadata.devices else "DEVICE"
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            meaning=f"Ceph takes it for an {kind.upper()}, but {' and '.join(signs)}: the wrong pair of options counts",
            value=f"{kind}, {signs[0]}",
            threshold=f"an HDD does {PLAUSIBLE['hdd'][1]:g} at most, an SSD {PLAUSIBLE['ssd'][0]:g} at least",
            threshold_source="thresholds of Ceph 18.2.7; rook PR 18144",
            evidence=tuple(evidence),
            advice="let the kernel report the right flag and restart the OSD; or set the capacity of the kind in force",
            commands=(
                f"cat /sys/block/{disk}/queue/rotational",
                f"echo {int(kind == 'ssd')} > /sys/block/{disk}/queue/rotational    # and a udev rule to keep it",
                restart(osd.number),
                *((set_option(osd.number, capacity.name, by_hand),) if capacity is not None else ()),
            ),
            risk="shards, throttles and sleeps follow the flag too; needs a restart",
            check=f"ceph osd metadata {osd.number} | grep rotational",
        )


class ShardsOfHdd:
    """An HDD with several queues under mClock.

    Evidence: rotational, mClock, and more than one shard (5 with one thread each before 18.2.5 and 19.2.1). Each queue
    has a share of the limits by itself, and knows nothing of the others.

    Threshold: more than 1 (tracker 66289, PR 58509; the default since 18.2.5 and 19.2.1).

    Advice: one shard with five threads. Needs a restart.

    Risk: none known; small loads do not notice.

    Check: the log's lines "OSDShard using op scheduler", one a shard.
    """

    code: ClassVar[str] = "Q08"
    title: ClassVar[str] = "Several queues on an HDD"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        if not osd.in_force.is_mclock or osd.in_force.kind == "ssd":
            return
        shards, threads = osd.in_force.shards, osd.in_force.thread_count
        if osd.in_force.kind is None or shards is None or shards.real is None:
            yield NotAssessed(self.code, self.title, "osd metadata and config show, or the OSD's log from its start")
            return
        if shards.real <= 1:
            return
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.HIGH,
            meaning="service is uneven and slow requests are many: each queue keeps its own share of every limit",
            value=f"{shards.value} shards of {threads or '?'} threads",
            threshold="> 1 shard",
            threshold_source="tracker 66289, PR 58509",
            evidence=(evidence_of(shards), Evidence(osd.in_force.kind_source, "rotational")),
            advice="one shard with five threads; restart the OSD",
            commands=(
                set_option(osd.number, "osd_op_num_shards_hdd", 1),
                set_option(osd.number, "osd_op_num_threads_per_shard_hdd", 5),
                restart(osd.number),
            ),
            risk=f"back: {unset_option(osd.number, 'osd_op_num_shards_hdd')}; restart",
            check="the log: one line `OSDShard using op scheduler` at the start",
        )


class BandwidthIsDefault:
    """The sequential bandwidth is the default, which nobody measured.

    Evidence: osd_mclock_max_sequential_bandwidth_* is the default on an NVMe or SATA SSD, or far from what the OSD's
    own benchmark wrote. Ceph never measures it. Large operations (over bandwidth / capacity) are charged by it.

    Threshold: 1200 MiB/s on NVMe (over 2 GB/s usual) or SATA (500 MB/s) (ours).

    Advice: measure with fio, 4 MiB in sequence, and set it. No restart.

    Risk: too high a value lets recovery take more of the device than its share.

    Check: ceph config show osd.N osd_mclock_max_sequential_bandwidth_ssd.
    """

    code: ClassVar[str] = "Q19"
    title: ClassVar[str] = "Sequential bandwidth never measured"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        bandwidth, metadata = osd.in_force.bandwidth, osd.material.metadata
        if not osd.in_force.is_mclock or osd.in_force.kind != "ssd":
            return
        if bandwidth is None or bandwidth.real is None or metadata is None or not metadata.devices:
            yield NotAssessed(self.code, self.title, "config show of 17.2.7 or later, and osd metadata")
            return
        if not bandwidth.is_default:
            return
        is_nvme = metadata.devices.startswith("nvme")
        if not is_nvme and not metadata.devices.startswith("sd"):
            return
        usual = NVME_BYTES_PER_SECOND if is_nvme else SATA_BYTES_PER_SECOND
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.INFO,
            confidence=Confidence.LOW,
            meaning=f"{'an NVMe does' if is_nvme else 'a SATA SSD does no'} more than that: shares of large operations"
            f" are off by the ratio, about {max(usual, bandwidth.real) / min(usual, bandwidth.real):.1f}",
            value=f"{size(bandwidth.real)}/s",
            threshold=f"default on a device of about {size(usual)}/s",
            threshold_source="lsmlens",
            evidence=(evidence_of(bandwidth), Evidence(osd.material.metadata_source, f"devices {metadata.devices}")),
            advice="measure 4 MiB writes in sequence and set it; no restart",
            commands=(set_option(osd.number, bandwidth.name, "BYTES_PER_SECOND"),),
            risk=f"too high a value favours recovery; back: {unset_option(osd.number, bandwidth.name)}",
            check=show_option(osd.number, bandwidth.name),
        )


class ThrottleBelowQueue:
    """Operations wait below mClock, where it cannot order them; or a small throttle gives pushes the store alone.

    Evidence: bluestore_throttle_bytes, and in perf dumps the time an operation is processed against the time it waits
    in the queue (op_w_process_latency, op_before_dequeue_op_lat). What BlueStore has let in is past the scheduler.

    Threshold: at the default of 64 MiB, 3 times longer below than in the queue, and over 5 ms (SSD) or 50 ms (HDD)
    (ours); or below 4 MiB, where each pushed object keeps all else out until it is committed.

    Advice: lower it until throughput begins to suffer: the published study used 256 KiB on NVMe and 40 MiB on HDDs.
    No restart.

    Risk: below 4 MiB every recovered object stops the store for its time; too low a value costs throughput.

    Check: op_before_dequeue_op_lat rises as op_w_process_latency falls; throughput stays.
    """

    code: ClassVar[str] = "Q20"
    title: ClassVar[str] = "Throttle between queue and device"

    def check(self, osd: OsdView, view: QosView) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        throttle, kind = osd.in_force.throttle_bytes, osd.in_force.kind
        if not osd.in_force.is_mclock:
            return
        if throttle is None or throttle.real is None or kind is None:
            yield NotAssessed(self.code, self.title, "config show")
            return
        name = "bluestore_throttle_bytes"
        if throttle.real < OBJECT_BYTES:
            yield self._finding(
                osd,
                (evidence_of(throttle),),
                f"{throttle.real / 1024:g} KiB",
                "< 4 MiB",
                "each object of 4 MiB that recovery pushes keeps all else out of the store until it is committed",
                "raise it above the largest object if recovery and latency matter more than order among small writes",
                (set_option(osd.number, name, 16 << 20),),
            )
            return
        counters = osd.counters
        if counters is None or counters.client_write_process_seconds is None or counters.before_dequeue_seconds is None:
            yield NotAssessed(self.code, self.title, "perf dump with client writes")
            return
        below, above = counters.client_write_process_seconds, counters.before_dequeue_seconds
        if throttle.is_default and below > SLOW_SECONDS[kind] and below > TIMES_QUEUE * above:
            yield self._finding(
                osd,
                (
                    evidence_of(throttle),
                    Evidence("perf dump", f"op_w_process_latency {below * 1e3:.1f} ms, op_before_dequeue_op_lat"
                             f" {above * 1e3:.1f} ms"),
                ),
                f"{below * 1e3:.1f} ms below the queue, {above * 1e3:.1f} ms in it",
                f"> {TIMES_QUEUE:g} times, over {SLOW_SECONDS[kind] * 1e3:g} ms",
                "operations wait where mClock has no say: its shares order only what is still in the queue",
                "lower bluestore_throttle_bytes step by step until throughput suffers; no restart",
                (set_option(osd.number, name, (1 << 20) if kind == "ssd" else (40 << 20)),),
            )  # fmt: skip

    def _finding(
        self,
        osd: OsdView,
        evidence: tuple[Evidence, ...],
        value: str,
        threshold: str,
        meaning: str,
        advice: str,
        commands: tuple[str, ...],
    ) -> Finding:
        return Finding(
            code=self.code,
            title=self.title,
            severity=Severity.INFO,
            confidence=Confidence.MEDIUM,
            meaning=meaning,
            value=value,
            threshold=threshold,
            threshold_source="Ceph's documentation of mClock; lsmlens",
            evidence=evidence,
            advice=advice,
            commands=commands,
            risk=f"too low costs throughput; back: {unset_option(osd.number, 'bluestore_throttle_bytes')}",
            check=f"ceph tell osd.{osd.number} perf dump osd: op_before_dequeue_op_lat, op_w_process_latency",
        )
