"""R15: the kv thread is busy."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import duration, percent, plain
from lsmlens.analyzer.runs.osds import is_osd, osd_number
from lsmlens.analyzer.runs.run import KvThreadTime

# BlueStore's one thread that commits to RocksDB: above this, transactions queue for it (blog of 2022, ceph.io).
BUSY_SHARE = 0.8
# Ours: for so long in a row, to tell a load from a burst.
SUSTAINED_SECONDS = 60.0


class KvThread:
    """The one thread that commits to RocksDB has no time left.

    Evidence: lines "_kv_sync_thread utilization: idle X of Y, submitted: N", every bluestore_kv_sync_util_logging_s
    (10 s), at debug_bluestore 5; the busy share is 1 - X / Y.

    Threshold: above 0.8 for a minute on end (ours, after ceph.io's "RocksDB tuning deep-dive" of 2022).

    Advice: smaller memtables (a shorter skip list to insert into), fewer deferred writes, more OSDs on the device.

    Risk: smaller memtables that are not merged write more in compaction (R05).

    Check: the busy share falls under the same load.
    """

    code: ClassVar[str] = "R15"
    title: ClassVar[str] = "The kv thread is busy"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding, of the longest stretch."""
        if not is_osd(run.run):
            return
        if sum(one.seconds for one in run.run.kv_thread) < SUSTAINED_SECONDS:
            yield NotAssessed(
                self.code,
                self.title,
                f"a minute of `_kv_sync_thread utilization` lines (`ceph config set osd.{osd_number(run.run)}"
                " debug_bluestore 5/5`, for some minutes under load)",
            )
            return
        longest = _longest_busy(run.run.kv_thread)
        seconds = sum(one.seconds for one in longest)
        if seconds < SUSTAINED_SECONDS:
            return
        idle = sum(one.idle_seconds for one in longest)
        submitted = sum(one.submitted for one in longest)
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            meaning="transactions queue for the one thread that commits them, whatever the device could do",
            value=f"busy {percent(1 - idle / seconds)} of {duration(seconds)} on end",
            threshold=f"> {percent(BUSY_SHARE)} for {duration(SUSTAINED_SECONDS)}",
            threshold_source="ceph.io, RocksDB tuning deep-dive (2022); the length is ours",
            evidence=(
                Evidence(
                    run.name,
                    f"{len(longest)} lines `_kv_sync_thread utilization`: idle {duration(idle)} of {duration(seconds)},"
                    f" {plain(round(submitted / seconds))} transactions/s submitted",
                ),
            ),
            advice="smaller memtables (write_buffer_size), fewer deferred writes, more OSDs on the device",
            risk="smaller memtables that are not merged write more in compaction (R05)",
            check="the busy share falls under the same load",
        )


def _longest_busy(times: Sequence[KvThreadTime]) -> list[KvThreadTime]:
    """The longest stretch on end of lines that are each above the threshold."""
    longest: list[KvThreadTime] = []
    current: list[KvThreadTime] = []
    for one in times:
        current = [*current, one] if one.busy_share > BUSY_SHARE else []
        if len(current) > len(longest):
            longest = current
    return longest
