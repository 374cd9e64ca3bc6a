"""Stitching: events and the lines around them become one database's life, a row for each job and each file.

Finds the session of every event, pairs starts with finishes, and removes repeats; see `attribution` for how each
flush, compaction and move gets its column family.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.logs import events, records
from lsmlens.analyzer.logs.pieces import Piece, joined, overlap
from lsmlens.analyzer.logs.records import Record
from lsmlens.analyzer.logs.scan import Scan
from lsmlens.analyzer.logs.scanner import SAMPLES
from lsmlens.analyzer.runs.attribution import Attribution
from lsmlens.analyzer.runs.jobs import (
    BY_CREATED,
    BY_EVENT,
    BY_INPUT,
    BY_JOB_LINE,
    BY_NEIGHBOUR,
    COMPACTION,
    FLUSH,
    MOVE,
    UNKNOWN_FIELDS,
    BlobFile,
    Job,
    MemtableSwitch,
    OtherEvent,
    Table,
)
from lsmlens.analyzer.runs.run import ErrorLine, KvThreadTime, Run, Session, SlowOperation, SlowRequest

KEYS_KEPT = 1 << 15  # a crash dump repeats the last 10,000 lines
WRITE_BUFFER_MANAGER = "Write Buffer Manager"
_NO_PROPERTIES = events.TableProperties()
# Fields of a job's events that are seldom logged, or seldom anything but zero: they go into `details` together.
_DETAILS = {
    kind: tuple(name for name in kind.__struct_fields__ if name.startswith(prefixes))
    for kind, prefixes in (
        (events.FlushFinished, ("file_", "blob_file_")),
        (events.CompactionStarted, ("oldest_snap", "preclude", "proximal", "preserve")),
        (events.CompactionFinished, ("file_", "blob_file_", "num_single", "num_blob", "proximal")),
    )
}
_KINDS: dict[type, str] = {**{event: str(kind) for kind, event in events.KNOWN.items()}, events.OtherEvent: ""}


@dataclass(slots=True)
class Output:
    """What a flush or compaction created."""

    tables: list[Table] = field(default_factory=list)
    blob_bytes: int = 0


@dataclass(slots=True)
class FlushUnderWay:
    """A flush that started, and what it created so far."""

    job: Job
    output: Output = field(default_factory=Output)


@dataclass(slots=True)
class JobUnderWay:
    """What is known of one job of one session so far."""

    family: str | None = None
    route: str | None = None
    flush_family: str | None = None
    compaction: Job | None = None
    flushes: list[FlushUnderWay] = field(default_factory=list)
    output: Output = field(default_factory=Output)


@dataclass(slots=True)
class Repeats:
    """Hashes of what was seen, to know repeats: crash dumps repeat what is recent, overlapping pieces anything."""

    keep_all: bool
    recent: set[int] = field(default_factory=set)
    older: set[int] = field(default_factory=set)

    def is_repeat(self, said: object) -> bool:
        """Whether it was seen before; it is remembered from now on."""
        key = hash(said)
        recent = self.recent
        if key in recent or key in self.older:
            return True
        recent.add(key)
        if len(recent) >= KEYS_KEPT and not self.keep_all:
            self.older, self.recent = recent, set()
        return False


class Stitcher:
    """Feeds on records in the log's order and fills a run."""

    def __init__(self, run: Run, pieces_overlap: bool = False) -> None:
        self._run = run
        self._events = Repeats(pieces_overlap)
        self._lines = Repeats(pieces_overlap)
        self._attribution = Attribution(run)
        self._sessions: dict[str, Session] = {}
        self._session: Session | None = None
        self._jobs: dict[int, dict[int, JobUnderWay]] = {}
        self._current: dict[int, JobUnderWay] = {}
        self._family_of_file: dict[int, str] = {}
        self._tables: dict[int, Table | int] = {}  # those that live: under way, or their places among the rows
        self._forced_by: str | None = None
        self._moving: dict[int, list[int]] = {}  # tables by the level they go to

    def stitch(self, found: Iterable[Record]) -> None:
        """Take in all of a run's records, then settle what is still open."""
        takers, other, kinds = _TAKERS, Stitcher._other_event, _KINDS
        for record in found:
            kind = kinds.get(type(record))
            if kind is None or self._is_new(record, kind):
                takers.get(type(record), other)(self, record)
        self._settle()

    # -- lines

    def _compacted_line(self, line: records.CompactedLine) -> None:
        self._attribution.compacted_line(line)

    def _summary_line(self, line: records.SummaryLine) -> None:
        self._attribution.summary_line(line)

    def _moved_line(self, line: records.MovedLine) -> None:
        self._attribution.moved_line(line)

    def _job_line(self, line: records.JobLine) -> None:
        job = self._job(line.job)
        if line.starts_flush:
            job.flush_family = line.family
        elif job.family is None:
            job.family, job.route = line.family, BY_JOB_LINE

    def _forced_line(self, line: records.ForcedLine) -> None:
        self._forced_by = line.reason

    def _moving_line(self, line: records.MovingLine) -> None:
        self._moving.setdefault(line.level, []).append(line.number)

    def _open_line(self, line: records.OpenLine) -> None:
        self._open(line.identity, Session(0, line.millis, line.rocksdb_version, line.ceph_version, line.session_id))

    def _stall_line(self, line: records.StallLine) -> None:
        if not self._lines.is_repeat(line):  # else a crash dump or a copy tells it again
            self._run.stall_lines[line.family, line.kind, line.cause] += 1
            if line.millis is not None:
                self._run.stall_moments.append((line.millis, line.family, line.kind))

    def _slow_line(self, line: records.SlowLine) -> None:
        if not self._lines.is_repeat(line):
            self._run.slow_operations.append(SlowOperation(line.what, line.seconds, line.millis))

    def _slow_request_line(self, line: records.SlowRequestLine) -> None:
        if not self._lines.is_repeat(line):
            self._run.slow_requests.append(SlowRequest(line.osd, line.operation, line.seconds, line.state, line.millis))

    def _error_line(self, line: records.ErrorLine) -> None:
        if not self._lines.is_repeat(line):
            self._run.errors.append(ErrorLine(line.what, line.status, line.millis))

    def _marked_down_line(self, line: records.MarkedDownLine) -> None:
        self._run.marked_down.setdefault(line.epoch, line.millis)

    def _kv_thread_line(self, line: records.KvThreadLine) -> None:
        if not self._lines.is_repeat(line):
            self._run.kv_thread.append(KvThreadTime(line.idle_seconds, line.seconds, line.submitted, line.millis))

    def _memtable_line(self, line: records.MemtableLine) -> None:
        if line.millis is not None and not self._lines.is_repeat(line):
            self._run.memtable_switches.append(MemtableSwitch(line.millis, line.family, line.immutable))

    def _open(self, identity: str, session: Session) -> Session:
        """Begin a session, or go back to one whose opening is told again by a crash dump or a copy."""
        known = self._sessions.get(identity)
        if known is None:
            self._attribution.give_up()
            session.number = len(self._run.sessions)
            self._run.sessions.append(session)
            self._sessions[identity] = known = session
        self._session = known
        self._current = self._jobs.setdefault(known.number, {})
        return known

    # -- events

    def _is_new(self, event: Any, kind: str) -> bool:
        """Whether it is not told again; then it is counted in its session."""
        run, micros, kind = self._run, event.time_micros, kind or event.named
        if self._events.is_repeat((micros, event.job, kind, getattr(event, "file_number", None))):
            run.quality.duplicates_removed += 1
            return False
        run.event_counts[kind] += 1
        session = self._session or self._open("", Session(0))
        if session.first_event_micros is None:
            session.first_event_micros = micros
        session.last_event_micros = micros
        if run.first_event_micros is None or micros < run.first_event_micros:
            run.first_event_micros = micros
        if run.last_event_micros is None or micros > run.last_event_micros:
            run.last_event_micros = micros
        return True

    @property
    def _number(self) -> int:
        """The session's number."""
        return (self._session or self._open("", Session(0))).number

    def _job(self, number: int) -> JobUnderWay:
        job = self._current.get(number)
        if job is None:
            if self._session is None:
                self._open("", Session(0))
            job = self._current[number] = JobUnderWay()
        return job

    def _flush_started(self, event: events.FlushStarted) -> None:
        job = self._job(event.job)
        family, job.flush_family = job.flush_family, None
        reason = event.flush_reason
        row = Job(
            session=self._number,
            job=event.job,
            kind=FLUSH,
            column_family=family,
            attributed_by=None if family is None else BY_JOB_LINE,
            started_at=event.time_micros,
            reason=self._forced_by or reason if reason == WRITE_BUFFER_MANAGER else reason,
            logged_reason=reason,
            output_level=0,
            input_bytes=event.total_data_size,
            input_records=event.num_entries,
            input_deletions=event.num_deletes,
            input_range_deletions=event.num_range_deletes,
            memtables=event.num_memtables,
            memory_bytes=event.memory_usage,
        )
        job.flushes.append(FlushUnderWay(row))

    def _flush_finished(self, event: events.FlushFinished) -> None:
        job = self._job(event.job)
        if job.flushes:
            flush = job.flushes.pop(0)
            row, output = flush.job, flush.output
            family, route = row.column_family, row.attributed_by
        else:
            self._run.quality.without_start["flush"] += 1
            row, output = Job(session=self._number, job=event.job, kind=FLUSH, output_level=0), job.output
            family, route = (job.family, job.route) if output.tables else (job.flush_family, BY_JOB_LINE)
            job.output, job.flush_family = Output(), None
        row.finished_at = event.time_micros
        row.output_files = len(output.tables)
        row.table_bytes = sum(table.bytes for table in output.tables)
        row.blob_bytes, row.proximal_bytes = output.blob_bytes, 0
        row.output_bytes = row.table_bytes + row.blob_bytes
        row.output_records = sum(table.entries or 0 for table in output.tables)
        row.output_deletions = sum(table.deletions or 0 for table in output.tables)
        row.immutable_memtables, row.level_files = event.immutable_memtables, event.lsm_state
        row.compression, row.details = event.output_compression, _details(event)
        self._keep_tables(output, FLUSH, 0)
        job.family = None  # the job's next flush may be of another
        if not (job.flushes or job.flush_family or job.compaction or job.output.tables):
            del self._current[event.job]
        self._attribution.settle(row, family, route)

    def _compaction_started(self, event: events.CompactionStarted) -> None:
        job, inputs = self._job(event.job), event.inputs()
        numbers = [number for files in inputs.values() for number in files]
        if event.cf_name is not None:
            job.family, job.route = event.cf_name, BY_EVENT
        elif job.family is None:
            families = {self._family_of_file.get(number) for number in numbers} - {None}
            if len(families) == 1:
                job.family, job.route = families.pop(), BY_INPUT
        job.compaction = Job(
            session=self._number,
            job=event.job,
            kind=COMPACTION,
            started_at=event.time_micros,
            reason=event.compaction_reason,
            logged_reason=event.compaction_reason,
            input_levels=list(inputs),
            input_level_files=[len(files) for files in inputs.values()],
            input_tables=numbers,
            input_files=len(numbers),
            input_bytes=event.input_data_size,
            score=event.score,
            details=_details(event),
        )

    def _compaction_finished(self, event: events.CompactionFinished) -> None:
        job = self._job(event.job)
        row = job.compaction
        if row is None:
            self._run.quality.without_start["compaction"] += 1
            row = Job(session=self._number, job=event.job, kind=COMPACTION)
        row.finished_at, row.output_level = event.time_micros, event.output_level
        row.output_files, row.table_bytes = event.num_output_files, event.total_output_size
        row.blob_bytes = event.total_blob_output_size or 0
        row.proximal_bytes = (event.proximal_level_bytes_written or 0) + (event.proximal_level_bytes_written_blob or 0)
        row.output_bytes = row.table_bytes + row.blob_bytes + row.proximal_bytes
        row.input_records, row.output_records = event.num_input_records, event.num_output_records
        row.output_deletions = sum(table.deletions or 0 for table in job.output.tables)
        row.micros, row.cpu_micros = event.compaction_time_micros, event.compaction_time_cpu_micros
        row.subcompactions, row.level_files = event.num_subcompactions, event.lsm_state
        row.compression, row.details = event.output_compression, _details(event, row.details)
        self._keep_tables(job.output, COMPACTION, event.output_level)
        family, route = job.family, job.route
        neighbour = self._attribution.family_of_compacted_line(event.output_level, event.num_output_files)
        if family is None and neighbour is not None:
            family, route = neighbour, BY_NEIGHBOUR
        self._current.pop(event.job, None)
        self._attribution.settle(row, family, route)

    def _moved(self, event: events.TrivialMove) -> None:
        job = self._job(event.job)
        row = Job(
            session=self._number,
            job=event.job,
            kind=MOVE,
            finished_at=event.time_micros,
            output_level=event.destination_level,
            # "Moving #188 to level-2 …" stands before its event, if not always right before
            input_tables=self._moving.pop(event.destination_level, []),
            input_files=event.files,
            output_files=0,
            output_bytes=0,
            table_bytes=0,
            blob_bytes=0,
            proximal_bytes=0,
            moved_bytes=event.total_files_size,
        )
        self._attribution.settle(row, job.family, job.route)
        if job == JobUnderWay():
            del self._current[event.job]

    def _table_created(self, event: events.TableFileCreation) -> None:
        job, family, properties = self._job(event.job), event.cf_name, event.table_properties or _NO_PROPERTIES
        oldest, newest = properties.oldest_key_time, properties.newest_key_time
        if oldest is not None and newest is not None and oldest > newest:
            # From 9.9.3 to at least 11.8.1 RocksDB logs both under each other's names.
            oldest, newest = newest, oldest
        table = Table(
            number=event.file_number,
            session=self._number,
            job=event.job,
            column_family=family,
            created_at=event.time_micros,
            bytes=event.file_size,
            data_bytes=properties.data_size,
            index_bytes=properties.index_size,
            filter_bytes=properties.filter_size,
            key_bytes=properties.raw_key_size,
            value_bytes=properties.raw_value_size,
            data_blocks=properties.num_data_blocks,
            entries=properties.num_entries,
            deletions=_collected(properties.num_deletions, properties.kDeletedKeys),
            range_deletions=properties.num_range_deletions,
            merges=_collected(properties.num_merge_operands, properties.kMergeOperands),
            oldest_key_at=oldest,
            newest_key_at=newest,
            first_sequence=_sequence(event.smallest_seqno),
            last_sequence=_sequence(event.largest_seqno),
            compression=properties.compression,
        )
        self._tables[table.number] = table
        if family is not None:
            self._family_of_file[table.number] = family
        flush = next((flush for flush in job.flushes if not flush.output.tables and _may_be_of(flush, family)), None)
        if flush is not None:
            flush.output.tables.append(table)
            if flush.job.column_family is None and family is not None:
                flush.job.column_family, flush.job.attributed_by = family, BY_CREATED
        else:
            job.output.tables.append(table)
            if job.family is None and family is not None:
                job.family, job.route = family, BY_CREATED

    def _table_deleted(self, event: events.TableFileDeletion) -> None:
        self._family_of_file.pop(event.file_number, None)
        table = self._tables.pop(event.file_number, None)
        if table is None:
            self._keep_event(event, event.cf_name, {"file_number": event.file_number})
        elif isinstance(table, int):
            self._run.table_rows.tell(table, event.time_micros)
        else:
            table.deleted_at = event.time_micros

    def _blob_created(self, event: events.BlobFileCreation) -> None:
        """A blob file comes before the table that points into it, from flush or compaction alike."""
        job, family = self._job(event.job), event.cf_name
        if family is not None:
            self._family_of_file[event.file_number] = family
        flush = next((flush for flush in job.flushes if _may_be_of(flush, family)), None)
        (flush.output if flush is not None else job.output).blob_bytes += event.total_blob_bytes
        row = BlobFile(
            number=event.file_number,
            session=self._number,
            job=event.job,
            created_by=COMPACTION if flush is None else FLUSH,
            column_family=family,
            created_at=event.time_micros,
            blobs=event.total_blob_count,
            bytes=event.total_blob_bytes,
        )
        self._run.blob_file_rows.append(row)

    def _blob_deleted(self, event: events.BlobFileDeletion) -> None:
        family = event.cf_name or self._family_of_file.pop(event.file_number, None)
        self._keep_event(event, family, {"file_number": event.file_number})

    def _recovered(self, event: events.RecoveryFinished) -> None:
        job = self._current.pop(event.job, None)
        if job is not None:
            self._keep_tables(job.output, None, None)
        self._other_event(event)

    def _unknown(self, event: events.OtherEvent) -> None:
        self._run.quality.unknown_events[event.named] += 1
        row = OtherEvent(
            kind=event.named,
            session=self._number,
            job=event.job,
            column_family=event.cf_name,
            at=event.time_micros,
            fields=event.fields,
        )
        self._run.other_event_rows.append(row)

    def _unknown_fields(self, line: records.UnknownFields) -> None:
        kind = f"{line.kind}{UNKNOWN_FIELDS}"
        row = OtherEvent(kind=kind, session=self._number, job=line.job, at=line.time_micros, fields=line.fields)
        self._run.other_event_rows.append(row)

    def _other_event(self, event: Any) -> None:
        fields = {
            name: value
            for name, value in msgspec.structs.asdict(event).items()
            if name not in ("time_micros", "job", "cf_name") and value is not None
        }
        self._keep_event(event, event.cf_name, fields)

    def _keep_event(self, event: Any, family: str | None, fields: dict[str, Any]) -> None:
        row = OtherEvent(
            kind=event.kind,
            session=self._number,
            job=event.job,
            column_family=family,
            at=event.time_micros,
            fields=msgspec.json.encode(fields).decode(),
        )
        self._run.other_event_rows.append(row)

    # -- the end

    def _settle(self) -> None:
        self._attribution.give_up()
        for jobs in self._jobs.values():
            for job in jobs.values():
                for flush in job.flushes:
                    self._run.quality.without_finish["flush"] += 1
                    self._run.unfinished_rows.append(flush.job)
                    self._keep_tables(flush.output, FLUSH, 0)
                if job.compaction is not None:
                    job.compaction.column_family, job.compaction.attributed_by = job.family, job.route
                    self._run.quality.without_finish["compaction"] += 1
                    self._run.unfinished_rows.append(job.compaction)
                self._keep_tables(job.output, None if job.compaction is None else COMPACTION, None)

    def _keep_tables(self, output: Output, created_by: str | None, level: int | None) -> None:
        """Add the rows of the tables a job created, when it is known which kind of job it was."""
        for table in output.tables:
            table.created_by, table.level = created_by, level
            place = self._run.table_rows.append(table)
            if self._tables.get(table.number) is table:
                self._tables[table.number] = place


_TAKERS: dict[type, Callable[[Stitcher, Any], None]] = {
    events.FlushStarted: Stitcher._flush_started,
    events.FlushFinished: Stitcher._flush_finished,
    events.CompactionStarted: Stitcher._compaction_started,
    events.CompactionFinished: Stitcher._compaction_finished,
    events.TableFileCreation: Stitcher._table_created,
    events.TableFileDeletion: Stitcher._table_deleted,
    events.BlobFileCreation: Stitcher._blob_created,
    events.BlobFileDeletion: Stitcher._blob_deleted,
    events.TrivialMove: Stitcher._moved,
    events.RecoveryFinished: Stitcher._recovered,
    events.OtherEvent: Stitcher._unknown,
    records.JobLine: Stitcher._job_line,
    records.CompactedLine: Stitcher._compacted_line,
    records.SummaryLine: Stitcher._summary_line,
    records.MovedLine: Stitcher._moved_line,
    records.MovingLine: Stitcher._moving_line,
    records.ForcedLine: Stitcher._forced_line,
    records.OpenLine: Stitcher._open_line,
    records.StallLine: Stitcher._stall_line,
    records.SlowLine: Stitcher._slow_line,
    records.SlowRequestLine: Stitcher._slow_request_line,
    records.KvThreadLine: Stitcher._kv_thread_line,
    records.ErrorLine: Stitcher._error_line,
    records.MarkedDownLine: Stitcher._marked_down_line,
    records.MemtableLine: Stitcher._memtable_line,
    records.UnknownFields: Stitcher._unknown_fields,
}


def _may_be_of(flush: FlushUnderWay, family: str | None) -> bool:
    return flush.job.column_family in (None, family)


def _collected(number: int | None, text: str | None) -> int | None:
    """A property, or the text that a collector counted it in (up to 5.x; db/table_properties_collector.cc of 4.9)."""
    return int(text[:14]) if number is None and text is not None and text.isdecimal() else number


def _sequence(number: int | None) -> int | None:
    return number if number is not None and 0 <= number <= events.INT64_MAX else None


def _details(event: events.Event, before: str | None = None) -> str | None:
    """What an event says that has no column, zeros left out, as JSON; with what the job's start said."""
    said = {name: value for name in _DETAILS[type(event)] if (value := getattr(event, name))}  # type: ignore[index]
    if not said:
        return before
    return msgspec.json.encode({**(msgspec.json.decode(before) if before else {}), **said}).decode()


def stitched(pieces: Sequence[Piece]) -> Run:
    """The run that pieces in their order make."""
    scans = list({id(piece.scan): piece.scan for piece in pieces}.values())
    run = Run(
        name=_run_name(pieces),
        is_monitor=any(piece.role is Role.MONITOR_LOG for piece in pieces),
        members=[scan.member for scan in scans],
    )
    bridges: list[Scan] = []
    Stitcher(run, overlap(pieces)).stitch(joined(pieces, bridges))
    for piece in pieces:
        run.stamps.merge(piece.stamps)
    for scan in bridges:
        run.stamps.merge(scan.stamps_of(pieces[0].source))
    _add_texts(run, pieces)
    for scan in (*scans, *bridges):
        run.stall_places = {**scan.stall_places, **run.stall_places}
        for what, place in scan.slow_places.items():
            run.slow_places[what] = max(place, run.slow_places.get(what, place), key=lambda one: one[0])
        for what, places in scan.error_places.items():
            run.error_places.setdefault(what, []).extend(places)
        _add_quality(run, scan)
        run.rocksdb_version = scan.rocksdb_version or run.rocksdb_version
        run.ceph_version = scan.ceph_version or run.ceph_version
        if run.utc_offset_seconds is None:
            run.utc_offset_seconds = scan.utc_offset_seconds
    if run.sessions:
        run.rocksdb_version = run.sessions[-1].rocksdb_version or run.rocksdb_version
        run.ceph_version = run.sessions[-1].ceph_version or run.ceph_version
    if run.stamps.first is None:
        _cover_events(run)
    return run


def _add_texts(run: Run, pieces: Sequence[Piece]) -> None:
    """The statistics dumps, each once, and the options as they were last printed."""
    seen: set[int] = set()
    for piece in pieces:
        for millis, text in piece.scan.dumps.get(piece.source, ()):
            if millis is None or millis not in seen:
                seen.add(millis or 0)
                run.dumps.append((millis, text))
        run.options_text = piece.scan.options_text.get(piece.source) or run.options_text


def _cover_events(run: Run) -> None:
    """Without stamps that are its own, a run lasts from its first event to its last."""
    if run.first_event_micros is not None and run.last_event_micros is not None:
        offset = (run.utc_offset_seconds or 0) * 1000
        run.stamps.first = run.first_event_micros // 1000 + offset
        run.stamps.last = run.last_event_micros // 1000 + offset


def _add_quality(run: Run, scan: Scan) -> None:
    quality = run.quality
    quality.bytes += scan.bytes
    quality.lines += scan.lines
    quality.lines_are_estimated |= scan.lines_are_estimated
    quality.cut_lines += scan.cut_lines
    if scan.damage is not None:
        quality.damaged.append(scan.damage)
    quality.events_rejected += scan.events_rejected
    quality.events_cut += scan.events_cut
    quality.unknown_fields += scan.unknown_fields
    quality.impossible_values += scan.impossible_values
    quality.not_understood = (quality.not_understood + scan.not_understood)[:SAMPLES]


def _run_name(pieces: Sequence[Piece]) -> str:
    daemon = next((piece.daemon for piece in pieces if piece.daemon), None)
    if daemon is not None:
        return daemon
    return pieces[0].source or pieces[0].stem or pieces[0].name
