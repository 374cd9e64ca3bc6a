"""Stitching: events and the lines around them become one database's life.

Finds the session of every event, pairs starts with finishes, removes repeats, and says which column family each
flush, compaction and move was of. RocksDB leaves that out of most events; it is told, in this order, by

1. `cf_name` in the event itself (compaction_started from 10.4.2 on),
2. a line `[cf] [JOB n] …` of the same job and session,
3. the tables the job created, whose events name it,
4. the tables a compaction read, by number, from when they were created,
5. a line next to it that says the same numbers (`[cf] Moved #1 files …`, `[cf] Level summary: files[2 4 0]`).
"""

from collections.abc import Callable, Iterable

from lsmlens.analyzer import records
from lsmlens.analyzer.events import SCHEMAS, Event, EventKind, input_files
from lsmlens.analyzer.jobs import FlushUnderWay, Job, Output
from lsmlens.analyzer.records import Record
from lsmlens.analyzer.repeats import Repeats
from lsmlens.analyzer.run import KvThreadTime, Run, Session

WAITING_LIMIT = 1000

BY_EVENT, BY_JOB_LINE, BY_CREATED, BY_INPUT, BY_NEIGHBOUR = (
    "event",
    "job line",
    "created table",
    "input table",
    "neighbouring line",
)


class Stitcher:
    """Feeds on records in the log's order and fills a run."""

    def __init__(self, run: Run, pieces_overlap: bool = False) -> None:
        self._run = run
        self._keys = Repeats(pieces_overlap)
        self._sessions: dict[str, Session] = {}
        self._session: Session | None = None
        self._jobs: dict[int, dict[int, Job]] = {}
        self._current: dict[int, Job] = {}
        self._family_of_file: dict[int, str] = {}
        self._waiting: list[Event] = []
        self._forced_by: str | None = None
        self._stalls: set[Record] = set()
        self._told: set[int] = set()  # of lines that may be many, only the hashes
        self._compacted_line: tuple[str, int, int] | None = None
        self._handlers: dict[str, Callable[[Event, Job], None]] = {
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
            self._compacted_line = (family, *said)
        elif tag == records.OPEN_LINE:
            self._open(family, Session(0, *said))
        elif tag == records.STALL_LINE:
            if record not in self._stalls:  # else a crash dump or a copy tells it again
                self._stalls.add(record)
                kind, cause, millis = said
                self._run.stall_lines[(family, kind, cause)] += 1
                if millis is not None:
                    self._run.stall_moments.append((millis, family, kind))
        elif tag in (records.SLOW_LINE, records.KV_THREAD_LINE):
            self._bluestore_line(record)
        elif self._waiting and tag == records.SUMMARY_LINE:
            self._answer(family, lambda event: tuple(event.get("lsm_state", ())) == said[0])
        elif self._waiting and tag == records.MOVED_LINE:
            self._answer(family, lambda event: _move_numbers(event) == tuple(said))

    def _bluestore_line(self, record: Record) -> None:
        if (known := hash(record)) in self._told:
            return
        self._told.add(known)
        if record[0] == records.SLOW_LINE:
            self._run.slow_operations.append(record[1:])
        else:
            self._run.kv_thread.append(KvThreadTime(*record[1:]))

    def _open(self, identity: str, session: Session) -> None:
        """Begin a session, or go back to one whose opening is told again by a crash dump or a copy."""
        known = self._sessions.get(identity)
        if known is None:
            self._emit_waiting()
            session.number = len(self._run.sessions)
            self._run.sessions.append(session)
            self._sessions[identity] = known = session
        self._session = known
        self._current = self._jobs.setdefault(known.number, {})

    def _job(self, number: int) -> Job:
        job = self._current.get(number)
        if job is None:
            if self._session is None:
                self._open("", Session(0))
            job = self._current[number] = Job()
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
        session.last_event_micros = event["time_micros"]
        handler = self._handlers.get(kind)
        if handler is not None:
            handler(event, self._job(event["job"]))
            return
        if kind not in SCHEMAS:
            self._run.quality.unknown_events[kind] += 1
        family = event.get("cf_name")
        if family is None and kind in (EventKind.TABLE_FILE_DELETION, EventKind.BLOB_FILE_DELETION):
            family = self._family_of_file.pop(event["file_number"], None)
        if kind == EventKind.RECOVERY_FINISHED and isinstance(number, int):
            self._current.pop(number, None)
        event["column_family"] = family
        self._run.events.append(event)

    def _flush_started(self, event: Event, job: Job) -> None:
        family, job.flush_family = job.flush_family, None
        reason = event.get("flush_reason")
        event["true_flush_reason"] = self._forced_by or reason if reason == "Write Buffer Manager" else reason
        if family is not None:
            event["attributed_by"] = BY_JOB_LINE
        event["column_family"] = family
        job.flushes.append(FlushUnderWay(event))

    def _table_created(self, event: Event, job: Job) -> None:
        _put_key_times_right(event)
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

    def _blob_created(self, event: Event, job: Job) -> None:
        """A blob file comes before the table that points into it, from flush or compaction alike."""
        family = event.get("cf_name")
        event["column_family"] = family
        if isinstance(family, str):
            self._family_of_file[event["file_number"]] = family
        flush = next((flush for flush in job.flushes if _may_be_of(flush, family)), None)
        (flush.output if flush is not None else job.output).blob_bytes += event["total_blob_bytes"]
        self._run.events.append(event)

    def _flush_finished(self, event: Event, job: Job) -> None:
        flush = job.flushes.pop(0) if job.flushes else None
        if flush is None:
            self._run.quality.without_start["flush"] += 1
            job.output.put_into(event)
            family, route = (job.family, job.route) if job.output.files else (job.flush_family, BY_JOB_LINE)
            job.output, job.flush_family = Output(), None
        else:
            started = flush.started
            for name, value in started.items():
                event.setdefault(name, value)
            event["started_micros"] = started["time_micros"]
            flush.output.put_into(event)
            family, route = started["column_family"], started.get("attributed_by", "")
            event.pop("column_family", None)
            self._run.events.append(started)
        job.family = None  # the job's next flush may be of another
        self._attribute(event, family, route)

    def _compaction_started(self, event: Event, job: Job) -> None:
        if isinstance(event.get("cf_name"), str):
            job.family, job.route = event["cf_name"], BY_EVENT
        elif job.family is None:
            self._attribute_by_inputs(event, job)
        job.started = event

    def _attribute_by_inputs(self, event: Event, job: Job) -> None:
        families = {
            family
            for numbers in input_files(event).values()
            for number in numbers
            if (family := self._family_of_file.get(number)) is not None
        }
        if len(families) == 1:
            job.family, job.route = families.pop(), BY_INPUT

    def _compaction_finished(self, event: Event, job: Job) -> None:
        started = job.started
        if started is None:
            self._run.quality.without_start["compaction"] += 1
        else:
            inputs = input_files(started)
            event["started_micros"] = started["time_micros"]
            event["input_files"] = sum(map(len, inputs.values()))
            event["input_levels"] = sorted(inputs)
            for name in ("input_data_size", "compaction_reason", "score"):
                if name in started:
                    event[name] = started[name]
        job.output.put_into(event)
        family, route = job.family, job.route
        if family is None and self._compacted_line is not None:
            neighbour, level, files = self._compacted_line
            if (level, files) == (event["output_level"], event["num_output_files"]):
                family, route = neighbour, BY_NEIGHBOUR
        self._compacted_line = None
        if started is not None:
            started["column_family"] = family
            self._run.events.append(started)
        self._current.pop(event["job"], None)
        self._attribute(event, family, route)

    def _trivial_move(self, event: Event, job: Job) -> None:
        self._attribute(event, job.family, job.route)

    def _attribute(self, event: Event, family: str | None, route: str) -> None:
        """Settle an event's column family, or let it wait for the line after it."""
        if family is None:
            self._waiting.append(event)
            if len(self._waiting) > WAITING_LIMIT:
                self._emit_waiting()
            return
        event["column_family"] = family
        event["attributed_by"] = route
        self._run.quality.attributed_by[route] += 1
        self._run.events.append(event)

    def _answer(self, family: str, says_the_same: Callable[[Event], bool]) -> None:
        for index, event in enumerate(self._waiting):
            if says_the_same(event):
                del self._waiting[index]
                self._attribute(event, family, BY_NEIGHBOUR)
                return

    def _emit_waiting(self) -> None:
        for event in self._waiting:
            event["column_family"] = None
            self._run.quality.without_column_family[_job_kind(event)] += 1
            self._run.events.append(event)
        self._waiting.clear()

    def _settle(self) -> None:
        self._emit_waiting()
        for jobs in self._jobs.values():
            for job in jobs.values():
                for flush in job.flushes:
                    self._run.quality.without_finish["flush"] += 1
                    self._run.events.append(flush.started)
                if job.started is not None:
                    job.started["column_family"] = job.family
                    self._run.quality.without_finish["compaction"] += 1
                    self._run.events.append(job.started)


def _put_key_times_right(event: Event) -> None:
    """From 9.9.3 to at least 11.8.1 RocksDB logs the two times under each other's names."""
    properties = event.get("table_properties", {})
    oldest, newest = properties.get("oldest_key_time"), properties.get("newest_key_time")
    if type(oldest) is int and type(newest) is int and oldest > newest:
        properties["oldest_key_time"], properties["newest_key_time"] = newest, oldest


def _may_be_of(flush: FlushUnderWay, family: object) -> bool:
    return flush.started["column_family"] in (None, family)


def _move_numbers(event: Event) -> tuple[object, ...]:
    return (event.get("files"), event.get("destination_level"), event.get("total_files_size"))


def _job_kind(event: Event) -> str:
    return {EventKind.TRIVIAL_MOVE: "move", EventKind.FLUSH_FINISHED: "flush"}.get(event["event"], "compaction")
