"""R01: writes stopped."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Finding, NotAssessed, Severity

MEANINGS = {
    "immutable_memtables": "all write buffers were full and none flushed yet",
    "level0_files": "level 0 held as many files as level0_stop_writes_trigger allows",
    "pending_compaction_bytes": "more bytes waited for compaction than hard_pending_compaction_bytes_limit allows",
}
ADVICE = {
    "immutable_memtables": "raise max_write_buffer_number, or let flushes run faster (max_background_jobs, device)",
    "level0_files": "raise max_background_jobs, or make level 0 and level 1 alike in size",
    "pending_compaction_bytes": "raise max_background_jobs, or max_bytes_for_level_base; compaction is behind",
}
OPTIONS = {
    "immutable_memtables": "max_write_buffer_number=N",
    "level0_files": "max_background_jobs=N",
    "pending_compaction_bytes": "max_background_jobs=N",
}


class WriteStops:
    """Writes were stopped until flushes or compactions caught up.

    Evidence: lines "Stopping writes because we have N immutable memtables (waiting for flush)…", "…N level-0 files"
    or "…of estimated pending compaction bytes N". RocksDB prints one at every recalculation while the state lasts.

    Threshold: any. RocksDB, db/column_family.cc.

    Advice: by cause. Memtables: more write buffers, or faster flushes. Level-0 files and pending bytes: more
    background jobs, or levels shaped so that less is rewritten.

    Risk: more write buffers take more memory; more jobs take CPU and device time from clients.

    Check: the lines are gone after the change under the same load.
    """

    code: ClassVar[str] = "R01"
    title: ClassVar[str] = "Writes stopped"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for each column family and cause."""
        for (family, kind, cause), lines in sorted(run.run.stall_lines.items()):
            if kind != "stop":
                continue
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.CRITICAL,
                confidence=Confidence.HIGH,
                meaning=f"{family}: {MEANINGS[cause]}, so all writes to the database waited",
                value=f"{lines} line(s)",
                threshold="any",
                threshold_source="RocksDB, db/column_family.cc",
                evidence=(run.run.stall_places[family, kind, cause],),
                column_family=family,
                advice=ADVICE[cause],
                commands=(f'ceph config set osd bluestore_rocksdb_options_annex "{OPTIONS[cause]}"',)
                if run.run.ceph_version
                else (OPTIONS[cause],),
                risk="more write buffers take memory, more jobs take CPU and device time",
                check='no line "Stopping writes" under the same load',
            )
