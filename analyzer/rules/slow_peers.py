"""R31: operations wait for one peer."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.measures.blame import late_peers, measure_blame
from lsmlens.analyzer.measures.coincidences import SLOW_SECONDS
from lsmlens.analyzer.numbers import counted, percent, time_of
from lsmlens.analyzer.runs.osds import is_osd, osd_number

# Ours: of the slow operations, so many waited most of their time for the same peer.
LEAST_OPERATIONS = 3
LEAST_SHARE = 0.5


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

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:
        """At most one finding for each peer."""
        if not is_osd(run.run) and not run.beside.operations:
            return
        slow = [one for one in run.beside.operations if (one.duration_seconds or 0.0) >= SLOW_SECONDS and one.waited]
        waited = Counter(osd for one in slow for osd in late_peers(one))
        for osd, count in waited.most_common():
            if count < LEAST_OPERATIONS or count < LEAST_SHARE * len(slow):
                continue
            longest = max((one for one in slow if dict(one.waited).get(osd)), key=lambda one: dict(one.waited)[osd])
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.WARNING,
                confidence=Confidence.MEDIUM,
                meaning=f"it is osd.{osd}{_place(run, osd)} that is late, not the OSD that was asked"
                + _what_it_did(osd, run, peers),
                value=f"{count} of {counted(len(slow), 'slow operation')} waited for osd.{osd}",
                threshold=f"{percent(LEAST_SHARE)} of them, {LEAST_OPERATIONS} at least",
                threshold_source="ours",
                evidence=(
                    Evidence(
                        longest.source,
                        f"{time_of(longest.duration_seconds)}, {time_of(dict(longest.waited)[osd])} of it for"
                        f" osd.{osd}: {longest.description}",
                    ),
                ),
                advice=f"look at osd.{osd} and its device",
                commands=(f"ceph tell osd.{osd} dump_historic_ops", f"ceph tell osd.{osd} perf dump"),
                risk="none in looking",
                check="no one OSD is waited for longer than the others",
            )


def _place(run: RunAnalysis, osd: int) -> str:
    """The host and the devices of an OSD, where the bundle tells."""
    cluster = run.beside.cluster
    if cluster is None:
        return ""
    host = f"host {cluster.hosts[osd]}" if osd in cluster.hosts else ""
    place = ", ".join(filter(None, (host, *cluster.devices.get(osd, ()))))
    return f" ({place})" if place else ""


def _what_it_did(osd: int, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> str:
    """Whether the late OSD compacted then, by its own log."""
    other = next((one for one in peers if osd_number(one.run) == str(osd)), None)
    blame = measure_blame([run, other]) if other is not None else None
    found = next((one for one in blame.osds if one.osd == osd), None) if blame is not None else None
    return "" if found is None else f"; {found.verdict}"
