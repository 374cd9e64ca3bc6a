"""R14: much is compacted because of deletions in tables."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar

import polars as pl
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.numbers import counted, percent, size
from lsmlens.analyzer.options.option_changes import is_ceph
from lsmlens.analyzer.runs.jobs import COMPACTION

# Share of the bytes compactions write (ours); the reason's name is RocksDB's CompactionReason.
MOST_MARKED_SHARE = 0.2
MARKED = "FilesMarkedForCompaction"

# Ceph marks a table with so many deletions within a window of so many entries (its defaults since Pacific).
WINDOW = ("rocksdb_cf_compact_on_deletion_sliding_window", 32768)
TRIGGER = ("rocksdb_cf_compact_on_deletion_trigger", 16384)


class MarkedCompactions:
    """Many of the bytes compactions write are of tables marked for compaction: they held many deletions.

    Evidence: compaction_reason "FilesMarkedForCompaction" of compactions, by total_output_size.

    Threshold: more than 20 % of the bytes all compactions wrote (ours).

    Advice: it is the price of iterators that need not step over tombstones. Where listings are fast enough, let a
    table be marked at more deletions (rocksdb_cf_compact_on_deletion_trigger in Ceph, the trigger of the collector
    elsewhere); where families leak deletes (R05), repair that first.

    Risk: tombstones stay longer; listings and cleaning up over them get slower. In Ceph the OSD must be restarted,
    and tables that are there keep their marks.

    Check: the share falls, and "slow operation observed" lines for lower_bound, upper_bound and next do not appear.
    """

    code: ClassVar[str] = "R14"
    title: ClassVar[str] = "Tables marked for their deletions drive compaction"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for the database, naming the column families."""
        bytes_by_reason: Counter[str] = Counter()
        marked: Counter[str] = Counter()
        compactions = 0
        told = run.scan_jobs().filter(kind=COMPACTION).drop_nulls("reason").group_by("column_family", "reason")
        sums = told.agg(pl.col("output_bytes").sum(), jobs=pl.len()).sort("column_family", "reason")
        for family, reason, written, jobs in sums.collect().iter_rows():
            bytes_by_reason[reason] += written
            if reason == MARKED:
                compactions += jobs
                marked[family or "unknown"] += written
        total = sum(bytes_by_reason.values())
        if not total:
            yield NotAssessed(self.code, self.title, "compactions with a reason (RocksDB 5.14 or later)")
            return
        part = bytes_by_reason[MARKED] / total
        if part <= MOST_MARKED_SHARE:
            return
        families = ", ".join(
            f"{family} {percent(count / bytes_by_reason[MARKED])}" for family, count in marked.most_common()
        )
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.HIGH,
            meaning=f"compaction-on-deletion, not growth, makes {percent(part)} of what compactions write ({families})",
            value=f"{percent(part)} of {size(total)}",
            threshold=f"{percent(MOST_MARKED_SHARE)} of the bytes compactions write",
            threshold_source="ours; the reason is RocksDB's CompactionReason",
            evidence=(
                Evidence(
                    run.name,
                    f"{counted(compactions, 'compaction')} for {MARKED} wrote {size(bytes_by_reason[MARKED])};"
                    f" by family: {families}",
                ),
            ),
            column_family=next(iter(marked)) if len(marked) == 1 else None,
            advice="where listings are fast enough, mark a table at more deletions; repair leaking deletes first",
            changes=_changes(run),
            risk="tombstones stay longer, and listings over them get slower",
            check="the share falls, and no slow lower_bound, upper_bound or next is logged",
        )


def _changes(run: RunAnalysis) -> tuple[OptionChange, ...]:
    """Halfway from the trigger in force to the whole window."""
    if not is_ceph(run) or run.is_monitor:
        return ()
    window, trigger = (_shown(run, *option) for option in (WINDOW, TRIGGER))
    if trigger >= window:
        return ()
    return (OptionChange(TRIGGER[0], str((window + trigger) // 2), is_ceph=True),)


def _shown(run: RunAnalysis, name: str, default: int) -> int:
    value = run.beside.config_show.get(name)
    return int(value) if isinstance(value, str) and value.isdigit() else default
