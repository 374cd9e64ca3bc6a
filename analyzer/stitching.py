"""Stitching: events and the lines around them become one database's life.

Finds the session of every event, pairs starts with finishes, and removes repeats; see `attribution` for how each
flush, compaction and move gets its column family.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from lsmlens.analyzer import records
from lsmlens.analyzer.attribution import Attribution
from lsmlens.analyzer.events import SCHEMAS, Event, EventKind, input_files
from lsmlens.analyzer.job_rows import blob_file_row, table_row, unfinished_row
from lsmlens.analyzer.jobs import (
    BY_CREATED,
    BY_EVENT,
    BY_INPUT,
    BY_JOB_LINE,
    BY_NEIGHBOUR,
    COMPACTION,
    FLUSH,
    Table,
)
from lsmlens.analyzer.records import Record
from lsmlens.analyzer.repeats import Repeats
from lsmlens.analyzer.run import KvThreadTime, Run, Session
from lsmlens.analyzer.table_properties import put_properties_right


@dataclass(slots=True)
class Output:
    """What a flush or compaction created."""

    files: int = 0
    bytes: int = 0
    records: int = 0
    deletions: int = 0
    blob_bytes: int = 0
    tables: list[Table] = field(default_factory=list)

    def add(self, event: Event) -> None:
        """Count in the table whose creation this is."""
        self.files += 1
        self.tables.append(table_row(event))
        self.bytes += event["file_size"]
        properties = event.get("table_properties", {})
        entries, deletions = properties.get("num_entries"), properties.get("num_deletions")
        self.records += entries if type(entries) is int else 0
        self.deletions += deletions if type(deletions) is int else 0

    def put_into(self, event: Event) -> None:
        """Write the sums into the event of the job's end."""
        event["created_files"] = self.files
        event["created_bytes"] = self.bytes
        event["created_records"] = self.records
        event["created_deletions"] = self.deletions
        event["created_blob_bytes"] = self.blob_bytes


@dataclass(slots=True)
class FlushUnderWay:
    """A flush that started, and what it created so far."""

    started: Event
    output: Output = field(default_factory=Output)


@dataclass(slots=True)
class JobUnderWay:
    """What is known of one job of one session so far."""

    family: str | None = None
    route: str = ""
    flush_family: str | None = None
    started: Event | None = None
    flushes: list[FlushUnderWay] = field(default_factory=list)
    output: Output = field(default_factory=Output)


class Stitcher:
    """Feeds on records in the log's order and fills a run."""

    def __init__(self, run: Run, pieces_overlap: bool = False) -> None:
        self._run = run
        self._keys = Repeats(pieces_overlap)
        self._attribution = Attribution(run)
        self._sessions: dict[str, Session] = {}
        self._session: Session | None = None
        self._jobs: dict[int, dict[int, JobUnderWay]] = {}
        self._current: dict[int, JobUnderWay] = {}
        self._family_of_file: dict[int, str] = {}
        self._place_of_table: dict[int, int] = {}
        self._forced_by: str | None = None
        self._moving: dict[int, list[int]] = {}  # tables by the level they go to
        self._stalls: set[Record] = set()
        self._told: set[int] = set()  # of lines that may be many, only the hashes
        self._handlers: dict[str, Callable[[Event, JobUnderWay], None]] = {
            EventKind.FLUSH_STARTED: self._flush_started,
            EventKind.FLUSH_FINISHED: self._flush_finished,
            EventKind.COMPACTION_STARTED: self._compaction_started,
            EventKind.COMPACTION_FINISHED: self._compaction_finished,
            EventKind.TABLE_FILE_CREATION: self._table_created,
            EventKind.BLOB_FILE_CREATION: self._blob_created,
            EventKind.TRIVIAL_MOVE: self._trivial_move,
        }

    def stitch(self, found: Iterable[Record]) -> None:
        """Take in all of a run's records, then settle what is still open."""
        for record in found:
            tag = record[0]
            if tag == records.EVENT:
                self._take_event(record[1])
            else:
                self._take_line(record)
        self._settle()

    def _take_line(self, record: Record) -> None:
        tag, family, *said = record
        if tag == records.FORCED_LINE:
            self._forced_by = family
            return
        if tag == records.JOB_LINE:
            number, starts_flush = said
            job = self._job(number)
            if starts_flush:
                job.flush_family = family
            elif job.family is None:
                job.family, job.route = family, BY_JOB_LINE
        elif tag == records.COMPACTED_LINE:
            self._attribution.compacted_line(family, *said)
        elif tag == records.OPEN_LINE:
            self._open(family, Session(0, *said))
        elif tag == records.STALL_LINE:
            if record not in self._stalls:  # else a crash dump or a copy tells it again
                self._stalls.add(record)
                kind, cause, millis = said
                self._run.stall_lines[(family, kind, cause)] += 1
                if millis is not None:
                    self._run.stall_moments.append((millis, family, kind))
        elif tag == records.MARKED_DOWN_LINE:
            self._run.marked_down.setdefault(family, said[0])
        elif tag in (records.SLOW_LINE, records.KV_THREAD_LINE, records.MEMTABLE_LINE, records.ERROR_LINE):
            self._told_once(record)
        elif tag == records.SUMMARY_LINE:
            self._attribution.summary_line(family, said[0])
        elif tag == records.MOVED_LINE:
            self._attribution.moved_line(family, tuple(said))
        elif tag == records.MOVING_LINE:
            number, level = said
            self._moving.setdefault(level, []).append(number)

    def _told_once(self, record: Record) -> None:
        if (known := hash(record)) in self._told:
            return
        self._told.add(known)
        if record[0] == records.SLOW_LINE:
            self._run.slow_operations.append(record[1:])
        elif record[0] == records.ERROR_LINE:
            self._run.errors.append(record[1:])
        elif record[0] == records.MEMTABLE_LINE:
            _, family, immutable, millis = record
            if millis is not None:
                self._run.memtable_switches.append((millis, family, immutable))
        else:
            self._run.kv_thread.append(KvThreadTime(*record[1:]))

    def _open(self, identity: str, session: Session) -> None:
        """Begin a session, or go back to one whose opening is told again by a crash dump or a copy."""
        known = self._sessions.get(identity)
        if known is None:
            self._attribution.give_up()
            session.number = len(self._run.sessions)
            self._run.sessions.append(session)
            self._sessions[identity] = known = session
        self._session = known
        self._current = self._jobs.setdefault(known.number, {})

    def _job(self, number: int) -> JobUnderWay:
        job = self._current.get(number)
        if job is None:
            if self._session is None:
                self._open("", Session(0))
            job = self._current[number] = JobUnderWay()
        return job

    def _take_event(self, event: Event) -> None:
        if self._keys.is_repeat(event):
            self._run.quality.duplicates_removed += 1
            return
        kind = event["event"]
        self._run.event_counts[kind] += 1
        number = event.get("job")
        if self._session is None:
            self._open("", Session(0))
        session = self._session
        assert session is not None
        event["session"] = session.number
        moment = session.last_event_micros = event["time_micros"]
        if session.first_event_micros is None:
            session.first_event_micros = moment
        run = self._run
        run.first_event_micros = min(moment, run.first_event_micros or moment)
        run.last_event_micros = max(moment, run.last_event_micros or moment)
        handler = self._handlers.get(kind)
        if handler is not None:
            handler(event, self._job(event["job"]))
            return
        if kind not in SCHEMAS:
            self._run.quality.unknown_events[kind] += 1
        family = event.get("cf_name")
        if kind == EventKind.TABLE_FILE_DELETION:
            place = self._place_of_table.pop(event["file_number"], None)
            if place is not None:
                self._run.table_rows.tell(place, event["time_micros"])
        if family is None and kind in (EventKind.TABLE_FILE_DELETION, EventKind.BLOB_FILE_DELETION):
            family = self._family_of_file.pop(event["file_number"], None)
        if kind == EventKind.RECOVERY_FINISHED and isinstance(number, int):
            recovered = self._current.pop(number, None)
            if recovered is not None:
                self._add_tables(recovered.output, None, None)
        event["column_family"] = family
        self._run.events.append(event)

    def _flush_started(self, event: Event, job: JobUnderWay) -> None:
        family, job.flush_family = job.flush_family, None
        reason = event.get("flush_reason")
        event["true_flush_reason"] = self._forced_by or reason if reason == "Write Buffer Manager" else reason
        if family is not None:
            event["attributed_by"] = BY_JOB_LINE
        event["column_family"] = family
        job.flushes.append(FlushUnderWay(event))

    def _table_created(self, event: Event, job: JobUnderWay) -> None:
        put_properties_right(event)
        family = event.get("cf_name")
        event["column_family"] = family
        if isinstance(family, str):
            self._family_of_file[event["file_number"]] = family
        flush = next((flush for flush in job.flushes if flush.output.files == 0 and _may_be_of(flush, family)), None)
        if flush is not None:
            flush.output.add(event)
            if flush.started["column_family"] is None and family is not None:
                flush.started["column_family"] = family
                flush.started["attributed_by"] = BY_CREATED
        else:
            job.output.add(event)
            if job.family is None and family is not None:
                job.family, job.route = family, BY_CREATED
        self._run.events.append(event)

    def _blob_created(self, event: Event, job: JobUnderWay) -> None:
        """A blob file comes before the table that points into it, from flush or compaction alike."""
        family = event.get("cf_name")
        event["column_family"] = family
        if isinstance(family, str):
            self._family_of_file[event["file_number"]] = family
        flush = next((flush for flush in job.flushes if _may_be_of(flush, family)), None)
        (flush.output if flush is not None else job.output).blob_bytes += event["total_blob_bytes"]
        self._run.blob_file_rows.append(blob_file_row(event, FLUSH if flush is not None else COMPACTION))
        self._run.events.append(event)

    def _flush_finished(self, event: Event, job: JobUnderWay) -> None:
        flush = job.flushes.pop(0) if job.flushes else None
        if flush is None:
            self._run.quality.without_start["flush"] += 1
            job.output.put_into(event)
            self._add_tables(job.output, FLUSH, 0)
            family, route = (job.family, job.route) if job.output.files else (job.flush_family, BY_JOB_LINE)
            job.output, job.flush_family = Output(), None
        else:
            started = flush.started
            for name, value in started.items():
                event.setdefault(name, value)
            event["started_micros"] = started["time_micros"]
            flush.output.put_into(event)
            self._add_tables(flush.output, FLUSH, 0)
            family, route = started["column_family"], started.get("attributed_by", "")
            event.pop("column_family", None)
            self._run.events.append(started)
        job.family = None  # the job's next flush may be of another
        self._attribution.settle(event, family, route)

    def _compaction_started(self, event: Event, job: JobUnderWay) -> None:
        if isinstance(event.get("cf_name"), str):
            job.family, job.route = event["cf_name"], BY_EVENT
        elif job.family is None:
            self._attribute_by_inputs(event, job)
        job.started = event

    def _attribute_by_inputs(self, event: Event, job: JobUnderWay) -> None:
        families = {
            family
            for numbers in input_files(event).values()
            for number in numbers
            if (family := self._family_of_file.get(number)) is not None
        }
        if len(families) == 1:
            job.family, job.route = families.pop(), BY_INPUT

    def _compaction_finished(self, event: Event, job: JobUnderWay) -> None:
        started = job.started
        if started is None:
            self._run.quality.without_start["compaction"] += 1
        else:
            inputs = input_files(started)
            event["started_micros"] = started["time_micros"]
            event["input_files"] = sum(map(len, inputs.values()))
            event["input_levels"] = sorted(inputs)
            event["inputs"] = inputs
            for name in ("input_data_size", "compaction_reason", "score"):
                if name in started:
                    event[name] = started[name]
        job.output.put_into(event)
        self._add_tables(job.output, COMPACTION, event["output_level"])
        family, route = job.family, job.route
        neighbour = self._attribution.family_of_compacted_line(event)
        if family is None and neighbour is not None:
            family, route = neighbour, BY_NEIGHBOUR
        if started is not None:
            started["column_family"] = family
            self._run.events.append(started)
        self._current.pop(event["job"], None)
        self._attribution.settle(event, family, route)

    def _trivial_move(self, event: Event, job: JobUnderWay) -> None:
        # "Moving #188 to level-2 …" stands before its event, if not always right before
        event["moved_files"] = self._moving.pop(event["destination_level"], [])
        self._attribution.settle(event, job.family, job.route)

    def _settle(self) -> None:
        self._attribution.give_up()
        for jobs in self._jobs.values():
            for job in jobs.values():
                for flush in job.flushes:
                    self._run.quality.without_finish["flush"] += 1
                    self._run.events.append(flush.started)
                    self._run.unfinished_rows.append(unfinished_row(flush.started))
                    self._add_tables(flush.output, FLUSH, 0)
                if job.started is not None:
                    job.started["column_family"] = job.family
                    self._run.quality.without_finish["compaction"] += 1
                    self._run.events.append(job.started)
                    self._run.unfinished_rows.append(unfinished_row(job.started))
                self._add_tables(job.output, None if job.started is None else COMPACTION, None)

    def _add_tables(self, output: Output, created_by: str | None, level: int | None) -> None:
        """Rows of the tables a job created, when it is known which kind of job it was."""
        for table in output.tables:
            table.created_by, table.level = created_by, level
            place = self._run.table_rows.append(table)
            self._place_of_table[table.number] = place


def _may_be_of(flush: FlushUnderWay, family: object) -> bool:
    return flush.started["column_family"] in (None, family)
