"""R02: writes slowed down."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import percent
from lsmlens.analyzer.rules.stalls import (
    LEVEL0,
    LEVEL0_OR_MEMTABLES,
    MEMTABLES,
    PENDING,
    SLOWDOWN,
    STOP,
    UNKNOWN,
    Stall,
    advice_on,
    remedies,
    stalled_share,
    stalled_time,
    stalls_of,
)

# Any slowdown is a warning (RocksDB, db/column_family.cc); from this share of a dump's interval, or of the whole time,
# it is critical (ours: 1 % is about what a client's 99th percentile shows).
CRITICAL_STALLED_SHARE = 0.01

MEANINGS = {
    MEMTABLES: "all write buffers but one were full",
    LEVEL0: "level 0 held as many files as level0_slowdown_writes_trigger allows, or nearly so",
    PENDING: "more bytes waited for compaction than soft_pending_compaction_bytes_limit allows",
    LEVEL0_OR_MEMTABLES: "level 0 or the write buffers were nearly full (Speedb names both, not which of them)",
    UNKNOWN: "statistics dumps count stalled time, and no cause",
}


class WriteSlowdowns:
    """Writes were slowed down so that flushes or compactions keep up.

    Evidence: lines "Stalling writes because we have N level-0 files rate R", "…N immutable memtables…" or "…of
    estimated pending compaction bytes N…", and Speedb's "Stalling writes, L0 files N, memtables M". RocksDB prints
    one at every recalculation while the state lasts, so they say neither how often nor how long; statistics dumps
    say how often by cause (Stalls(count), Write Stall (count)) and how long (Cumulative and Interval stall, stops
    counted in).

    Threshold: any is a warning (RocksDB, db/column_family.cc). More than 1 % of the interval between two statistics
    dumps, or of the whole time, is critical (ours).

    Advice: by cause. Memtables: more write buffers, or faster flushes. Level-0 files: more subcompactions and
    background jobs. Pending bytes: more background jobs, or levels shaped so that less is rewritten.

    Risk: more write buffers take more memory; more jobs take CPU and device time from clients.

    Check: the lines are gone, and "Cumulative stall" stays at 0, after the change under the same load.
    """

    code: ClassVar[str] = "R02"
    title: ClassVar[str] = "Writes slowed down"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for each column family and cause; one for the database if only the time is known."""
        slowed = stalls_of(run, SLOWDOWN)
        if not slowed and run.series is None:
            yield NotAssessed(self.code, self.title, "statistics dumps")
        part = stalled_share(run.series) if run.series is not None else None
        is_critical = part is not None and part > CRITICAL_STALLED_SHARE
        if not slowed and is_critical and not stalls_of(run, STOP):
            slowed = [Stall(None, UNKNOWN, 0, 0, ())]
        for stall in slowed:
            time = "stalled time not known" if part is None else f"stalled up to {percent(part)} of the time"
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.CRITICAL if is_critical else Severity.WARNING,
                confidence=Confidence.HIGH,
                meaning=f"{stall.of}{MEANINGS[stall.cause]}, so all writes to the database were slowed down"
                if stall.cause != UNKNOWN
                else f"writes to the database were slowed down or stopped: {MEANINGS[UNKNOWN]}",
                value=f"{stall.told}, {time}".removeprefix(", "),
                threshold=f"any; critical above {percent(CRITICAL_STALLED_SHARE)} of the time",
                threshold_source="RocksDB, db/column_family.cc; the share of time is ours",
                evidence=(*stall.evidence, *stalled_time(run)),
                column_family=stall.family,
                advice=advice_on(stall),
                changes=remedies(run, stall),
                risk="more write buffers take memory, more jobs take CPU and device time",
                check='no line "Stalling writes" under the same load',
            )
