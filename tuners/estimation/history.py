"""A database's history: the flushes, tables and compactions of each column family, out of a run's events.

A flush has the table of its job and family that came of it, a compaction those its job wrote. Restarts write tables
from the WAL: they have a table and no flush, and are kept as `recovered`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import polars as pl
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH, MOVE
from lsmlens.analyzer.runs.run import Run
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

    Jobs without a column family are left out and counted in `unread`, by the kind of their events.
    """
    history = History(session_starts=_session_starts(run))
    flushes = pl.concat([run.jobs, run.unfinished]).filter(pl.col("kind") == FLUSH).drop_nulls("started_at")
    flush_jobs = set(flushes.select("session", "job").iter_rows())
    created: dict[tuple[int, int], list[Table]] = {}
    recovered: list[Table] = []
    for creator, job, table in _tables(run.tables):
        history.tables[table.number] = table
        written_by = (table.session, job)
        if creator is None or (creator == FLUSH and written_by not in flush_jobs):
            recovered.append(table)
        else:
            created.setdefault(written_by, []).append(table)
    for row in run.jobs.with_columns(pl.col("started_at", "finished_at").to_physical()).iter_rows(named=True):
        _take(row, created.get((row["session"], row["job"]), ()), history)
    for table in recovered:
        history.family(table.family).recovered.append(table)
    ended = run.jobs.filter(pl.col("kind") != MOVE)["finished_at"]
    timed = pl.concat([flushes["started_at"], ended]).to_physical().to_list()
    if timed:
        history.first_seconds, history.last_seconds = min(timed) / MICROS, max(timed) / MICROS
    return history


def _session_starts(run: Run) -> dict[int, float]:
    """When each session's first event was, since 1970."""
    starts = ((one.number, one.first_event_micros) for one in run.sessions)
    return {number: micros / MICROS for number, micros in starts if micros is not None}


def _take(job: Mapping[str, Any], tables: Iterable[Table], history: History) -> None:
    """Put a job, and of the tables its id created those that are its own, into its family's history."""
    kind, name, seconds = job["kind"], job["column_family"], job["finished_at"] / MICROS
    if name is None:
        if kind != MOVE:
            history.unread[f"{kind}_finished"] = history.unread.get(f"{kind}_finished", 0) + 1
    elif kind == MOVE:
        move = Move(seconds, job["input_files"], tuple(job["input_tables"]), job["output_level"])
        history.family(name).moves.append(move)
    elif kind == COMPACTION:
        history.family(name).compactions.append(_compaction(job, tables))
    elif job["started_at"] is not None:
        history.family(name).flushes.append(_flush(job, tables))


def _flush(job: Mapping[str, Any], tables: Iterable[Table]) -> Flush:
    """A flush; of its job's tables the last one of its family."""
    family, ended = job["column_family"], job["finished_at"] / MICROS
    written = tables if job["output_files"] else ()
    own = [one for one in written if one.family == family and one.created_seconds <= ended]
    return Flush(
        family=family,
        session=job["session"],
        seconds=job["started_at"] / MICROS,
        entries=job["input_records"],
        deletes=job["input_deletions"],
        range_deletes=job["input_range_deletions"] or 0,
        memtables=job["memtables"],
        user_bytes=job["input_bytes"],
        memory_bytes=job["memory_bytes"],
        reason=job["reason"],
        table=own[-1] if own else None,
    )


def _compaction(job: Mapping[str, Any], tables: Iterable[Table]) -> Compaction:
    numbers = iter(job["input_tables"])
    inputs = zip(job["input_levels"], job["input_level_files"], strict=True)
    return Compaction(
        family=job["column_family"],
        session=job["session"],
        seconds=job["finished_at"] / MICROS,
        inputs={level: tuple(islice(numbers, files)) for level, files in inputs},
        output_level=job["output_level"],
        outputs=tuple(tables),
        input_records=job["input_records"],
        output_records=job["output_records"],
        output_bytes=job["output_bytes"],
        reason=job["reason"],
        level_files=tuple(job["level_files"] or ()),
    )


def _tables(tables: pl.DataFrame) -> Iterator[tuple[str | None, int, Table]]:
    """The tables whose creation says what is in them, in order of time, with what wrote them: kind of job, and id."""
    told = tables.drop_nulls(["column_family", "entries"]).with_columns(pl.col("created_at").to_physical())
    for row in told.sort("created_at", maintain_order=True).iter_rows(named=True):
        ranges, tombstones = row["range_deletions"] or 0, row["deletions"]
        oldest = row["oldest_key_at"]
        table = Table(
            number=row["number"],
            family=row["column_family"],
            session=row["session"],
            created_seconds=row["created_at"] / MICROS,
            file_bytes=row["bytes"],
            entries=max(0, row["entries"] - ranges),
            tombstones=UNKNOWN if tombstones is UNKNOWN else max(0, tombstones - ranges),
            range_tombstones=ranges,
            merges=row["merges"] or 0,
            key_bytes=max(0, (row["key_bytes"] or 0) - INTERNAL_KEY_BYTES * row["entries"]),
            value_bytes=row["value_bytes"] or 0,
            data_bytes=row["data_bytes"] or 0,
            oldest_seconds=float(oldest) if oldest and oldest > 1_000_000_000 else None,
            first_sequence=row["first_sequence"],
            last_sequence=row["last_sequence"],
            compression=row["compression"],
        )
        yield row["created_by"], row["job"], table
