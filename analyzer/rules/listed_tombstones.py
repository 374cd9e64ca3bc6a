"""R33: listings are slow over tombstones that no compaction takes."""

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.measures.tombstones import (
    COLLECTOR,
    LISTING_COUNTER,
    SLOW_LISTING,
    LevelTombstones,
    share_of,
    skipped_per_entry,
    tells_entries,
)
from lsmlens.analyzer.numbers import counted, duration, percent, plain, time_of
from lsmlens.analyzer.runs.osds import is_osd, osd_number

# All ours: an iterator's step takes microseconds where it steps over nothing, and a listing of a collection less than
# a millisecond (0.3 ms in an OSD of 18.2.7); so many calls make a mean; ten entries skipped for one returned.
SLOW_SECONDS = 0.01
LEAST_CALLS = 20
MOST_SKIPPED = 10.0
# Ours: fewer tombstones, or one in so many entries, are no reason.
LEAST_TOMBSTONES = 10_000
LEAST_SHARE = 0.2
# Ours: more than half tombstones, half of them a day old, and no compaction due.
STALE_SHARE, STALE_SECONDS = 0.5, 86_400

# BlueStore lists a collection by its onodes (O), and an object's omap in m, p, P and M, or all in default.
_ONODES = re.compile(r"O(-\d+)?|default|\(unknown\)")
_OMAP = re.compile(r"[mpPM](-\d+)?|default|\(unknown\)")


class ListedTombstones:
    """Iterators are slow, and the tables they read hold many tombstones; or these have lain there for a day.

    Evidence: tombstones by column family and level, of the tables that live at the log's end; counters of iterators
    (bluestore.omap_next_lat, omap_lower_bound_lat, clist_lat and their kin), lines "slow operation observed for
    _collection_list, lower_bound, next, …", and entries skipped for each returned (number.iter.skip of STATISTICS).
    The report's section on tombstones says of each level whether a compaction is due, and why not.

    Threshold: a mean of 10 ms over 20 calls, any slow line, or 10 entries skipped for each one returned, over 10 000
    tombstones that are a fifth of the entries. Or more than half tombstones of which half are older than a day, where
    no compaction is due. All numbers are ours.

    Advice: compact once. For good, have tables marked for compaction by their deletions: in Ceph
    rocksdb_cf_compact_on_deletion, with a trigger that these tables reach; elsewhere a CompactOnDeletionCollector, or
    DeleteRange for whole ranges.

    Risk: a compaction takes device and CPU time, on request of the whole database. More marked tables, more
    compactions (R14).

    Check: the same counters and lines after the compaction, under the same load.
    """

    code: ClassVar[str] = "R33"
    title: ClassVar[str] = "Listings step over tombstones"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding of omap, one of collections; of other databases one for what is read or stale."""
        if run.is_monitor:
            return
        if not run.scan_tables().select(tells_entries().any()).collect().item():
            yield NotAssessed(self.code, self.title, "events table_file_creation with table_properties")
            return
        if is_osd(run.run):
            yield from self._of_osd(run)
            return
        skipped = skipped_per_entry(run.series)
        if skipped is None:
            yield NotAssessed(self.code, self.title, "statistics dumps with STATISTICS (number.iter.skip)")
        said = f"statistics dumps: iterators stepped over {skipped or 0:.1f} entries for each one they returned"
        evidence = [Evidence(run.name, said)] if skipped is not None and skipped >= MOST_SKIPPED else []
        yield from self._found(run, "iterators", run.tombstones, evidence)

    def _of_osd(self, run: RunAnalysis) -> Iterator[Finding | NotAssessed]:
        if not run.beside.perf_dumps and not run.iterations:
            yield NotAssessed(self.code, self.title, "perf dump (omap_*_lat, clist_lat)")
        for what, families, is_listing in (("omap", _OMAP, False), ("collections", _ONODES, True)):
            levels = [one for one in run.tombstones if families.fullmatch(one.family)]
            yield from self._found(run, f"listings of {what}", levels, list(_slow(run, is_listing)))

    def _found(
        self, run: RunAnalysis, what: str, levels: Sequence[LevelTombstones], slow: Sequence[Evidence]
    ) -> Iterator[Finding]:
        part = share_of(levels) or 0.0
        tombstones = sum(one.tombstones for one in levels)
        stale = [one for one in levels if _is_stale(one)]
        if tombstones < LEAST_TOMBSTONES or not ((slow and part >= LEAST_SHARE) or stale):
            return
        worst = max(stale or levels, key=lambda one: one.tombstones)
        unmarked = tombstones - sum(one.marked for one in levels)
        advice, changes = _advice(run, mostly_unmarked=2 * unmarked > tombstones)
        idle = sum(one.tombstones for one in levels if one.is_due is False)
        yield Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING if slow else Severity.INFO,
            confidence=Confidence.MEDIUM,
            meaning=f"{what} step over {plain(tombstones)} tombstones; for {plain(idle)} of them no compaction is due"
            + ("" if slow else ", though half of those in a level are older than a day"),
            value=f"{percent(part)} of {plain(sum(one.entries for one in levels))} entries are tombstones",
            threshold=f"{percent(LEAST_SHARE)} and slow iterators, or {percent(STALE_SHARE)} for a day",
            threshold_source="ours",
            evidence=(*slow, Evidence(run.name, _told(worst))),
            column_family=worst.family if len({one.family for one in levels}) == 1 else None,
            advice=advice,
            changes=changes,
            commands=(f"ceph tell osd.{osd_number(run.run)} compact",) if is_osd(run.run) else (),
            risk="a compaction takes device and CPU time" + (": one OSD at a time" if is_osd(run.run) else ""),
            check="the same counters and lines after the compaction, under the same load",
        )


def _is_stale(one: LevelTombstones) -> bool:
    is_old = one.median_seconds is not None and one.median_seconds > STALE_SECONDS
    return is_old and one.is_due is False and one.share > STALE_SHARE and one.tombstones >= LEAST_TOMBSTONES


def _slow(run: RunAnalysis, is_listing: bool) -> Iterator[Evidence]:
    """What says that iterators of onodes, or of omap, were slow."""
    for one in run.iterations:
        if (one.name == LISTING_COUNTER or one.name.startswith(SLOW_LISTING)) != is_listing:
            continue
        if one.slow_lines:
            yield run.run.slow_places[one.name][1]
        elif one.times >= LEAST_CALLS and (one.mean_seconds or 0.0) >= SLOW_SECONDS:
            source = run.beside.perf_dumps[-1].source
            times = counted(one.times, "time")
            yield Evidence(source, f"bluestore.{one.name}: {times}, {time_of(one.mean_seconds)} in the mean")


def _told(one: LevelTombstones) -> str:
    age = "" if one.median_seconds is None else f", half of them older than {duration(max(0.0, one.median_seconds))}"
    due = {True: "a compaction is due", False: "no compaction is due", None: "whether a compaction is due is not known"}
    return (
        f"{one.family}, level {one.level}: {plain(one.tombstones)} tombstones in {plain(one.entries)} entries{age};"
        f" {due[one.is_due]}: {one.reason}"
    )


def _advice(run: RunAnalysis, *, mostly_unmarked: bool) -> tuple[str, tuple[OptionChange, ...]]:
    collector = run.collector
    if not is_osd(run.run):
        return "compact the range; a CompactOnDeletionCollector marks such tables, DeleteRange spares whole ranges", ()
    if collector.is_on is False:
        return f"compact once, and turn {COLLECTOR} on", (OptionChange(COLLECTOR, "true", is_ceph=True),)
    if collector.is_on and mostly_unmarked:
        trigger = str(collector.trigger // 2)
        change = OptionChange(f"{COLLECTOR}_trigger", trigger, is_ceph=True)
        return f"compact once, and have tables marked at {plain(int(trigger))} deletions", (change,)
    return "compact once", ()
