"""Tables of a run: its finished and unfinished jobs, the table and blob files they created, and what else was logged.

One row a job, file or event; times are UTC, sizes bytes. A job's bytes are defined here and nowhere else:

    flush       the level-0 tables it created and their blob files
    compaction  `total_output_size`, and what releases write apart from it: blob files, and the tables of the
                penultimate ("proximal") level with theirs
    move        nothing is written; `moved_bytes` are those of the tables that changed their level
"""

from typing import Annotated, Final

import msgspec
from lsmlens.analyzer.runs.columns import F64, I8, I32, I32_LIST, I64, I64_LIST, TEXT, TIME, Column

FLUSH: Final = "flush"
COMPACTION: Final = "compaction"
MOVE: Final = "move"
KINDS: Final = (FLUSH, COMPACTION, MOVE)

BY_EVENT, BY_JOB_LINE, BY_CREATED, BY_INPUT, BY_NEIGHBOUR = ROUTES = (
    "event",
    "job line",
    "created table",
    "input table",
    "neighbouring line",
)

UNKNOWN_FIELDS: Final = " (unknown fields)"
_BYTES, _RECORDS, _FILES, _MICROS = "bytes", "records", "files", "µs"


class Job(msgspec.Struct, kw_only=True, gc=False):
    """A flush, a compaction or a trivial move. What the log does not tell is null."""

    session: Annotated[
        int, Column(I32, "", "The open of the database it belongs to, from 0; job ids start again there.")
    ]
    job: Annotated[int, Column(I64, "", "RocksDB's id of the job within its session.")]
    kind: Annotated[str, Column(TEXT, "", "flush, compaction or (trivial) move.", KINDS)]
    column_family: Annotated[str | None, Column(TEXT, "", "Its column family; null where nothing tells.")] = None
    attributed_by: Annotated[str | None, Column(TEXT, "", "What told the column family, the surest first.", ROUTES)] = (
        None
    )
    started_at: Annotated[
        int | None, Column(TIME, "UTC", "When it started; null where its start is not in the log.")
    ] = None
    finished_at: Annotated[int | None, Column(TIME, "UTC", "When it finished; null where it never did.")] = None
    reason: Annotated[
        str | None,
        Column(
            TEXT,
            "",
            "Why it ran. A flush for the limit of the WAL says so even where its event names the write"
            " buffer manager, if a line before it tells.",
        ),
    ] = None
    logged_reason: Annotated[str | None, Column(TEXT, "", "The reason as its event has it.")] = None
    output_level: Annotated[
        int | None, Column(I32, "", "The level it wrote to (0 for a flush), or moved tables to.")
    ] = None
    input_levels: Annotated[list[int], Column(I32_LIST, "", "The levels a compaction read, in order.")] = []
    input_level_files: Annotated[list[int], Column(I32_LIST, _FILES, "How many tables it read of each of these.")] = []
    input_tables: Annotated[
        list[int], Column(I64_LIST, "", "Numbers of the tables a compaction read, level by level, or a move moved.")
    ] = []
    input_files: Annotated[
        int | None, Column(I32, _FILES, "Tables a compaction read or a move moved; null for a flush, see `memtables`.")
    ] = None
    output_files: Annotated[int | None, Column(I32, _FILES, "Tables it wrote; 0 for a move.")] = None
    input_bytes: Annotated[
        int | None,
        Column(
            I64,
            _BYTES,
            "Of a compaction, its input tables; of a flush, keys and values in its memtables (from RocksDB 5.19 on).",
        ),
    ] = None
    output_bytes: Annotated[
        int | None, Column(I64, _BYTES, "All it wrote: `table_bytes`, `blob_bytes` and `proximal_bytes`; 0 for a move.")
    ] = None
    table_bytes: Annotated[
        int | None, Column(I64, _BYTES, "Tables it wrote into its output level; of a compaction, total_output_size.")
    ] = None
    blob_bytes: Annotated[
        int | None, Column(I64, _BYTES, "Blob files it wrote, but for those of `proximal_bytes`.")
    ] = None
    proximal_bytes: Annotated[
        int | None, Column(I64, _BYTES, "Tables and blob files a compaction wrote into the penultimate level.")
    ] = None
    moved_bytes: Annotated[int | None, Column(I64, _BYTES, "Tables a move put into another level, unwritten.")] = None
    input_records: Annotated[
        int | None, Column(I64, _RECORDS, "Entries a compaction read, or that were in a flush's memtables.")
    ] = None
    output_records: Annotated[int | None, Column(I64, _RECORDS, "Entries in what it wrote.")] = None
    input_deletions: Annotated[int | None, Column(I64, _RECORDS, "Tombstones in a flush's memtables.")] = None
    input_range_deletions: Annotated[int | None, Column(I64, _RECORDS, "Range tombstones in a flush's memtables.")] = (
        None
    )
    output_deletions: Annotated[int | None, Column(I64, _RECORDS, "Tombstones in the tables its events tell of.")] = (
        None
    )
    memtables: Annotated[int | None, Column(I32, "", "Memtables a flush took in.")] = None
    memory_bytes: Annotated[int | None, Column(I64, _BYTES, "Memory these took.")] = None
    immutable_memtables: Annotated[int | None, Column(I32, "", "Full memtables that waited when a flush was done.")] = (
        None
    )
    micros: Annotated[int | None, Column(I64, _MICROS, "How long a compaction took, by its own count.")] = None
    cpu_micros: Annotated[int | None, Column(I64, _MICROS, "CPU time a compaction took.")] = None
    score: Annotated[
        float | None, Column(F64, "", "How much the level a compaction started from was over its target.")
    ] = None
    subcompactions: Annotated[int | None, Column(I32, "", "Threads that shared a compaction.")] = None
    level_files: Annotated[
        list[int] | None, Column(I32_LIST, _FILES, "Tables of the family in each level when it was done (lsm_state).")
    ] = None
    compression: Annotated[str | None, Column(TEXT, "", "Compression of what it wrote, where its event tells.")] = None
    details: Annotated[
        str | None,
        Column(TEXT, "", "What else its events say that seldom is anything but zero, as a JSON object without zeros."),
    ] = None


class Table(msgspec.Struct, kw_only=True, gc=False):
    """A table file that was created. Properties a release does not log are null."""

    number: Annotated[int, Column(I64, "", "The file's number, which goes on from session to session.")]
    session: Annotated[int, Column(I32, "", "The open it was created in.")]
    job: Annotated[int, Column(I64, "", "The job that created it.")]
    created_by: Annotated[
        str | None, Column(TEXT, "", "flush or compaction; null for a table written while a WAL is recovered.", KINDS)
    ] = None
    column_family: Annotated[str | None, Column(TEXT, "", "Its column family.")] = None
    level: Annotated[
        int | None, Column(I8, "", "The level its job wrote to; null for a job that never finished, or none.")
    ] = None
    created_at: Annotated[int | None, Column(TIME, "UTC", "When it was created.")] = None
    deleted_at: Annotated[int | None, Column(TIME, "UTC", "When it was deleted; null while it lives.")] = None
    bytes: Annotated[int, Column(I64, _BYTES, "The file's size.")]
    data_bytes: Annotated[int | None, Column(I64, _BYTES, "Its data blocks, compressed.")] = None
    index_bytes: Annotated[int | None, Column(I64, _BYTES, "Its index.")] = None
    filter_bytes: Annotated[int | None, Column(I64, _BYTES, "Its filter.")] = None
    key_bytes: Annotated[int | None, Column(I64, _BYTES, "Keys before compression, 8 bytes of footer each.")] = None
    value_bytes: Annotated[int | None, Column(I64, _BYTES, "Values before compression.")] = None
    data_blocks: Annotated[int | None, Column(I32, "", "Data blocks.")] = None
    entries: Annotated[int | None, Column(I64, _RECORDS, "Entries, of all kinds.")] = None
    deletions: Annotated[int | None, Column(I64, _RECORDS, "Tombstones among them, range tombstones too.")] = None
    range_deletions: Annotated[int | None, Column(I64, _RECORDS, "Range tombstones among them.")] = None
    merges: Annotated[int | None, Column(I64, _RECORDS, "Merge operands among them.")] = None
    oldest_key_at: Annotated[
        int | None, Column(I64, "s", "When the oldest memtable in it was made, in seconds since 1970; 0: not known.")
    ] = None
    newest_key_at: Annotated[int | None, Column(I64, "s", "The same of the newest.")] = None
    first_sequence: Annotated[int | None, Column(I64, "", "The lowest sequence number in it.")] = None
    last_sequence: Annotated[int | None, Column(I64, "", "The highest sequence number in it.")] = None
    compression: Annotated[str | None, Column(TEXT, "", "Compression of its blocks.")] = None


class BlobFile(msgspec.Struct, kw_only=True, gc=False):
    """A blob file that was created."""

    number: Annotated[int, Column(I64, "", "The file's number.")]
    session: Annotated[int, Column(I32, "", "The open it was created in.")]
    job: Annotated[int, Column(I64, "", "The job that created it.")]
    created_by: Annotated[str | None, Column(TEXT, "", "flush or compaction.", KINDS)] = None
    column_family: Annotated[str | None, Column(TEXT, "", "Its column family.")] = None
    created_at: Annotated[int | None, Column(TIME, "UTC", "When it was created.")] = None
    blobs: Annotated[int | None, Column(I64, _RECORDS, "Values in it.")] = None
    bytes: Annotated[int | None, Column(I64, _BYTES, "Their bytes, without the file's header and footer.")] = None


class OtherEvent(msgspec.Struct, kw_only=True, gc=False):
    """An event that no other table tells of, or fields of one that none has a column for."""

    kind: Annotated[
        str, Column(TEXT, "", "The event's kind; with ` (unknown fields)` after it, the event stands in another row.")
    ]
    session: Annotated[int, Column(I32, "", "The open it belongs to.")]
    job: Annotated[int | None, Column(I64, "", "Its job.")] = None
    column_family: Annotated[str | None, Column(TEXT, "", "Its column family.")] = None
    at: Annotated[int, Column(TIME, "UTC", "When it was logged.")]
    fields: Annotated[str, Column(TEXT, "", "Its other fields, or those that are not known, as a JSON object.")]


class MemtableSwitch(msgspec.Struct, gc=False):
    """A line that says a family begins a new memtable."""

    local_millis: Annotated[int, Column(I64, "ms", "When, in local time since 1970.")]
    column_family: Annotated[str, Column(TEXT, "", "The family.")]
    immutable_memtables: Annotated[int, Column(I32, "", "Full memtables, with the one that was just written to.")]


class Open(msgspec.Struct, kw_only=True, gc=False):
    """An open of the database."""

    session: Annotated[int, Column(I32, "", "Its number, from 0.")]
    opened_at: Annotated[int | None, Column(TIME, "UTC", "When; null for a log that begins later.")] = None
    first_event_at: Annotated[int | None, Column(TIME, "UTC", "Its first event.")] = None
    last_event_at: Annotated[int | None, Column(TIME, "UTC", "Its last event.")] = None
    rocksdb_version: Annotated[str | None, Column(TEXT, "", "RocksDB's version.")] = None
    ceph_version: Annotated[str | None, Column(TEXT, "", "Ceph's version.")] = None
    session_id: Annotated[str | None, Column(TEXT, "", "RocksDB's own name of the session.")] = None


class Stall(msgspec.Struct, gc=False):
    """A line that says writes were slowed down or stopped."""

    at: Annotated[int, Column(TIME, "UTC", "When.")]
    column_family: Annotated[str, Column(TEXT, "", "The family that caused it.")]
    kind: Annotated[str, Column(TEXT, "", "slowdown or stop.")]
