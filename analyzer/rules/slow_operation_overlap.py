"""R12: slow operations coincide with flushes and compactions."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.events import EventKind
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.osds import is_osd
from lsmlens.analyzer.overlap import Interval, count_moments, measure_overlap
from lsmlens.analyzer.run import SlowOperation
from lsmlens.analyzer.units import MICROS

if TYPE_CHECKING:
    from lsmlens.analyzer.clients.operations import Operation

# Ours: a write of a few KiB takes milliseconds on any device that is not waiting for something else.
SLOW_SECONDS = 0.1
# Ours: at three times chance, two of three coincidences are none.
RATIO = 3.0
# Ours: with fewer, one burst decides; those of one moment (within 2 s) have one cause and count once.
LEAST_OPERATIONS = 10
LEAST_MOMENTS = 5
# osd_op_history_duration, Ceph's default: an operations dump looks back so far, so chance is of that time.
HISTORY_SECONDS = 600
JOBS = (EventKind.FLUSH_FINISHED, EventKind.COMPACTION_FINISHED)


class SlowOperationOverlap:
    """Slow operations run while RocksDB flushes or compacts, more often than chance has it.

    Evidence: operations of 0.1 s and more in dump_historic_ops and its kin and in "slow operation observed" lines,
    and flushes and compactions of the same OSD, +-1 s. Chance is what shifting all operations in time together gives.
    The time looked at is that of the dumps (the 600 s before each) as far as the log covers it.

    Threshold: more than 3 times chance, and more than chance at the lower end of the 90 % interval (ours). It takes
    10 slow operations at 5 moments, and jobs that leave two thirds of the time free: else the ratio cannot be 3.

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
        slow = [one for one in run.beside.operations if (one.duration_seconds or 0.0) >= SLOW_SECONDS]
        timed = [*_intervals(run, slow), *_logged(run)]
        jobs, span = _jobs(run, timed) if len(timed) >= LEAST_OPERATIONS else ([], None)
        inside = [one for one, _ in timed if span is None or span[0] <= one[0] < span[1]]
        moments = count_moments(inside)
        if len(inside) < LEAST_OPERATIONS or moments < LEAST_MOMENTS:
            yield NotAssessed(
                self.code,
                self.title,
                f"{LEAST_OPERATIONS} operations of {SLOW_SECONDS:g} s and more at {LEAST_MOMENTS} moments within the"
                f" log (here {len(inside)} at {moments}): dump_historic_ops or dump_historic_slow_ops, taken every"
                " ten minutes, or lines `slow operation observed`",
            )
            return
        if span is None or not jobs:
            yield NotAssessed(self.code, self.title, "flushes or compactions at the time of the operations dumped")
            return
        overlap = measure_overlap(inside, jobs, span)
        if overlap.chance_share * RATIO >= 1:
            yield NotAssessed(
                self.code,
                self.title,
                f"time without flushes and compactions (within 1 s of them {overlap.chance_share:.0%} of operations"
                " would be by chance): operations dumped over a longer time",
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
                Evidence(run.run.name, f"{counts} by chance"),
                _worst(run, slow),
            ),
            advice="let compaction do less at a time, or less in all (R04, R05, R18)",
            commands=('ceph config set osd bluestore_rocksdb_options_annex "max_background_jobs=N"',),
            risk="slower compaction lets level 0 grow, up to stopped writes",
            check="slow operations overlap jobs no more often than chance has it",
        )


def _intervals(run: RunAnalysis, operations: "Sequence[Operation]") -> list[tuple[Interval, int]]:
    """Start and end of operations, and when they were dumped, in UTC; without those whose zone nothing tells."""
    found: list[tuple[Interval, int]] = []
    for one in operations:
        offset = 0 if one.has_zone else run.run.utc_offset_seconds
        if one.initiated_micros is not None and offset is not None:
            start = one.initiated_micros - offset * MICROS
            end = start + round((one.duration_seconds or 0.0) * MICROS)
            found.append(((start, end), max(end, start + round((one.age_seconds or 0.0) * MICROS))))
    return found


def _logged(run: RunAnalysis) -> list[tuple[Interval, int]]:
    """The operations of "slow operation observed" lines, each told at its end."""
    if not run.run.slow_operations or run.run.utc_offset_seconds is None:
        return []
    found: list[tuple[Interval, int]] = []
    for one in (SlowOperation(*row) for row in run.run.slow_operations):
        if one.millis is not None and one.seconds >= SLOW_SECONDS:
            end = (one.millis - run.run.utc_offset_seconds * 1000) * 1000
            found.append(((end - round(one.seconds * MICROS), end), end))
    return found


def _worst(run: RunAnalysis, slow: "Sequence[Operation]") -> Evidence:
    worst = max(slow, key=lambda one: one.duration_seconds or 0.0, default=None)
    logged = max(run.run.slow_places.values(), key=lambda one: one[0], default=None)
    if worst is None or (logged is not None and logged[0] > (worst.duration_seconds or 0.0)):
        assert logged is not None  # there are slow operations, so one of the two
        return logged[1]
    return Evidence(worst.source, f"{worst.duration_seconds:.3f} s: {worst.description}")


def _jobs(run: RunAnalysis, operations: Sequence[tuple[Interval, int]]) -> tuple[list[Interval], Interval | None]:
    """All jobs, and the time the dumps look back on as far as the log covers it; None where it does not."""
    jobs: list[Interval] = []
    times: list[int] = []
    for event in run.run.events:
        times.append(event["time_micros"])
        if event["event"] in JOBS and event.get("started_micros") is not None:
            jobs.append((event["started_micros"], event["time_micros"]))
    if not times:
        return jobs, None
    first = min(min(start, dumped - HISTORY_SECONDS * MICROS) for (start, _), dumped in operations)
    since, until = max(first, min(times)), min(max(dumped for _, dumped in operations), max(times))
    return jobs, (since, until) if since < until else None
