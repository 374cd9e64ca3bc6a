"""What the log of an hour leaves for the next: the jobs that run across the hour, the options of the open, a cut line.

With it the next piece of a rotated log is stitched as if it had been read together with all before it.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import msgspec
import polars as pl
from lsmlens.analyzer import records
from lsmlens.analyzer.events import INT64_MAX, Event, EventKind
from lsmlens.analyzer.pieces import Piece
from lsmlens.analyzer.run import Run
from lsmlens.analyzer.scan import Scan
from lsmlens.analyzer.spool import Spool

_OF_A_JOB = frozenset(
    {
        EventKind.FLUSH_STARTED,
        EventKind.COMPACTION_STARTED,
        EventKind.TABLE_FILE_CREATION,
        EventKind.BLOB_FILE_CREATION,
    }
)
IDENTITY = "carried"
LINES_KEPT = 100  # a job starts right after its line; what has none, such as a move, would pile up


class Carry(msgspec.Struct):
    """The end of what was read of a daemon. `until_millis` is the last stamp, local time."""

    until_millis: int
    records: list[list[Any]]
    tail: bytes
    options_text: str
    rocksdb_version: str | None
    ceph_version: str | None
    utc_offset_seconds: int | None

    def before(self, pieces: Sequence[Piece]) -> Piece:
        """This as a piece that goes before those that were read now."""
        first = pieces[0]
        source = first.source
        scan = Scan(first.scan.member, tail=self.tail)
        found: Spool[records.Record] = Spool()
        found.extend(tuple(record) for record in self.records)
        scan.by_source[source] = found
        scan.options_text[source] = self.options_text
        scan.rocksdb_version, scan.ceph_version = self.rocksdb_version, self.ceph_version
        scan.utc_offset_seconds = self.utc_offset_seconds
        return Piece(scan, first.role, first.directory, source, first.daemon)


def carry_of(run: Run, pieces: Sequence[Piece]) -> Carry | None:
    """What a run leaves for the next hour; None where its end is not known."""
    if run.stamps.last is None or not run.sessions:
        return None
    last = run.sessions[-1]
    opening = [
        records.OPEN_LINE,
        IDENTITY,
        last.opened_at_millis,
        last.rocksdb_version,
        last.ceph_version,
        last.session_id,
    ]
    unfinished = run.unfinished.filter(session=last.number).select("job", pl.col("started_at").dt.epoch("us"))
    started = dict(unfinished.iter_rows())
    begun = [
        event
        for event in run.events
        if event["session"] == last.number
        and event["event"] in _OF_A_JOB
        and event["time_micros"] >= started.get(event.get("job"), INT64_MAX)
    ]
    return Carry(
        run.stamps.last,
        [opening, *_records(begun), *_lines_before_jobs(pieces)],
        pieces[-1].scan.tail,
        run.options_text,
        run.rocksdb_version,
        run.ceph_version,
        run.utc_offset_seconds,
    )


def _records(events: list[Event]) -> Iterator[list[Any]]:
    """The events in their order, before each start the line that told its family."""
    for event in sorted(events, key=itemgetter("time_micros")):
        family = event.get("column_family")
        is_flush = event["event"] == EventKind.FLUSH_STARTED
        if family is not None and (is_flush or event["event"] == EventKind.COMPACTION_STARTED):
            yield [records.JOB_LINE, family, event["job"], is_flush]
        if event.get("true_flush_reason") != event.get("flush_reason"):
            yield [records.FORCED_LINE, event["true_flush_reason"]]
        yield [records.EVENT, event]


def _lines_before_jobs(pieces: Sequence[Piece]) -> Iterator[list[Any]]:
    """What lines at the end told of jobs that are still to start: their families, and what forces flushes."""
    lines: dict[int, records.Record] = {}
    forced: records.Record | None = None
    for record in chain.from_iterable(piece.records() for piece in pieces):
        if record[0] == records.FORCED_LINE:
            forced = record
        elif record[0] == records.JOB_LINE:
            lines[record[2]] = record
        elif record[0] == records.EVENT:
            lines.pop(record[1].get("job"), None)
    yield from map(list, (*list(lines.values())[-LINES_KEPT:], *([forced] if forced is not None else [])))
