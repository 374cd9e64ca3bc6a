"""R21: onodes are read from RocksDB again and again."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.numbers import percent, time_of
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.runs.osds import is_osd, osd_number

if TYPE_CHECKING:
    from lsmlens.analyzer.counters.counter_summary import CounterSummary
    from lsmlens.analyzer.counters.perf_dumps import PerfDump

# Our own: misses / (hits + misses) between two perf dumps.
MISS_SHARE = 0.10
# Our own: by how much a get got slower for it to be called rising, and how many make a mean worth comparing.
RISE = 1.2
LEAST_GETS = 1000


class OnodeMisses:
    """Onodes do not stay in the cache, and reading them from RocksDB gets slower.

    Evidence: between two perf dumps of one life of the OSD, onode_misses / (onode_hits + onode_misses), and the mean
    of rocksdb.get_latency against that of the time before. Objects written for the first time miss as well.

    Threshold: more than 10 % missed while a get takes 1.2 times as long as before, each mean of at least 1000 gets
    (ours).

    Advice: more memory for the OSD (osd_memory_target), or fewer objects on it. This is not a compaction problem.

    Risk: the host needs the memory for all its OSDs: too high a target ends in the kernel killing one.

    Check: the same share between two later perf dumps, under the same load.
    """

    code: ClassVar[str] = "R21"
    title: ClassVar[str] = "Onode cache too small"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding, of the interval with the largest share of misses."""
        if not is_osd(run.run):
            return
        intervals = _intervals(run.beside.perf_dumps) if run.beside.perf_dumps else []
        if not intervals:
            needs = f"two perf dumps of one life of the OSD, {LEAST_GETS} gets before each"
            yield NotAssessed(self.code, self.title, needs)
            return
        slower = [one for one in intervals if _is_slower(one[1], one[2]) and _miss_share(one[2]) > MISS_SHARE]
        if slower:
            yield self._finding(run, *max(slower, key=lambda one: _miss_share(one[2])))

    def _finding(self, run: RunAnalysis, source: str, before: "CounterSummary", now: "CounterSummary") -> Finding:
        number = osd_number(run.run)
        target = value_of(run.ceph_options, None, "osd_memory_target")
        size = parse_size(target or "")
        return Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.LOW,
            meaning="onodes are read from RocksDB while reading takes longer: too little memory for the objects in use,"
            " unless mostly new objects were written",
            value=f"{percent(_miss_share(now))} missed, a get {time_of(now.rocksdb_get_seconds)} after"
            f" {time_of(before.rocksdb_get_seconds)}",
            threshold=f"{percent(MISS_SHARE)} and {RISE:g} times",
            threshold_source="lsmlens",
            evidence=(
                Evidence(
                    source,
                    f"since the dump before: bluestore.onode_hits {now.onode_hits}, onode_misses {now.onode_misses},"
                    f" rocksdb.get_latency of {now.rocksdb_gets} gets",
                ),
            ),
            advice=f"raise osd_memory_target ({target or 'not known'} now), no restart; or have fewer objects per OSD",
            changes=(OptionChange("osd_memory_target", str(2 * size), is_ceph=True),) if size else (),
            commands=(f"ceph tell osd.{number} dump_mempools",),
            risk="all OSDs of the host together must leave it memory",
            check=f"ceph tell osd.{number} perf dump bluestore: onode_misses, twice, under the same load",
        )


def _intervals(dumps: "Sequence[PerfDump]") -> "list[tuple[str, CounterSummary, CounterSummary]]":
    from lsmlens.analyzer.counters.counter_series import in_series

    return [one for series in in_series(dumps) for one in _comparable(series)]


def _comparable(series: "Sequence[PerfDump]") -> "Iterator[tuple[str, CounterSummary, CounterSummary]]":
    """A series' intervals with the one before, of those with enough gets: source, before, now."""
    from lsmlens.analyzer.counters.counter_series import deltas
    from lsmlens.analyzer.counters.counter_summary import summarise

    before: CounterSummary | None = None
    counted = [(series[0].source, summarise(series[0]))]
    counted += [(delta.after.source, summarise(delta)) for delta in deltas(series)]
    for source, now in counted:
        if (now.rocksdb_gets or 0) < LEAST_GETS or now.onode_hit_share is None:
            continue
        if before is not None:
            yield source, before, now
        before = now


def _is_slower(before: "CounterSummary", now: "CounterSummary") -> bool:
    return (now.rocksdb_get_seconds or 0.0) > RISE * (before.rocksdb_get_seconds or 0.0)


def _miss_share(one: "CounterSummary") -> float:
    return 1.0 - (1.0 if one.onode_hit_share is None else one.onode_hit_share)
