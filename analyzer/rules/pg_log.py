"""R22: the PG log holds more than its options allow."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import plain, size
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.runs.osds import is_osd, osd_number, store_path, while_stopped

if TYPE_CHECKING:
    from lsmlens.analyzer.counters.perf_dumps import PerfDump

# One entry, or one dup of a trimmed entry, is about two items: itself and its place in the index of requests. Measured
# on OSDs of 16.2.15 and 18.2.7 with full logs: 1.92 and 2.03.
ITEMS_PER_VERSION = 2
# Our own: twice what the options allow, for PGs that merge, split or recover.
TOLERANCE = 2


class PgLog:
    """The PG log in memory is larger than its options allow: dups of old requests were not trimmed.

    Evidence: mempool.osd_pglog_items and osd.numpg of the last perf dump. All of it is in RocksDB as well (column P,
    or the default family), is read at the start, and takes the OSD's memory.

    Threshold: 2 times (ours) the items of all PGs at their longest: numpg * 2 * the larger of osd_max_pg_log_entries
    and osd_pg_log_dups_tracked. Releases before 17.2.5 and 18 let dups grow
    without bound (Ceph, Reef release notes).

    Advice: upgrade to a release that trims dups while running; before that, trim them with the OSD stopped.

    Risk: trimming takes minutes for each PG, with the OSD down; with as few dups kept as below, a client that sends a
    very old request again has it done twice.

    Check: osd_pglog_items falls, and the P family is smaller after a compaction.
    """

    code: ClassVar[str] = "R22"
    title: ClassVar[str] = "PG log too long"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding."""
        if not is_osd(run.run):
            return
        last = _last_dump(run)
        items = None if last is None else last.number("mempool.osd_pglog_items")
        groups = None if last is None else last.number("osd.numpg")
        if last is None or items is None or groups is None:
            yield NotAssessed(self.code, self.title, "perf dump")
            return
        longest = [_count(run, name) for name in ("osd_max_pg_log_entries", "osd_pg_log_dups_tracked")]
        if None in longest:
            yield NotAssessed(self.code, self.title, "config show, or a log with Ceph's version")
            return
        allowed = groups * ITEMS_PER_VERSION * max(one or 0 for one in longest) * TOLERANCE
        if items > allowed:
            held = last.number("mempool.osd_pglog_bytes") or 0
            evidence = Evidence(
                last.source, f"mempool.osd_pglog_items {items}, osd_pglog_bytes {held}; osd.numpg {groups}"
            )
            value = f"{plain(round(items))} items, {size(round(held))}"
            yield self._finding(run, evidence, value, f"{plain(round(allowed))} items")

    def _finding(self, run: RunAnalysis, evidence: Evidence, value: str, allowed: str) -> Finding:
        number = osd_number(run.run)
        return Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            meaning="the log of placement groups holds entries that should have been trimmed; they take memory,"
            " slow down the start and keep RocksDB busy",
            value=value,
            threshold=allowed,
            threshold_source="lsmlens, from osd_max_pg_log_entries and osd_pg_log_dups_tracked",
            evidence=(evidence,),
            advice="run 17.2.5, 18 or later, which trim dups while running; or trim them with the OSD stopped",
            commands=while_stopped(
                run.run,
                f"ceph-objectstore-tool --data-path {store_path(run.run)} --op list-pgs",
                f"ceph-objectstore-tool --data-path {store_path(run.run)} --op trim-pg-log-dups --pgid PGID"
                " --osd_max_pg_log_entries=100 --osd_pg_log_dups_tracked=100 --osd_pg_log_trim_max=500000",
            ),
            risk="the OSD is down for minutes per PG; repeated requests older than the log are no longer recognised",
            check=f"ceph tell osd.{number} dump_mempools: osd_pglog items",
        )


def _last_dump(run: RunAnalysis) -> "PerfDump | None":
    if not run.beside.perf_dumps:
        return None
    from lsmlens.analyzer.counters.counter_series import in_series

    return in_series(run.beside.perf_dumps)[-1][-1]


def _count(run: RunAnalysis, name: str) -> int | None:
    return parse_size(value_of(run.ceph_options, None, name) or "")
