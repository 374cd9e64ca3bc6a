"""R27: all flushes and compactions are asked for by the program."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH

MANUAL = ("ManualCompaction", "Manual Compaction", "Manual Flush")
PLURALS = {FLUSH: "flushes", COMPACTION: "compactions"}
# Ours: a few manual jobs in a row are a maintenance window, not a habit.
LEAST_JOBS = 20


class ManualWork:
    """The program asks for every flush and compaction itself; RocksDB's own triggers decide nothing.

    Evidence: the reasons of flushes ("Manual Compaction", "Manual Flush") and of compactions ("ManualCompaction").

    Threshold: all of 20 jobs or more with a reason (ours).

    Advice: look at who calls CompactRange and Flush, and how often: a compaction that is asked for rewrites its range
    whether it is due or not. Tuning triggers, levels and buffers changes nothing while this goes on.

    Risk: where the calls are there to drop deleted ranges at once, space comes back later without them.

    Check: reasons such as "LevelL0FilesNum" and "Write Buffer Full" appear.
    """

    code: ClassVar[str] = "R27"
    title: ClassVar[str] = "The program itself asks for all flushes and compactions"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        import polars as pl

        counted = (
            run.scan_jobs()
            .filter(pl.col("kind").is_in([FLUSH, COMPACTION]), pl.col("reason").is_not_null())
            .group_by("kind", "reason")
            .agg(jobs=pl.len(), size=pl.col("output_bytes").sum())
            .sort("kind", "jobs", descending=True)
            .collect()
            .rows()
        )
        jobs = sum(count for _, _, count, _ in counted)
        has_compactions = any(kind == COMPACTION for kind, *_ in counted)
        if jobs < LEAST_JOBS or not has_compactions or any(reason not in MANUAL for _, reason, *_ in counted):
            return
        told = ", ".join(f"{count} {PLURALS[kind]} for {reason}" for kind, reason, count, _ in counted)
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.INFO,
            confidence=Confidence.HIGH,
            meaning="flushes and compactions run because somebody asks for them, not because they are due; options that"
            " say when they are due change nothing",
            value=f"{jobs} of {jobs} jobs",
            threshold=f"all of {LEAST_JOBS} jobs or more",
            threshold_source="ours; the reasons are RocksDB's",
            evidence=(Evidence(run.name, told),),
            advice="look at who calls CompactRange and Flush, and how often",
            risk="where the calls drop deleted ranges at once, space comes back later without them",
            check='reasons such as "LevelL0FilesNum" and "Write Buffer Full" appear',
        )
