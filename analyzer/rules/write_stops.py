"""R01: writes stopped."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.rules.stalls import (
    BUFFER_MANAGER,
    LEVEL0,
    MEMTABLES,
    PENDING,
    STOP,
    advice_on,
    remedies,
    stalls_of,
)

MEANINGS = {
    MEMTABLES: "all write buffers were full and none flushed yet",
    LEVEL0: "level 0 held as many files as level0_stop_writes_trigger allows",
    PENDING: "more bytes waited for compaction than hard_pending_compaction_bytes_limit allows",
    BUFFER_MANAGER: "the write buffers of all databases together took what their write buffer manager allows",
}


class WriteStops:
    """Writes were stopped until flushes or compactions caught up.

    Evidence: lines "Stopping writes because we have N immutable memtables (waiting for flush)…", "…N level-0 files"
    or "…of estimated pending compaction bytes N", which RocksDB prints at every recalculation while the state lasts;
    and what statistics dumps count by cause ("Stalls(count): … level0_numfiles", "Write Stall (count): … -stops"),
    which is how often the state was entered.

    Threshold: any. RocksDB, db/column_family.cc.

    Advice: by cause. Memtables: more write buffers, or faster flushes. Level-0 files: more subcompactions and
    background jobs, for one compaction of level 0 runs at a time. Pending bytes: more background jobs, or levels
    shaped so that less is rewritten.

    Risk: more write buffers take more memory; more jobs take CPU and device time from clients.

    Check: the lines are gone, and the counts stay at 0, after the change under the same load.
    """

    code: ClassVar[str] = "R01"
    title: ClassVar[str] = "Writes stopped"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for each column family and cause."""
        for stall in stalls_of(run, STOP):
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.CRITICAL,
                confidence=Confidence.HIGH,
                meaning=f"{stall.of}{MEANINGS[stall.cause]}, so all writes to the database waited",
                value=stall.told,
                threshold="any",
                threshold_source="RocksDB, db/column_family.cc",
                evidence=stall.evidence,
                column_family=stall.family,
                advice=advice_on(stall),
                changes=remedies(run, stall),
                risk="more write buffers take memory, more jobs take CPU and device time",
                check='no line "Stopping writes" under the same load',
            )
