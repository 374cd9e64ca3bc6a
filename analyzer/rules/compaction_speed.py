"""R17: compactions are slower than elsewhere."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import duration, size
from lsmlens.analyzer.runs.osds import is_osd
from lsmlens.analyzer.units import MIB

# Ceph packages built without optimisation compacted three times slower (ceph PR 54918, ceph.io 2024).
SHARE_OF_MEDIAN = 1 / 3
# Ours: the median of two is decided by one.
LEAST_PEERS = 3
# Ours: below this a job's time is opening files, not writing.
LEAST_COMPACTIONS = 10
LEAST_OUTPUT_BYTES = 16 * MIB


class CompactionSpeed:
    """Compactions write much slower than those of other daemons.

    Evidence: bytes that compactions wrote / the seconds they took, over all of the log, against the median of the
    bundle's other daemons of the same kind (OSDs with OSDs). Jobs that run at once count each its own time. It takes
    10 compactions and 16 MiB in this log and in those of 3 others.

    Threshold: a third of the median, what packages built without optimisation were found at (ceph PR 54918).

    Advice: compare version, build and device with the others'. If they are the same, it is the device (its own
    latency, SMART), a neighbour on it, a rate limit, a heavier
    compression, or a CPU short of time.

    Risk: none: it only compares; changing packages or devices is as risky as ever.

    Check: MiB/s per job come to the others'.
    """

    code: ClassVar[str] = "R17"
    title: ClassVar[str] = "Compaction slower than peers'"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:
        """One finding for the daemon."""
        if run.is_monitor:
            return
        mine = mib_per_second(run)
        alike = [one for one in peers if is_osd(one.run) == is_osd(run.run)]
        theirs = [speed for one in alike if (speed := mib_per_second(one)) is not None]
        if mine is None or len(theirs) < LEAST_PEERS:
            enough = f"{LEAST_COMPACTIONS} compactions that wrote {size(LEAST_OUTPUT_BYTES)}"
            lacking = "in this log" if mine is None else f"in the logs of {LEAST_PEERS} peers (here {len(theirs)})"
            yield NotAssessed(self.code, self.title, f"{enough} {lacking}")
            return
        from statistics import median  # costs as much to import as ten rules

        usual = median(theirs)
        if mine >= usual * SHARE_OF_MEDIAN:
            return
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            meaning="compaction here takes over three times as long for the same bytes as with its peers",
            value=f"{mine:.1f} MiB/s per job, peers' median {usual:.1f} MiB/s",
            threshold="< 1/3 of the median of at least 3 peers",
            threshold_source="ceph PR 54918: RocksDB built without optimisation",
            evidence=(
                Evidence(
                    run.name,
                    f"{size(round(run.sums['output_bytes']))} in {duration(run.sums['compaction_seconds'])} of"
                    f" {run.sums['compactions']} compactions",
                ),
                *(
                    Evidence(one.run.name, f"{speed:.1f} MiB/s per job")
                    for one in alike
                    if (speed := mib_per_second(one)) is not None
                ),
            ),
            advice="compare version, build, device, compression and load with the peers'; look for a rate limit",
            commands=("ceph tell osd.\\* version", "ceph device ls") if is_osd(run.run) else (),
            risk="none: it only compares",
            check="MiB/s per job match the peers'",
        )


def mib_per_second(run: RunAnalysis) -> float | None:
    """Output bytes / compaction seconds; None for too little to tell."""
    written, seconds = run.sums["output_bytes"], run.sums["compaction_seconds"]
    if run.sums["compactions"] < LEAST_COMPACTIONS or written < LEAST_OUTPUT_BYTES or not seconds:
        return None
    return written / MIB / seconds
