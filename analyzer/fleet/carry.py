"""What the log of an hour leaves for the next: the jobs that run across the hour, the options of the open, a cut line.

With it the next piece of a rotated log is stitched as if it had been read together with all before it.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import Any

import msgspec
import polars as pl
from lsmlens.analyzer.logs.events import (
    INT64_MAX,
    BlobFileCreation,
    CompactionStarted,
    Event,
    FlushStarted,
    TableFileCreation,
    TableProperties,
)
from lsmlens.analyzer.logs.pieces import Piece
from lsmlens.analyzer.logs.records import ForcedLine, JobLine, OpenLine, Record
from lsmlens.analyzer.logs.scan import Scan
from lsmlens.analyzer.logs.spool import Spool
from lsmlens.analyzer.runs.jobs import FLUSH
from lsmlens.analyzer.runs.run import Run

IDENTITY = "carried"
LINES_KEPT = 100  # a job starts right after its line; what has none, such as a move, would pile up


class Carry(msgspec.Struct):
    """The end of what was read of a daemon. `until_millis` is the last stamp, local time."""

    until_millis: int
    records: list[Record]
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
        found: Spool[Record] = Spool(Record)
        found.extend(self.records)
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
    opening = OpenLine(IDENTITY, last.opened_at_millis, last.rocksdb_version, last.ceph_version, last.session_id)
    return Carry(
        run.stamps.last,
        [opening, *_begun(run, last.number), *_lines_before_jobs(pieces)],
        pieces[-1].scan.tail,
        run.options_text,
        run.rocksdb_version,
        run.ceph_version,
        run.utc_offset_seconds,
    )


def _begun(run: Run, session: int) -> Iterator[Record]:
    """What the log told of jobs that are not done, in its order, before each start the line that told its family."""
    told: list[tuple[int, Record]] = []
    for job in _rows(run.unfinished, session):
        start = _flush_started(job) if job["kind"] == FLUSH else _compaction_started(job)
        if job["column_family"] is not None:
            told.append((job["started_at"], JobLine(job["column_family"], job["job"], job["kind"] == FLUSH)))
        if job["reason"] is not None and job["reason"] != job["logged_reason"]:
            told.append((job["started_at"], ForcedLine(job["reason"])))
        told.append((job["started_at"], start))
    jobs = {job["job"]: job["started_at"] for job in _rows(run.unfinished, session)}
    for frame, made in ((run.tables, _table_created), (run.blob_files, _blob_created)):
        files = [row for row in _rows(frame, session) if row["created_at"] >= jobs.get(row["job"], INT64_MAX)]
        told += [(row["created_at"], made(row)) for row in files]
    return (record for _, record in sorted(told, key=itemgetter(0)))


def _rows(frame: pl.DataFrame, session: int) -> list[dict[str, Any]]:
    return frame.filter(session=session).with_columns(pl.col(pl.Datetime("us", "UTC")).to_physical()).to_dicts()


def _flush_started(job: dict[str, Any]) -> FlushStarted:
    return FlushStarted(
        time_micros=job["started_at"],
        job=job["job"],
        num_memtables=job["memtables"],
        num_entries=job["input_records"],
        num_deletes=job["input_deletions"],
        num_range_deletes=job["input_range_deletions"],
        total_data_size=job["input_bytes"],
        memory_usage=job["memory_bytes"],
        flush_reason=job["logged_reason"],
    )


def _compaction_started(job: dict[str, Any]) -> CompactionStarted:
    numbers = iter(job["input_tables"])
    inputs = zip(job["input_levels"], job["input_level_files"], strict=True)
    return CompactionStarted(
        time_micros=job["started_at"],
        job=job["job"],
        input_data_size=job["input_bytes"],
        compaction_reason=job["logged_reason"],
        score=job["score"],
        deeper={level: list(islice(numbers, files)) for level, files in inputs},
        **(msgspec.json.decode(job["details"]) if job["details"] else {}),
    )


def _table_created(table: dict[str, Any]) -> TableFileCreation:
    return TableFileCreation(
        time_micros=table["created_at"],
        job=table["job"],
        cf_name=table["column_family"],
        file_number=table["number"],
        file_size=table["bytes"],
        smallest_seqno=table["first_sequence"],
        largest_seqno=table["last_sequence"],
        table_properties=TableProperties(
            data_size=table["data_bytes"],
            index_size=table["index_bytes"],
            filter_size=table["filter_bytes"],
            raw_key_size=table["key_bytes"],
            raw_value_size=table["value_bytes"],
            num_data_blocks=table["data_blocks"],
            num_entries=table["entries"],
            num_deletions=table["deletions"],
            num_merge_operands=table["merges"],
            num_range_deletions=table["range_deletions"],
            oldest_key_time=table["oldest_key_at"],
            newest_key_time=table["newest_key_at"],
            compression=table["compression"],
        ),
    )


def _blob_created(file: dict[str, Any]) -> BlobFileCreation:
    return BlobFileCreation(
        time_micros=file["created_at"],
        job=file["job"],
        cf_name=file["column_family"],
        file_number=file["number"],
        total_blob_bytes=file["bytes"],
        total_blob_count=file["blobs"],
    )


def _lines_before_jobs(pieces: Sequence[Piece]) -> Iterator[Record]:
    """What lines at the end told of jobs that are still to start: their families, and what forces flushes."""
    lines: dict[int, JobLine] = {}
    forced: ForcedLine | None = None
    for record in chain.from_iterable(piece.records() for piece in pieces):
        if isinstance(record, ForcedLine):
            forced = record
        elif isinstance(record, JobLine):
            lines[record.job] = record
        elif isinstance(record, Event) and record.job is not None:
            lines.pop(record.job, None)
    yield from list(lines.values())[-LINES_KEPT:]
    if forced is not None:
        yield forced
