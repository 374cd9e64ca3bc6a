"""R15: the kv thread is busy."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Finding, NotAssessed
from lsmlens.analyzer.osds import is_osd

# BlueStore's one thread that commits to RocksDB: above this, transactions queue for it (blog of 2022, ceph.io).
BUSY_SHARE = 0.8


class KvThread:
    """The one thread that commits to RocksDB has no time left.

    Evidence: lines "_kv_sync_thread utilization: idle X of Y, submitted: N", every bluestore_kv_sync_util_logging_s
    (10 s), at debug_bluestore 5; the busy share is 1 - X / Y. They are not read yet, so this says what it lacks.

    Threshold: 0.8 over minutes (ours, after ceph.io's "RocksDB tuning deep-dive" of 2022).

    Advice: smaller memtables (a shorter skip list to insert into), fewer deferred writes, more OSDs on the device.

    Risk: smaller memtables that are not merged write more in compaction (R05).

    Check: the busy share falls under the same load.
    """

    code: ClassVar[str] = "R15"
    title: ClassVar[str] = "The kv thread is busy"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """What it lacks, for an OSD; nothing for others."""
        if not is_osd(run.run):
            return
        yield NotAssessed(
            self.code,
            self.title,
            "lines `_kv_sync_thread utilization` (`ceph config set osd debug_bluestore 5/5`, for some minutes), which"
            f" are not read yet; by hand: busy is 1 - idle / whole, look for > {BUSY_SHARE:g}",
        )
