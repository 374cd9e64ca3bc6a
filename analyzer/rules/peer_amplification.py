"""R18: a column family writes more than with peers."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.measures.amplification import FamilyWrites
from lsmlens.analyzer.numbers import size
from lsmlens.analyzer.runs.osds import is_osd, store_path, while_stopped

# Ours: sisters of a pool differ by tenths; twice is another shape, another load or another age.
TIMES_MEDIAN = 2.0
# Ours: the median of two is decided by one.
LEAST_PEERS = 3
# Ours: before a first round of level-0 compactions write amplification only rises.
LEAST_FLUSHES = 5
# Ours: a family that writes less is not worth a change.
LEAST_SHARE = 0.05


class PeerAmplification:
    """A column family is rewritten far more often than the same one of other daemons.

    Evidence: (flush bytes + compaction bytes) / flush bytes of the column family, against the median of the same
    family in the bundle's other daemons of the same kind. It takes 5 flushes in this log and in those of 3 others,
    and a family that wrote 5 % of the daemon's bytes or more.

    Threshold: over 2 times the median (ours).

    Advice: compare options in force and sharding with the peers', then how many placement groups and which pools the
    daemon holds. Logs of unlike length or load differ of themselves: write amplification rises as a database fills.

    Risk: the OSD is down while it is resharded.

    Check: write amplification matches the peers'.
    """

    code: ClassVar[str] = "R18"
    title: ClassVar[str] = "Write amplification above peers'"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:
        """One finding for each column family that stands out."""
        if run.is_monitor:
            return
        alike = [one for one in peers if is_osd(one.run) == is_osd(run.run)]
        assessed = False
        for family in run.families:
            theirs = [
                (one.run.name, ratio)
                for one in alike
                for other in one.families
                if other.name == family.name and (ratio := _amplification(other)) is not None
            ]
            mine = _amplification(family)
            if mine is None or len(theirs) < LEAST_PEERS:
                continue
            assessed = True
            from statistics import median  # costs as much to import as ten rules

            usual = median(ratio for _, ratio in theirs)
            if mine > usual * TIMES_MEDIAN and _bytes(family) >= LEAST_SHARE * _bytes(run.total):
                yield self._finding(run, family, usual, theirs)
        if not assessed:
            needs = f"a column family with {LEAST_FLUSHES} flushes here and in the logs of {LEAST_PEERS} peers"
            yield NotAssessed(self.code, self.title, f"{needs} (peers of its kind here: {len(alike)})")

    def _finding(
        self, run: RunAnalysis, family: FamilyWrites, usual: float, theirs: Sequence[tuple[str, float]]
    ) -> Finding:
        sums = f"{size(family.flush_bytes)} flushed, {size(family.compaction_output_bytes)} compacted"
        return Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            meaning=f"{family.name}: each byte is rewritten over twice as often as with its peers",
            value=f"{family.write_amplification:.2f}, peers' median {usual:.2f}",
            threshold=f"> {TIMES_MEDIAN:g} times the median of at least {LEAST_PEERS} peers",
            threshold_source="ours",
            evidence=(
                Evidence(run.name, f"{family.name}: {sums}"),
                *(Evidence(name, f"{family.name}: {ratio:.2f}") for name, ratio in theirs),
            ),
            column_family=family.name,
            advice="compare options in force, sharding, pools and placement groups with the peers'"
            if is_osd(run.run)
            else "compare options in force and load with the peers'",
            commands=while_stopped(run.run, f"ceph-bluestore-tool --path {store_path(run.run)} show-sharding")
            if is_osd(run.run)
            else (),
            risk="the OSD is down while it is resharded" if is_osd(run.run) else "none: it only compares",
            check="write amplification matches the peers' under the same load",
        )


def _amplification(family: FamilyWrites) -> float | None:
    return family.write_amplification if family.flushes >= LEAST_FLUSHES else None


def _bytes(family: FamilyWrites) -> int:
    return family.flush_bytes + family.compaction_output_bytes
