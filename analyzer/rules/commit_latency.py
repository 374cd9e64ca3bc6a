"""R16: where the kv thread's time goes, to RocksDB or to the data device."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import time_of
from lsmlens.analyzer.runs.osds import is_osd, osd_number

if TYPE_CHECKING:
    from lsmlens.analyzer.counters.counter_summary import CounterSummary

# Our own: one part takes more than three times the other.
RATIO = 3.0
# Our own: below a millisecond neither part is what clients wait for.
LEAST_SECONDS = 0.001


class CommitLatency:
    """One part of a kv round takes most of it: the commit to RocksDB, or the flush of the data device.

    Evidence: bluestore.kv_commit_lat and kv_flush_lat, the means since the OSD's last start. A round first flushes
    the data device (where writes went there), then commits: RocksDB writes its log and BlueFS syncs it.

    Threshold: one mean more than 3 times the other, and at least 1 ms (ours). Commits without data before them, such
    as omap writes, flush next to nothing: the ratio says where time goes, not that something is wrong.

    Advice: commit: look at write stops and stalls, at the device that holds the WAL, and at how many transactions one
    round takes. Flush: look at the data device and its write cache.

    Risk: none; this is where to look.

    Check: the means between two later perf dumps, under the same load.
    """

    code: ClassVar[str] = "R16"
    title: ClassVar[str] = "Commits wait for RocksDB"
    title_of_flush: ClassVar[str] = "Commits wait for the data device"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        if not is_osd(run.run):
            return
        counters = run.counters
        if counters is None or counters.kv_commit_seconds is None or counters.kv_flush_seconds is None:
            yield NotAssessed(self.code, self.title, "perf dump")
            return
        commit, flush = counters.kv_commit_seconds, counters.kv_flush_seconds
        if max(commit, flush) >= LEAST_SECONDS and max(_ratio(commit, flush), _ratio(flush, commit)) > RATIO:
            yield self._finding(run, counters, commit, flush)

    def _finding(self, run: RunAnalysis, counters: "CounterSummary", commit: float, flush: float) -> Finding:
        by_rocksdb = commit > flush
        number = osd_number(run.run)
        return Finding(
            code=self.code,
            title=self.title if by_rocksdb else self.title_of_flush,
            severity=Severity.INFO,
            confidence=Confidence.MEDIUM,
            meaning="most of a kv round is RocksDB's write and the sync of its log"
            if by_rocksdb
            else "most of a kv round is the flush of the data device, not RocksDB",
            value=f"commit {time_of(commit)}, flush {time_of(flush)}",
            threshold=f"{RATIO:g} times, from {LEAST_SECONDS * 1e3:g} ms on",
            threshold_source="lsmlens",
            evidence=(
                Evidence(
                    "perf dump",
                    f"bluestore.kv_commit_lat {time_of(commit)}, kv_flush_lat {time_of(flush)} in the mean of"
                    f" {counters.kv_syncs or 0} rounds",
                ),
            ),
            advice="look at write stops and stalls, and at the device that holds the WAL"
            if by_rocksdb
            else "look at the data device and its write cache; RocksDB's options do not change this",
            commands=(f"ceph tell osd.{number} perf dump bluestore", f"ceph tell osd.{number} perf dump rocksdb"),
            risk="none: both commands only read",
            check="the same means between two later perf dumps, under the same load",
        )


def _ratio(one: float, other: float) -> float:
    return one / other if other > 0 else math.inf
