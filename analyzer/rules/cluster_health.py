"""R30: what the cluster itself warns of."""

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.cluster_status import ClusterStatus, HealthCheck, OsdUse, size_in
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import size
from lsmlens.analyzer.rules.level_targets import level_shape
from lsmlens.analyzer.runs.osds import OSD_NAME, is_osd, store_path, while_stopped
from lsmlens.analyzer.units import GIB

_OSD = re.compile(r"\bosd\.(\d+)")
# osd.0 spilled over 11 GiB metadata from 'db' device (1.9 GiB used of 20 GiB) to slow device
_SPILLED = re.compile(r"osd\.(\d+) spilled over (\S+ ?\w+) metadata from 'db' device \((\S+ ?\w+) used of (\S+ ?\w+)\)")
# Hotsos (canonical/hotsos#1078) takes a BlueFS log of 50 GiB for one that is no longer compacted; META holds it.
MOST_META_BYTES = 50 * GIB
# Below this share of block.db in use, files spill for the level they are of, not for want of room (ours).
LEAST_USED_SHARE = 0.7
MONITOR_STORE = "MON_DISK_BIG"
SLOW = (
    "SLOW_OPS",
    "BLUESTORE_SLOW_OP_ALERT",
    "REQUEST_SLOW",
    "OSD_SLOW_PING_TIME_BACK",
    "DB_DEVICE_STALLED_READ_ALERT",
)


def _steps(run: RunAnalysis) -> str:
    """The sizes at which one level more fits, by the level base and multiplier in force, or by the usual ones."""
    shape = level_shape(run)
    if shape is None:
        return "3, 30, 300 GB"
    families = {one.family for one in run.options if one.family is not None}
    steps = ", ".join(size(one) for one in shape.steps())
    base = f"level base {size(shape.base_bytes)}, multiplier {shape.multiplier}"
    return f"{steps} by {base}" + (f", of each of {len(families)} column families" if len(families) > 1 else "")


def speaks_for_cluster(run: RunAnalysis, peers: Sequence[RunAnalysis]) -> bool:
    """Whether what is of no OSD is told with this run: with the first of them, so that it is told once."""
    return not run.is_monitor and all(run.name <= one.name for one in peers)


class ClusterHealth:
    """The cluster warns of spillover, of slow operations or of a monitor's store, or an OSD's metadata is too large.

    Evidence: `ceph health detail` (BLUEFS_SPILLOVER, SLOW_OPS, BLUESTORE_SLOW_OP_ALERT, MON_DISK_BIG), `ceph osd tree`
    for the hosts, and META of `ceph osd df`; logs are not needed.

    Threshold: any check of Ceph's. META above 50 GiB (canonical/hotsos#1078, for BlueFS's log). A spilled database
    whose own device is used for less than 70 % (ours) spilled for its level, not for want of room: without
    use_some_extra a level goes to block.db only if all of it fits, at 3, 30 and 300 GB.

    Advice: by check, see the finding. Slow operations of all OSDs of one host are the host's.

    Risk: compactions take device time; tools need the OSD stopped.

    Check: `ceph health detail` no longer says so a day later.
    """

    code: ClassVar[str] = "R30"
    title: ClassVar[str] = "The cluster warns"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:
        """One finding for each check; of an OSD, of those that name it."""
        cluster = run.beside.cluster
        if cluster is None:
            return
        own = OSD_NAME.fullmatch(run.name)
        only = int(own[1]) if own is not None and is_osd(run.run) else None
        for check in cluster.health:
            if check.code == MONITOR_STORE and speaks_for_cluster(run, peers):
                yield self._monitor(cluster, check)
            named = {int(number) for number in _OSD.findall(" ".join((check.summary, *check.details)))}
            if only is not None and only not in named:
                continue
            if check.code == "BLUEFS_SPILLOVER":
                yield from self._spilled(run, cluster, check, only)
            elif check.code in SLOW:
                yield self._slow(cluster, check, named)
        large = [one for one in cluster.use if one.meta_bytes > MOST_META_BYTES and only in (None, one.osd)]
        if large:
            yield self._metadata(cluster, large)

    def _spilled(
        self, run: RunAnalysis, cluster: ClusterStatus, check: HealthCheck, only: int | None
    ) -> Iterator[Finding]:
        for line in check.details:
            match = _SPILLED.search(line)
            if match is None or only not in (None, int(match[1])):
                continue
            used, total = size_in(match[3]), size_in(match[4])
            by_level = used is not None and bool(total) and used < LEAST_USED_SHARE * (total or 1)
            why = (
                f"there is room on block.db, so it is a level that does not fit as a whole ({_steps(run)}): what is"
                " free below the next step is of no use to RocksDB"
                if by_level
                else "block.db is full"
            )
            tool, path = "ceph-bluestore-tool", store_path(run.run)
            yield self._finding(
                "Database on the slow device",
                Severity.WARNING,
                f"osd.{match[1]} has {match[2]} of RocksDB's files on its main device; {why}",
                f"{match[2]} spilled, {match[3]} used of {match[4]}",
                "any",
                cluster,
                line,
                "compact; if it comes back, give block.db the size of the next step, or set"
                " bluestore_volume_selection_policy to use_some_extra, the default since late in 14.2"
                if by_level
                else "compact; if it comes back, enlarge block.db and move back what has spilled",
                (
                    f"ceph tell osd.{match[1]} compact",
                    *while_stopped(
                        run.run,
                        f"{tool} bluefs-bdev-migrate --path {path} --devs-source {path}/block --dev-target"
                        f" {path}/block.db",
                    ),
                )
                if only is not None
                else (f"ceph tell osd.{match[1]} compact",),
            )

    def _slow(self, cluster: ClusterStatus, check: HealthCheck, osds: set[int]) -> Finding:
        named = ", ".join(f"osd.{number}" for number in sorted(osds)) or "some OSDs"
        host = cluster.host_of_all(osds) if len(osds) > 1 else None
        others = {osd for osd, of in cluster.hosts.items() if of == host} - osds
        if host is not None and not others:
            where = f"all OSDs of host {host} and no other: look at the host (network, controller, CPU, memory) first"
        elif host is not None:
            where = f"all on host {host}, which has others that are not slow: look at the devices they share"
        elif len(osds) == 1:
            where = f"one OSD alone ({named}): look at its device first"
        else:
            where = "OSDs of several hosts: look at what they share, a pool, a switch or a load"
        return self._finding(
            "Slow operations in the cluster",
            Severity.WARNING,
            f"{check.summary}; {where}",
            named,
            "any",
            cluster,
            f"{check.code}: {check.summary}",
            "take dump_historic_ops of these OSDs, which name the peers that were waited for, and their logs",
            tuple(f"ceph tell osd.{number} dump_historic_ops" for number in sorted(osds)[:4]),
        )

    def _monitor(self, cluster: ClusterStatus, check: HealthCheck) -> Finding:
        monitors = sorted(set(re.findall(r"\bmon\.([\w-]+)", " ".join((check.summary, *check.details)))))
        return self._finding(
            "A monitor's store is large",
            Severity.WARNING,
            f"{check.summary}; a store grows while placement groups are not clean, for maps are kept until they are",
            "; ".join(check.details) or check.summary,
            "mon_data_size_warn, 15 GiB",
            cluster,
            f"{check.code}: {check.summary}",
            "first let the placement groups become active+clean, then compact the monitors one by one",
            tuple(f"ceph tell mon.{name} compact" for name in monitors),
        )

    def _metadata(self, cluster: ClusterStatus, large: Sequence[OsdUse]) -> Finding:
        told = ", ".join(f"osd.{one.osd} META {size(one.meta_bytes)}, OMAP {size(one.omap_bytes)}" for one in large)
        return self._finding(
            "Metadata far beyond omap",
            Severity.CRITICAL,
            "BlueFS's own log is the likely part: it grows where BlueFS is not asked to compact it, until the OSD"
            " cannot replay it at its start",
            told,
            f"META {size(MOST_META_BYTES)}",
            cluster,
            told,
            "do not restart these OSDs; compact them while they run, look at bluefs.log_bytes, then upgrade (Ceph"
            " tracker 45903)",
            tuple(
                command
                for one in large
                for command in (f"ceph tell osd.{one.osd} perf dump bluefs", f"ceph tell osd.{one.osd} compact")
            ),
        )

    def _finding(
        self,
        title: str,
        severity: Severity,
        meaning: str,
        value: str,
        threshold: str,
        cluster: ClusterStatus,
        line: str,
        advice: str,
        commands: tuple[str, ...],
    ) -> Finding:
        source = next(iter(cluster.sources.values()), "ceph health detail")
        return Finding(
            code=self.code,
            title=title,
            severity=severity,
            confidence=Confidence.MEDIUM,
            meaning=meaning,
            value=value,
            threshold=threshold,
            threshold_source="Ceph, health checks",
            evidence=(Evidence(source, line),),
            advice=advice,
            commands=commands,
            risk="compactions take device time; tools need the OSD stopped",
            check="`ceph health detail` no longer says so a day later",
        )
