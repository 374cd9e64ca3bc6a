"""A database's history: the flushes, tables and compactions of each column family, out of a run's events.

What a flush took in stands in `flush_started`, what came of it in `table_file_creation` of the same job and family;
what a compaction read and wrote in `compaction_started` and the tables of its job. Restarts write tables from the
WAL: they have a table and no flush, and are kept as `recovered`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lsmlens.analyzer.events import Event, EventKind, input_files
from lsmlens.analyzer.run import Run
from lsmlens.analyzer.units import MICROS

# RocksDB counts these bytes of sequence number and type into each key's `raw_key_size`.
INTERNAL_KEY_BYTES = 8
# Tables written before 5.x say how many tombstones they hold only in a property that the log does not print.
UNKNOWN = None


@dataclass(frozen=True, slots=True)
class Table:
    """One table file as its creation event tells it. `entries` count tombstones and merge operands too.

    Range tombstones, which RocksDB counts among both, are counted apart. `key_bytes` and `value_bytes` are raw sums,
    keys without the internal footer; `data_bytes` is what the blocks take in the file after compression.
    `oldest_seconds` is when the oldest memtable in it was made, since 1970; `first_sequence` and `last_sequence` are of
    the whole database. None where this version does not say.
    """

    number: int
    family: str
    session: int
    created_seconds: float
    file_bytes: int
    entries: int
    tombstones: int | None
    range_tombstones: int
    merges: int
    key_bytes: int
    value_bytes: int
    data_bytes: int
    oldest_seconds: float | None
    first_sequence: int | None
    last_sequence: int | None
    compression: str | None

    @property
    def puts(self) -> int:
        """Entries that are no tombstones."""
        return self.entries - (self.tombstones or 0)


@dataclass(frozen=True, slots=True)
class Flush:
    """One flush: what its memtables took in, and the table that came of it (None if nothing survived).

    `seconds` is when it started, since 1970. `entries` are all operations, `deletes` those of them that were
    tombstones (a single delete is not counted as one before 7.x), `range_deletes` come on top.
    `user_bytes` are keys and values with 8 bytes of footer each, None before 5.19.
    """

    family: str
    session: int
    seconds: float
    entries: int
    deletes: int
    range_deletes: int
    memtables: int
    user_bytes: int | None
    memory_bytes: int | None
    reason: str | None
    table: Table | None

    @property
    def puts(self) -> int:
        """Operations that were no deletes: puts and merges."""
        return max(0, self.entries - self.deletes)


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction: the numbers of the tables it read by level, and the tables it wrote."""

    family: str
    session: int
    seconds: float
    inputs: Mapping[int, tuple[int, ...]]
    output_level: int
    outputs: tuple[Table, ...]
    input_records: int
    output_records: int
    output_bytes: int
    reason: str | None
    level_files: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """So many tables went to a deeper level as they are; `tables` are the numbers of those that the log names."""

    seconds: float
    files: int
    tables: tuple[int, ...]
    level: int


@dataclass(slots=True)
class FamilyHistory:
    """One family's flushes, compactions, moves and recovered tables in the log's order."""

    name: str
    flushes: list[Flush] = field(default_factory=list)
    compactions: list[Compaction] = field(default_factory=list)
    recovered: list[Table] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)

    @property
    def jobs(self) -> list[Flush | Compaction | Move]:
        """Flushes, compactions and moves, in order of time."""
        return sorted([*self.flushes, *self.compactions, *self.moves], key=lambda job: job.seconds)


@dataclass(slots=True)
class History:
    """Families by name, and the run's opens. `first_seconds` and `last_seconds` bound all jobs, since 1970."""

    families: dict[str, FamilyHistory] = field(default_factory=dict)
    tables: dict[int, Table] = field(default_factory=dict)
    first_seconds: float = 0.0
    last_seconds: float = 0.0
    session_starts: dict[int, float] = field(default_factory=dict)
    unread: dict[str, int] = field(default_factory=dict)

    def family(self, name: str) -> FamilyHistory:
        """The history of one family, begun where there is none."""
        return self.families.setdefault(name, FamilyHistory(name))


def read_history(run: Run) -> History:
    """The history of one run.

    Events without a column family are left out and counted in `unread`, by kind.
    """
    history = History()
    flush_jobs: set[tuple[int, int]] = set()
    created: dict[tuple[int, int], list[Table]] = {}
    started: dict[tuple[int, int], Event] = {}
    for event in run.events:
        kind, session = event["event"], event["session"]
        seconds = event["time_micros"] / MICROS
        history.session_starts.setdefault(session, seconds)
        if kind in _TIMED:
            history.first_seconds = min(history.first_seconds or seconds, seconds)
            history.last_seconds = max(history.last_seconds, seconds)
        job = (session, event.get("job", -1))
        if kind == EventKind.TABLE_FILE_CREATION:
            table = _table(event)
            if table is not None:
                history.tables[table.number] = table
                created.setdefault(job, []).append(table)
        elif kind == EventKind.COMPACTION_STARTED:
            started[job] = event
        elif kind == EventKind.FLUSH_STARTED:
            flush_jobs.add(job)
        elif not isinstance(event.get("column_family"), str):
            if kind in _TIMED:
                history.unread[kind] = history.unread.get(kind, 0) + 1
        elif kind == EventKind.TRIVIAL_MOVE:
            move = Move(seconds, event["files"], tuple(event.get("moved_files", ())), event["destination_level"])
            history.family(event["column_family"]).moves.append(move)
        elif kind == EventKind.FLUSH_FINISHED and "num_entries" in event:
            flush = _flush(event, created.get(job, ()))
            history.family(flush.family).flushes.append(flush)
        elif kind == EventKind.COMPACTION_FINISHED:
            compaction = _compaction(event, started.pop(job, {}), created.pop(job, []))
            history.family(compaction.family).compactions.append(compaction)
    for job, tables in created.items():
        if job not in flush_jobs and job not in started:
            for table in tables:
                history.family(table.family).recovered.append(table)
    return history


_TIMED = frozenset({EventKind.FLUSH_STARTED, EventKind.FLUSH_FINISHED, EventKind.COMPACTION_FINISHED})


def _flush(event: Event, tables: Iterable[Table]) -> Flush:
    """A stitched `flush_finished`; of its job's tables the one of its family."""
    family = event["column_family"]
    own = [table for table in tables if table.family == family] if event["created_files"] else []
    return Flush(
        family=family,
        session=event["session"],
        seconds=event["started_micros"] / MICROS,
        entries=event["num_entries"],
        deletes=event["num_deletes"],
        range_deletes=event.get("num_range_deletes", 0),
        memtables=event["num_memtables"],
        user_bytes=event.get("total_data_size"),
        memory_bytes=event.get("memory_usage"),
        reason=event.get("true_flush_reason"),
        table=own[-1] if own else None,
    )


def _compaction(event: Event, started: Event, tables: list[Table]) -> Compaction:
    return Compaction(
        family=event["column_family"],
        session=event["session"],
        seconds=event["time_micros"] / MICROS,
        inputs={level: tuple(numbers) for level, numbers in sorted(input_files(started).items())},
        output_level=event["output_level"],
        outputs=tuple(tables),
        input_records=event["num_input_records"],
        output_records=event["num_output_records"],
        output_bytes=event["total_output_size"],
        reason=event.get("compaction_reason"),
        level_files=tuple(event.get("lsm_state", ())),
    )


def _table(event: Event) -> Table | None:
    """A table; None where the event does not say what is in it."""
    properties: Mapping[str, Any] = event.get("table_properties", {})
    family, entries = event.get("column_family"), properties.get("num_entries")
    if not isinstance(family, str) or not isinstance(entries, int):
        return None
    keys = properties.get("raw_key_size", 0)
    ranges = properties.get("num_range_deletions", 0)
    tombstones = properties.get("num_deletions", UNKNOWN)
    oldest = properties.get("oldest_key_time") or None
    return Table(
        number=event["file_number"],
        family=family,
        session=event["session"],
        created_seconds=event["time_micros"] / MICROS,
        file_bytes=event["file_size"],
        entries=max(0, entries - ranges),
        tombstones=UNKNOWN if tombstones is UNKNOWN else max(0, tombstones - ranges),
        range_tombstones=ranges,
        merges=properties.get("num_merge_operands", 0),
        key_bytes=max(0, keys - INTERNAL_KEY_BYTES * entries),
        value_bytes=properties.get("raw_value_size", 0),
        data_bytes=properties.get("data_size", 0),
        oldest_seconds=float(oldest) if oldest and oldest > 1_000_000_000 else None,
        first_sequence=event.get("smallest_seqno"),
        last_sequence=event.get("largest_seqno"),
        compression=properties.get("compression"),
    )
