"""R13: tables full of tombstones."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

import polars as pl
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, OptionChange, Severity
from lsmlens.analyzer.measures.tombstones import COLLECTOR as OPTION
from lsmlens.analyzer.measures.tombstones import live_tables, tells_entries
from lsmlens.analyzer.numbers import counted, percent, plain
from lsmlens.analyzer.runs.osds import is_osd

# rocksdb_cf_compact_on_deletion_trigger / _sliding_window, Ceph's defaults: 16384 of 32768.
TOMBSTONE_SHARE = 0.5
LEAST_ENTRIES = 32768


class _Table(NamedTuple):
    family: str
    number: int
    entries: int
    tombstones: int
    level: int | None


class Tombstones:
    """Tables that are mostly tombstones lie in the database, and iterating over them is slow.

    Evidence: tables the log says were made and neither deleted nor compacted, num_deletions / num_entries of each, in
    the level they were written or moved to. Tables from before the log are not seen. If all are
    in level 0, where the next compaction may end them, confidence is low.

    Threshold: over half, in a table of 32768 entries or more: what Ceph's compact-on-deletion marks a table at
    (16384 tombstones in a row of 32768 entries), so with it on such a table should be compacted soon.

    Advice: in Ceph, turn rocksdb_cf_compact_on_deletion on (it is off by default in 16), and compact once. Elsewhere,
    a CompactOnDeletionCollector, or DeleteRange for ranges.

    Risk: a full compaction takes device and CPU time; do it one OSD at a time. Marking tables adds compactions (R14).

    Check: no live table over half tombstones; lines "slow operation observed for … upper_bound" gone.
    """

    code: ClassVar[str] = "R13"
    title: ClassVar[str] = "Tables full of tombstones"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """One finding for each column family."""
        if run.is_monitor:
            return
        if not run.scan_tables().select(tells_entries().any()).collect().item():
            yield NotAssessed(
                self.code, self.title, "events table_file_creation with table_properties (debug_rocksdb 4/5)"
            )
            return
        option = next((one for one in run.ceph_options if one.name == OPTION), None)
        piles: dict[str, list[_Table]] = {}
        for table in _piles(run):
            piles.setdefault(table.family, []).append(table)
        for family, tables in sorted(piles.items()):
            is_deep = any(one.level != 0 for one in tables)
            worst = max(tables, key=lambda one: one.tombstones)
            yield Finding(
                code=self.code,
                title=self.title,
                severity=Severity.WARNING if is_deep else Severity.INFO,
                confidence=Confidence.MEDIUM if is_deep else Confidence.LOW,
                meaning=f"{family}: iterating must step over tombstones one by one"
                + ("" if option is None else f"; {OPTION} is {option.value}"),
                value=f"{counted(len(tables), 'table')}, {plain(sum(one.tombstones for one in tables))} tombstones,"
                f" at most {percent(max(one.tombstones / one.entries for one in tables))} of a table",
                threshold=f"> {percent(TOMBSTONE_SHARE)} of a table of {plain(LEAST_ENTRIES)} entries or more",
                threshold_source=f"{OPTION}_trigger and _sliding_window of Ceph",
                evidence=(
                    Evidence(
                        run.name,
                        f"table {worst.number}, written to level {'?' if worst.level is None else worst.level}:"
                        f" {plain(worst.tombstones)} tombstones in {plain(worst.entries)} entries",
                    ),
                    *(() if option is None else (Evidence(str(option.source), f"{OPTION} = {option.value}"),)),
                ),
                column_family=family,
                advice=_advice(run, is_off=option is not None and option.value == "false"),
                changes=(OptionChange(OPTION, "true", is_ceph=True),)
                if option is not None and option.value == "false"
                else (),
                commands=(f"ceph tell {run.name.rsplit('/', 1)[-1]} compact",) if is_osd(run.run) else (),
                risk="compaction takes device and CPU time" + (": one OSD at a time" if is_osd(run.run) else ""),
                check="no live table over half tombstones",
            )


def _advice(run: RunAnalysis, *, is_off: bool) -> str:
    if not is_osd(run.run):
        return "compact the range, and mark such tables by a CompactOnDeletionCollector; DeleteRange for whole ranges"
    return f"turn {OPTION} on (restart), then compact once" if is_off else "compact once"


def _piles(run: RunAnalysis) -> Iterator[_Table]:
    """The tables that live at the log's end and are mostly tombstones."""
    entries, deletions = pl.col("entries"), pl.col("deletions")
    piles = live_tables(run.run).filter(entries >= LEAST_ENTRIES, deletions > TOMBSTONE_SHARE * entries)
    columns = ("column_family", "number", "entries", "deletions", "level")
    return (_Table(*row) for row in piles.select(columns).collect().iter_rows())
