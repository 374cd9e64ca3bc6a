"""R09: the database spilled over to the slow device, or soon will."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import bytes_of, percent, plain, size
from lsmlens.analyzer.runs.osds import is_osd, osd_number, store_path, while_stopped

if TYPE_CHECKING:
    from lsmlens.analyzer.counters.counter_summary import CounterSummary

# Ceph warns of any (BlueStore::_log_alerts, BLUEFS_SPILLOVER).
SLOW_BYTES = 0
# Our own: compactions need room for their output beside their input.
FULL_SHARE = 0.85


class Spillover:
    """RocksDB's files are on the slow device, or the database's own device is nearly full.

    Evidence: bluefs.slow_used_bytes, max_bytes_slow, alloc_slow_fallback, db_used_bytes and db_total_bytes, the
    highest over all perf dumps. What spilled may be gone by the last dump and come again with the next compactions.

    Threshold: slow bytes: any, as Ceph warns (BlueStore::_log_alerts). Used share of the device: 0.85 (ours).

    Advice: compact; if it comes back, make block.db larger, then move back what has spilled. A compaction needs room
    for its output, so on a full device it may spill more first.

    Risk: a compaction takes the device's time from clients. Expanding and moving need the OSD stopped.

    Check: slow_used_bytes is 0 in a perf dump, and stays so after the next large compactions.
    """

    code: ClassVar[str] = "R09"
    title: ClassVar[str] = "Database on the slow device"
    title_when_full: ClassVar[str] = "Database device nearly full"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """A finding if anything spilled; else one if the device is nearly full."""
        if not is_osd(run.run):
            return
        if run.counters is None:
            yield NotAssessed(self.code, self.title, "perf dump or bluefs stats")
            return
        from lsmlens.analyzer.counters.counter_summary import summarise

        dumps = [(dump.source, summarise(dump)) for dump in run.beside.perf_dumps]
        if not any(one.slow_used_bytes is not None for _, one in dumps):
            yield NotAssessed(self.code, self.title, "perf dump or bluefs stats")
            return
        worst_source, worst = max(dumps, key=lambda one: (_slow_bytes(one[1]), _fallbacks(one[1])))
        if _slow_bytes(worst) > SLOW_BYTES:
            yield self._spilled(run, worst_source, worst, run.counters)
            return
        full_source, full = max(dumps, key=lambda one: one[1].db_used_share or 0.0)
        if (full.db_used_share or 0.0) > FULL_SHARE:
            yield self._nearly_full(run, full_source, full)

    def _spilled(self, run: RunAnalysis, source: str, worst: "CounterSummary", last: "CounterSummary") -> Finding:
        last_bytes = last.slow_used_bytes or 0
        fallbacks = max(_fallbacks(worst), _fallbacks(last))
        return Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.HIGH,
            meaning="files of RocksDB went to the main device"
            + (", and some still are there" if last_bytes else "; all were back by the last perf dump"),
            value=f"up to {size(round(_slow_bytes(worst)))}, {size(round(last_bytes))} at last",
            threshold="any",
            threshold_source="Ceph, BlueStore::_log_alerts (BLUEFS_SPILLOVER)",
            evidence=(
                Evidence(
                    source,
                    f"bluefs.slow_used_bytes {bytes_of(worst.slow_used_bytes)}, peak {bytes_of(_slow_bytes(worst))};"
                    f" alloc_slow_fallback {plain(round(fallbacks))};"
                    f" db_used_bytes {bytes_of(worst.db_used_bytes)} of {bytes_of(worst.db_total_bytes)}",
                ),
            ),
            advice="compact; if it comes back, enlarge block.db and move back what has spilled",
            commands=_commands(run),
            risk="a compaction takes device time from clients, may spill more first; the tool needs the OSD stopped",
            check=f"ceph tell osd.{osd_number(run.run)} perf dump bluefs: slow_used_bytes 0, also a day later",
        )

    def _nearly_full(self, run: RunAnalysis, source: str, full: "CounterSummary") -> Finding:
        return Finding(
            code=self.code,
            title=self.title_when_full,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            meaning="the next large compactions will not find room on the database's device",
            value=f"{percent(full.db_used_share)} used",
            threshold=percent(FULL_SHARE),
            threshold_source="lsmlens",
            evidence=(
                Evidence(
                    source, f"bluefs.db_used_bytes {bytes_of(full.db_used_bytes)} of {bytes_of(full.db_total_bytes)}"
                ),
            ),
            advice="compact; if it stays as full, enlarge block.db",
            commands=_commands(run),
            risk="a compaction takes device time from clients, may itself spill; expanding needs the OSD stopped",
            check=f"ceph tell osd.{osd_number(run.run)} perf dump bluefs: db_used_bytes",
        )


def _slow_bytes(one: "CounterSummary") -> float:
    """The most that was on the slow device by a dump's time."""
    return max(one.slow_peak_bytes or 0, one.slow_used_bytes or 0)


def _fallbacks(one: "CounterSummary") -> float:
    return one.allocations_fallen_to_slow or 0


def _commands(run: RunAnalysis) -> tuple[str, ...]:
    tool, path = "ceph-bluestore-tool", store_path(run.run)
    return (
        f"ceph tell osd.{osd_number(run.run)} compact",
        *while_stopped(
            run.run,
            f"{tool} bluefs-bdev-expand --path {path}    # after the partition or volume was enlarged",
            f"{tool} bluefs-bdev-migrate --path {path} --devs-source {path}/block --dev-target {path}/block.db",
        ),
    )
