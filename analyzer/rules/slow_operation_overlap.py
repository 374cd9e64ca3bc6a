"""R12: slow operations coincide with flushes and compactions."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.measures.blame import during_compaction, waits_of
from lsmlens.analyzer.measures.coincidences import JOBS, SLOW_OPERATIONS, SLOW_SECONDS, STALLS, Coincidence
from lsmlens.analyzer.numbers import percent, time_of
from lsmlens.analyzer.runs.osds import is_osd

# Ours: at three times chance, two of three coincidences are none.
RATIO = 3.0
# Ours: with fewer, one burst decides; those of one moment (within 2 s) have one cause and count once.
LEAST_OPERATIONS = 10
LEAST_MOMENTS = 5


class SlowOperationOverlap:
    """Slow operations run while RocksDB flushes or compacts, more often than chance has it.

    Evidence: operations of 0.1 s and more in dump_historic_ops and its kin and in "slow operation observed" lines,
    and flushes and compactions of the same OSD, +-1 s. Chance is what shifting all operations in time together gives.
    The time looked at is that of the dumps (the 600 s before each) as far as the log covers it.

    Threshold: more than 3 times chance, and more than chance at the lower end of the 90 % interval (ours). It takes
    10 slow operations at 5 moments, and jobs that leave two thirds of the time free: else the ratio cannot be 3. The
    report shows the same of flushes, compactions and stalls one by one, and of the slow seconds of load programs.

    Advice: give compaction less weight at a time (fewer background jobs, a rate limit) or less to do (R04, R05, R18);
    a database on a device of its own. If they do not coincide, look at the device and at the queue instead.

    Risk: slower compaction lets level 0 grow, up to stopped writes (R01).

    Check: the share of slow operations that overlap jobs falls to chance.
    """

    code: ClassVar[str] = "R12"
    title: ClassVar[str] = "Slow operations coincide with flushes and compactions"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for the OSD."""
        if not is_osd(run.run):
            return
        found = {one.during: one for one in run.coincidences if one.what == SLOW_OPERATIONS}
        jobs = found.get(JOBS)
        operations, moments = (jobs.overlap.operations, jobs.moments) if jobs is not None else (0, 0)
        if jobs is None or operations < LEAST_OPERATIONS or moments < LEAST_MOMENTS:
            yield NotAssessed(
                self.code,
                self.title,
                f"{LEAST_OPERATIONS} operations of {SLOW_SECONDS:g} s and more at {LEAST_MOMENTS} moments within the"
                f" log (here {operations} at {moments}): dump_historic_ops or dump_historic_slow_ops, taken every"
                " ten minutes, or lines `slow operation observed`",
            )
            return
        if not jobs.had_any:
            yield NotAssessed(self.code, self.title, "flushes or compactions at the time of the operations dumped")
            return
        overlap = jobs.overlap
        if overlap.chance_share * RATIO >= 1:
            yield NotAssessed(
                self.code,
                self.title,
                f"time without flushes and compactions (within 1 s of them {percent(overlap.chance_share)} of"
                " operations would be by chance): operations dumped over a longer time",
            )
            return
        ratio, interval = overlap.ratio, overlap.interval
        if ratio is None or interval is None or ratio <= RATIO or interval[0] <= 1:
            return
        upper = "any" if interval[1] is None else f"{interval[1]:.1f}"
        counts = f"{overlap.overlapping} of {overlap.operations} slow operations overlap, {overlap.by_chance:.1f} would"
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            meaning="operations wait while RocksDB flushes or compacts: it, or what sets it off, slows clients down",
            value=f"{ratio:.1f} times chance (90 % interval {interval[0]:.1f} to {upper})",
            threshold=f"> {RATIO:g} times, interval above 1",
            threshold_source="ours",
            evidence=(
                Evidence(run.name, f"{counts} by chance{_stalls(found.get(STALLS))}{_family(run)}"),
                _worst(run),
            ),
            advice="let compaction do less at a time, or less in all (R04, R05, R18)",
            risk="slower compaction lets level 0 grow, up to stopped writes",
            check="slow operations overlap jobs no more often than chance has it",
        )


def _stalls(stalls: Coincidence | None) -> str:
    return "" if stalls is None or not stalls.had_any else f"; {stalls.overlap.overlapping} overlap stalled writes"


def _family(run: RunAnalysis) -> str:
    """The column family whose compactions stand out, if one does."""
    during = during_compaction(run, list(waits_of(run)))
    if during is None or not during.family:
        return ""
    return f"; compactions of {during.family}: {during.overlap.ratio or 0.0:.1f} times as often as by chance"


def _worst(run: RunAnalysis) -> Evidence:
    worst = max(run.beside.operations, key=lambda one: one.duration_seconds or 0.0, default=None)
    logged = max(run.run.slow_places.values(), key=lambda one: one[0], default=None)
    if worst is None or (logged is not None and logged[0] > (worst.duration_seconds or 0.0)):
        assert logged is not None  # there are slow operations, so one of the two
        return logged[1]
    return Evidence(worst.source, f"{time_of(worst.duration_seconds)}: {worst.description}")
