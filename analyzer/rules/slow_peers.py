"""R31: operations wait for one peer."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.measures.coincidences import SLOW_SECONDS
from lsmlens.analyzer.runs.osds import is_osd

# Ours: of the slow operations, so many waited most of their time for the same peer.
LEAST_OPERATIONS = 3
LEAST_SHARE = 0.5
WAITED_SHARE = 0.5


class SlowPeers:
    """Slow operations waited for one other OSD most of their time.

    Evidence: dump_historic_ops and its kin: "waiting for subops from 6,11", and the answers of each
    ("sub_op_commit_rec from 6"); operations of 0.1 s and more.

    Threshold: half of the slow operations, 3 at least, that waited more than half of their time for the same OSD
    (ours).

    Advice: look at that OSD and its device, not at the one that was asked; its own dump_historic_ops says what its
    time went to. If all such OSDs are of one host, it is the host.

    Risk: none in looking.

    Check: no one OSD is waited for longer than the others.
    """

    code: ClassVar[str] = "R31"
    title: ClassVar[str] = "Slow operations wait for one OSD"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding for each peer."""
        if not is_osd(run.run) and not run.beside.operations:
            return
        slow = [one for one in run.beside.operations if (one.duration_seconds or 0.0) >= SLOW_SECONDS and one.waited]
        waited: Counter[int] = Counter()
        for one in slow:
            for osd, seconds in one.waited:
                waited[osd] += seconds > WAITED_SHARE * (one.duration_seconds or 0.0)
        hosts = run.beside.cluster.hosts if run.beside.cluster is not None else {}
        for osd, count in waited.most_common():
            if count < LEAST_OPERATIONS or count < LEAST_SHARE * len(slow):
                continue
            of_host = f" (host {hosts[osd]})" if osd in hosts else ""
            longest = max((one for one in slow if dict(one.waited).get(osd)), key=lambda one: dict(one.waited)[osd])
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.WARNING,
                confidence=Confidence.MEDIUM,
                meaning=f"it is osd.{osd}{of_host} that is late, not the OSD that was asked",
                value=f"{count} of {len(slow)} slow operations waited for osd.{osd}",
                threshold=f"{LEAST_SHARE:.0%} of them, {LEAST_OPERATIONS} at least",
                threshold_source="ours",
                evidence=(
                    Evidence(
                        longest.source,
                        f"{longest.duration_seconds:.3f} s, of which {dict(longest.waited)[osd]:.3f} s for osd.{osd}:"
                        f" {longest.description}",
                    ),
                ),
                advice=f"look at osd.{osd} and its device",
                commands=(f"ceph tell osd.{osd} dump_historic_ops", f"ceph tell osd.{osd} perf dump"),
                risk="none in looking",
                check="no one OSD is waited for longer than the others",
            )
