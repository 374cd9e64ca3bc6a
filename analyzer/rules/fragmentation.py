"""R20: the device's free space is in small pieces."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.runs.osds import is_osd, osd_number

# Ceph, bluestore-fragmentation documentation: what a rating from 0 to 1 means, by the band's lower bound.
BANDS = (
    (0.9, "severe"),
    (0.7, "considerable, but safe"),
    (0.4, "small, acceptable"),
    (0.0, "tiny"),
)
# The first band that is said at all.
NOTED_FROM = 0.7
# bluestore_warn_on_free_fragmentation, 0.8 since 19.
WARN_FROM = 0.8
SEVERE_FROM = 0.9


class Fragmentation:
    """Free space of the main device is fragmented.

    Evidence: bluestore.fragmentation_micros of the last perf dump, / 1000 (/ 1e6 since 19.2.3). BlueFS takes 64 KiB at
    a time from the main device (bluefs_shared_alloc_size): where no free piece is as long, RocksDB may not be able to
    write, and the OSD stops, however much is free. Before 19.2.3 the counter is the allocator's quick measure, pieces
    of free space / the most there could be; its score (`bluestore allocator score block`), which the bands are made
    for, is another.

    Threshold: noted from 0.7 (considerable), a warning from 0.8 (bluestore_warn_on_free_fragmentation), critical from
    0.9 (severe). Ceph's documentation has the bands 0.4, 0.7 and 0.9.

    Advice: ask for the score; free space on the device; a severe one goes by making the OSD anew, after its data has
    moved.

    Risk: recreating an OSD moves all its data, and the cluster has one copy less of it until then.

    Check: the score after space was freed, or after the OSD was made anew.
    """

    code: ClassVar[str] = "R20"
    title: ClassVar[str] = "Free space fragmented"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        if not is_osd(run.run):
            return
        share = None if run.counters is None else run.counters.fragmentation_share
        if share is None:
            yield NotAssessed(self.code, self.title, "perf dump or bluestore allocator score")
        elif share >= NOTED_FROM:
            yield self._finding(run, share)

    def _finding(self, run: RunAnalysis, share: float) -> Finding:
        number = osd_number(run.run)
        is_severe = share >= SEVERE_FROM
        severity = Severity.CRITICAL if is_severe else Severity.WARNING if share >= WARN_FROM else Severity.INFO
        return Finding(
            code=self.code,
            title=self.title,
            severity=severity,
            confidence=Confidence.MEDIUM,
            meaning=f"fragmentation is {band_of(share)}; without free pieces of 64 KiB BlueFS may run out of space",
            value=f"{share:.2f}",
            threshold=f"{NOTED_FROM:g}, {WARN_FROM:g}, {SEVERE_FROM:g}",
            threshold_source="Ceph documentation; bluestore_warn_on_free_fragmentation",
            evidence=(Evidence("perf dump", f"bluestore.fragmentation_micros is a share of {share:.3f}"),),
            advice="ask for the allocator's score; free space"
            + (", or move the data away and recreate the OSD" if is_severe else ""),
            commands=(
                f"ceph tell osd.{number} bluestore allocator score block",
                f"ceph tell osd.{number} bluestore allocator fragmentation block",
            ),
            risk="none to ask; recreating an OSD moves all its data",
            check=f"ceph tell osd.{number} bluestore allocator score block",
        )


def band_of(share: float) -> str:
    """What Ceph's documentation calls a rating."""
    return next((name for least, name in BANDS if share >= least), BANDS[-1][1])
