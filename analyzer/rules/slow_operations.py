"""R11: BlueStore logged operations that took long."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import counted, duration, plain
from lsmlens.analyzer.runs.osds import is_osd
from lsmlens.analyzer.runs.run import SlowOperation

# bluestore_log_op_age, Ceph's default: what takes less is not logged unless the option was lowered.
LOGGED_SECONDS = 5.0
# What an operation's name says of where it waited: BlueStore.cc, and the iterators of its omap.
COMMIT = "the commit to RocksDB and the device under it"
ITERATION = "iteration over RocksDB: tombstones, or a compaction that lags"
MEANINGS = {
    "_txc_committed_kv": COMMIT,
    "kv_commit": COMMIT,
    "kv_sync": COMMIT,
    "kv_flush": "the flush of the data device",
    "submit_transact": "RocksDB's write path: stopped or slowed writes, or a busy kv thread",
    "upper_bound": ITERATION,
    "lower_bound": ITERATION,
    "next": ITERATION,
    "omap_iterator": ITERATION,
    "get_onode": "reading an onode from RocksDB",
}


class SlowOperations:
    """BlueStore tells of operations that took longer than bluestore_log_op_age.

    Evidence: lines "log_latency slow operation observed for WHAT, latency = Ns" and log_latency_fn's.

    Threshold: any (bluestore_log_op_age, 5 s by default). Where it was lowered, the lines below 5 s count as
    information only.

    Advice: by WHAT. _txc_committed_kv, kv_commit, kv_sync: the device that holds the write-ahead log, and compaction
    on it (R12 says whether they coincide). submit_transact: stopped writes (R01, R02). upper_bound, lower_bound, next:
    tombstones (R13); compact the OSD offline, or set a compaction on deletion.

    Risk: an offline compaction takes the OSD down and writes its whole database once.

    Check: no such line in a day under the same load.
    """

    code: ClassVar[str] = "R11"
    title: ClassVar[str] = "Slow operations logged"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding, with the longest line of each kind of wait as evidence."""
        if not is_osd(run.run) or not run.run.slow_operations:
            return
        counts: Counter[str] = Counter()
        above = 0
        for one in (SlowOperation(*row) for row in run.run.slow_operations):
            counts[one.what] += 1
            above += one.seconds >= LOGGED_SECONDS
        places = run.run.slow_places
        longest, _ = max(places.values(), key=_seconds)
        waits: dict[str, list[str]] = {}
        for what, _ in counts.most_common():
            waits.setdefault(_waited_for(what), []).append(what)
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING if above else Severity.INFO,
            confidence=Confidence.HIGH,
            meaning="; ".join(
                f"{', '.join(f'{what} ({counts[what]})' for what in kinds)} waited for {where}"
                for where, kinds in waits.items()
            ),
            value=f"{counted(counts.total(), 'line')}, {plain(above)} of {duration(LOGGED_SECONDS)} and more, the"
            f" longest {duration(longest)}",
            threshold=f"any; information where all are below {duration(LOGGED_SECONDS)}",
            threshold_source="bluestore_log_op_age, Ceph's default",
            evidence=tuple(max((places[what] for what in kinds), key=_seconds)[1] for kinds in waits.values()),
            advice="look at what ran then: stopped writes (R01), compaction (R12), tombstones (R13), the device",
            check="no line `slow operation observed` in a day under the same load",
        )


def _seconds(place: tuple[float, Evidence]) -> float:
    return place[0]


def _waited_for(what: str) -> str:
    return next((said for name, said in MEANINGS.items() if what.startswith(name)), "BlueStore")
