"""R02: writes slowed down."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.options.option_changes import change_all
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.rules.compaction_threads import more_threads
from lsmlens.analyzer.rules.level0_backlog import levelled_families
from lsmlens.analyzer.statistics_series import StatisticsSeries

# Any slowdown is a warning (RocksDB, db/column_family.cc); from this share of a dump's interval, or of the whole time,
# it is critical (ours: 1 % is about what a client's 99th percentile shows).
CRITICAL_STALLED_SHARE = 0.01
# Shorter intervals between two dumps are those of an open or a close (ours).
LEAST_INTERVAL_SECONDS = 1.0

BUFFERS = "max_write_buffer_number"

MEANINGS = {
    "immutable_memtables": "all write buffers but one were full",
    "level0_files": "level 0 held as many files as level0_slowdown_writes_trigger allows, or nearly so",
    "pending_compaction_bytes": "more bytes waited for compaction than soft_pending_compaction_bytes_limit allows",
}
ADVICE = {
    "immutable_memtables": "raise max_write_buffer_number, or let flushes run faster (max_background_jobs, device)",
    "level0_files": "raise max_background_jobs, or make level 0 and level 1 alike in size",
    "pending_compaction_bytes": "raise max_background_jobs, or max_bytes_for_level_base; compaction is behind",
}


class WriteSlowdowns:
    """Writes were slowed down so that flushes or compactions keep up.

    Evidence: lines "Stalling writes because we have N level-0 files rate R", "…N immutable memtables…" or "…of
    estimated pending compaction bytes N…". RocksDB prints one at every recalculation while the state lasts, so they
    say neither how often nor how long; statistics dumps do (Cumulative and Interval stall), stops counted in.

    Threshold: any is a warning (RocksDB, db/column_family.cc). More than 1 % of the interval between two statistics
    dumps, or of the whole time, is critical (ours).

    Advice: by cause. Memtables: more write buffers, or faster flushes. Level-0 files and pending bytes: more
    background jobs, or levels shaped so that less is rewritten.

    Risk: more write buffers take more memory; more jobs take CPU and device time from clients.

    Check: the lines are gone, and "Cumulative stall" stays at 0, after the change under the same load.
    """

    code: ClassVar[str] = "R02"
    title: ClassVar[str] = "Writes slowed down"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for each column family and cause."""
        slowed = sorted(key for key in run.run.stall_lines if key[1] == "slowdown")
        if not slowed and run.series is None:
            yield NotAssessed(self.code, self.title, "statistics dumps")
        share = stalled_share(run.series) if run.series is not None else None
        is_critical = share is not None and share > CRITICAL_STALLED_SHARE
        for family, kind, cause in slowed:
            lines = run.run.stall_lines[family, kind, cause]
            time = "stalled time not known" if share is None else f"stalled up to {share:.1%} of the time"
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.CRITICAL if is_critical else Severity.WARNING,
                confidence=Confidence.HIGH,
                meaning=f"{family}: {MEANINGS[cause]}, so all writes to the database were slowed down",
                value=f"{lines} line(s), {time}",
                threshold=f"any; critical above {CRITICAL_STALLED_SHARE:.0%} of the time",
                threshold_source="RocksDB, db/column_family.cc; the share of time is ours",
                evidence=(run.run.stall_places[family, kind, cause], *_dumped(run)),
                column_family=family,
                advice=ADVICE[cause],
                commands=change_all(run, _change(run, family, cause)),
                risk="more write buffers take memory, more jobs take CPU and device time",
                check='no line "Stalling writes" under the same load',
            )


def stalled_share(series: StatisticsSeries) -> float | None:
    """The largest share of time for which writes were stalled: of any dump's interval, or of all opens together.

    Stops count as well as slowdowns. None where no dump tells.
    """
    shares = [
        point.interval_stall_seconds / point.interval_seconds
        for point in series.points
        if point.interval_stall_seconds is not None and (point.interval_seconds or 0.0) >= LEAST_INTERVAL_SECONDS
        if point.interval_seconds
    ]
    uptime = sum(point.uptime_seconds or 0.0 for point in series.last_of_opens)
    if series.stall_seconds is not None and uptime >= LEAST_INTERVAL_SECONDS:
        shares.append(series.stall_seconds / uptime)
    return max(shares, default=None)


def _change(run: RunAnalysis, family: str, cause: str) -> dict[str, str]:
    if cause != "immutable_memtables":
        return more_threads(run)
    known = family in levelled_families(run)
    buffers = parse_size(value_of(run.options, family, BUFFERS) or "") if known else None
    return {BUFFERS: "N" if buffers is None else str(2 * buffers)}


def _dumped(run: RunAnalysis) -> tuple[Evidence, ...]:
    seconds = run.series.stall_seconds if run.series is not None else None
    if seconds is None:
        return ()
    return (Evidence(run.run.name, f"statistics dumps: writes stalled for {seconds:.1f} s in all"),)
