"""R05: entries outlive their flush and are deleted later."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.measures.flushes import FlushView
from lsmlens.analyzer.numbers import counted, percent, plain
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.runs.osds import is_osd

# Ceph's 2022 RocksDB tuning post and PR 51821 on leaking pgmeta keys; both numbers are ours. Half of the entries are
# deletes where every key put is deleted again; a database that keeps most of its keys is none of this.
LEAST_DELETES_SHARE = 0.3
MOST_LEAK = 0.3
# Fewer deletes say nothing (ours).
LEAST_DELETES = 1000
# From this share of flushes for the WAL's limit, larger write buffers do not widen the window (ours).
WAL_DRIVEN_SHARE = 0.5

MERGE = "min_write_buffer_number_to_merge"
WAL_FULL = "WAL Full"


class TombstoneLeakage:
    """Keys that do not live long reach tables all the same, and their tombstones after them.

    Evidence: flushes of the column family: entries and deletes that went in, records and tombstones that came out. A
    put and its delete within one flush come out as a tombstone alone. leak = 1 - puts that died in memory / deletes:
    the share of deletes whose put had left before. Puts that were overwritten count as died, so the true leak may be
    higher; a delete of a key that was never there counts as leaked. Range deletes are left out.

    Threshold: leak above 0.3 where deletes are more than 0.3 of the entries (ours, after Ceph's 2022 tuning post and
    PR 51821), and 1000 deletes at least.

    Advice: let one flush cover more time: a higher min_write_buffer_number_to_merge (or write_buffer_size) for this
    family alone; where most of its flushes are for the WAL's limit, a higher max_total_wal_size. Keys that live
    longer than any window that fits in memory leak whatever is set.

    Risk: more memory, about what the window grows by, and a longer recovery after a crash.

    Check: the leak falls, and so do the bytes flushed and compacted in this family under the same load.
    """

    code: ClassVar[str] = "R05"
    title: ClassVar[str] = "Keys outlive their flush and are deleted later"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for each column family that leaks."""
        told = [view for view in run.flushes if view.flushes and not _lacks_tombstones(view)]
        if not told:
            yield NotAssessed(self.code, self.title, "flushes with the counts of their starts and tables")
        for view in told:
            deletes_share = view.input_deletes / view.input_entries if view.input_entries else 0.0
            leak = leak_of(view)
            if leak is None or leak <= MOST_LEAK or deletes_share <= LEAST_DELETES_SHARE:
                continue
            option, changes = _change(run, view)
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.WARNING,
                confidence=Confidence.MEDIUM,
                meaning=f"{view.name}: {percent(leak)} of the deletes came after their put was flushed, so both are"
                " written to tables and compacted away",
                value=f"leak {percent(leak)}, deletes {percent(deletes_share)} of the entries",
                threshold=f"leak {percent(MOST_LEAK)} where deletes are over {percent(LEAST_DELETES_SHARE)} of"
                " the entries",
                threshold_source="Ceph's RocksDB tuning post of 2022, PR 51821; the numbers are ours",
                evidence=(
                    Evidence(
                        run.name,
                        f"{counted(view.flushes, 'flush', 'flushes')} of {view.name}: {plain(view.input_entries)}"
                        f" entries in, {plain(view.input_deletes)} of them deletes; {plain(view.output_entries)} out,"
                        f" {plain(view.output_deletes)} of them tombstones",
                    ),
                ),
                column_family=view.name,
                advice=f"let one flush cover more time: raise {option}; it does not help keys that live longer than"
                " any window in memory",
                changes=changes,
                risk="more memory, and a longer recovery after a crash"
                + ("; resharding needs the OSD stopped" if is_osd(run.run) else ""),
                check="bytes flushed and compacted in this family fall under the same load",
            )


def leak_of(view: FlushView) -> float | None:
    """1 - puts that died in memory / deletes, from 0 to 1; None for too few deletes."""
    if view.input_deletes < LEAST_DELETES:
        return None
    died = view.input_puts - (view.output_entries - view.output_deletes)
    return min(1.0, max(0.0, 1 - died / view.input_deletes))


def _lacks_tombstones(view: FlushView) -> bool:
    """Tables of old releases do not tell their tombstones, which survive every flush."""
    return view.input_deletes > 0 and view.output_entries > 0 and view.output_deletes == 0


def _change(run: RunAnalysis, view: FlushView) -> tuple[str, tuple[OptionChange, ...]]:
    """The option to raise for this family, and how to double it."""
    wal = parse_size(value_of(run.options, None, "max_total_wal_size") or "")
    if wal and view.reasons[WAL_FULL] > WAL_DRIVEN_SHARE * view.flushes:
        return "max_total_wal_size", (OptionChange("max_total_wal_size", str(2 * wal)),)
    merge, most, buffer = (
        parse_size(value_of(run.options, view.name, name) or "")
        for name in (MERGE, "max_write_buffer_number", "write_buffer_size")
    )
    if merge and most and 2 * merge < most:  # RocksDB lets fewer be merged than there may be
        return MERGE, (OptionChange(MERGE, str(2 * merge), (view.name,)),)
    if buffer:
        return "write_buffer_size", (OptionChange("write_buffer_size", str(2 * buffer), (view.name,)),)
    return f"{MERGE} or write_buffer_size", ()
