"""R23: too few threads for compaction."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import counted, duration
from lsmlens.analyzer.rules.background_jobs import compaction_threads, more_threads
from lsmlens.analyzer.runs.jobs import COMPACTION

# Ceph PR 29027 (a second compaction thread gave some 50 % more OMAP writes); the numbers are ours. A compaction is
# due at a score of 1; one that starts at more than 1.5 has waited.
WAITED_SCORE = 1.5
LEAST_FAMILIES = 2
LEAST_SECONDS = 120.0
# All threads count as busy on, if within this time all are again: one compaction ends and the next begins (ours).
LONGEST_GAP_MICROS = 1_000_000


@dataclass(slots=True)
class _Stretch:
    """A time in which all compaction threads were busy, and the highest scores compactions started with in it."""

    begin_micros: int
    end_micros: int
    scores: dict[str, float] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long it lasted."""
        return (self.end_micros - self.begin_micros) / 1e6

    @property
    def waiting(self) -> dict[str, float]:
        """The families whose compactions started late."""
        return {family: score for family, score in self.scores.items() if score > WAITED_SCORE}


class CompactionThreads:
    """All compaction threads were busy for minutes while several column families waited for compaction.

    Evidence: compactions run from their compaction_started to their compaction_finished; in one stretch of time as
    many ran as there are threads, and in it compactions of several column families started with a high score.

    Threshold: more than 120 s in one stretch, two families or more with a score above 1.5 (after Ceph PR 29027; the
    numbers are ours). Threads are max_background_compactions where set, else max_background_jobs less a quarter for
    flushes.

    Advice: more max_background_compactions where that is set (up to Quincy Ceph sets 2), else more
    max_background_jobs, if there is CPU for them.

    Risk: compactions take CPU and device time from clients. In Ceph the OSD must be restarted.

    Check: scores at the start of compactions fall under the same load.
    """

    code: ClassVar[str] = "R23"
    title: ClassVar[str] = "Too few threads for compaction"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for the longest stretch of the run."""
        threads = compaction_threads(run)
        if threads is None:
            yield NotAssessed(self.code, self.title, "options in the log or config show")
            return
        if not run.scan_jobs().select((pl.col("kind") == COMPACTION).any()).collect().item():
            yield NotAssessed(self.code, self.title, "compactions in the log")
            return
        stretches = [one for one in _busy_stretches(run, threads) if len(one.waiting) >= LEAST_FAMILIES]
        longest = max(stretches, key=lambda one: one.seconds, default=None)
        if longest is None or longest.seconds <= LEAST_SECONDS:
            return
        told = ", ".join(f"{family} {score:.1f}" for family, score in sorted(longest.waiting.items()))
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            meaning=f"{', '.join(sorted(longest.waiting))} waited for a compaction thread",
            value=f"{duration(longest.seconds)} with {counted(threads, 'thread')} busy, all there are, and"
            f" {len(longest.waiting)} families waiting",
            threshold=f"{duration(LEAST_SECONDS)}, {LEAST_FAMILIES} families with a score above {WAITED_SCORE:g}",
            threshold_source="Ceph PR 29027; the numbers are ours",
            evidence=(Evidence(run.name, f"compaction_started, highest scores in that time: {told}"),),
            advice="raise the number of compaction threads, if there is CPU for them",
            changes=more_threads(run),
            risk="compactions take CPU and device time from clients",
            check="scores at the start of compactions fall under the same load",
        )


def _busy_stretches(run: RunAnalysis, threads: int) -> Iterator[_Stretch]:
    """The stretches of time, in order, in which all threads compacted, short gaps apart."""
    starts: list[tuple[int, str, float]] = []
    edges: list[tuple[int, int]] = []
    times = pl.col("started_at", "finished_at").to_physical()
    compactions = run.scan_jobs().filter(kind=COMPACTION).drop_nulls("started_at")
    for begun, ended, family, score in compactions.select(times, "column_family", "score").collect().iter_rows():
        edges += [(begun, 1), (ended, -1)]
        starts.append((begun, str(family), score or 0.0))
    running, stretch = 0, None
    waiting = deque(sorted(starts))
    for moment, change in sorted(edges):
        was_busy, running = running >= threads, running + change
        if running >= threads and not was_busy:
            if stretch is None or moment - stretch.end_micros > LONGEST_GAP_MICROS:
                if stretch is not None:
                    yield stretch
                stretch = _Stretch(moment, moment)
        elif was_busy and running < threads and stretch is not None:
            stretch.end_micros = moment
        while waiting and waiting[0][0] <= moment:
            _, family, score = waiting.popleft()
            if stretch is not None and running >= threads:
                stretch.scores[family] = max(score, stretch.scores.get(family, 0.0))
    if stretch is not None:
        yield stretch
