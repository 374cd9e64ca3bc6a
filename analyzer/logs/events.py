"""EVENT_LOG_v1 events: every kind RocksDB 4.9 to 11.x writes, its fields by one name each, and how to decode them.

    EVENT_LOG_v1 {"time_micros": 1795216290055906, "job": 29, "event": "compaction_finished", …}

Each kind is a class; the types of its fields say which values can be, and they are checked here and nowhere else: times
in the unit their name ends in, sizes in bytes. RocksDB writes the JSON itself: strings are not escaped, numbers may be
`inf` or `nan`, and messages that went through a LogBuffer are cut without a mark (at 512 bytes up to 6.23).
Source: logging/event_logger.h, db/event_helpers.cc and the LogToBuffer calls of db/, release tags v4.13 to v11.8.1.
"""

import re
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

ANCHOR: Final = b"EVENT_LOG_v1 {"
INT64_MAX: Final = (1 << 63) - 1
CALENDAR_ENDS_MICROS: Final = 253402300800 * 1_000_000  # the year 10000

Moment = Annotated[int, Meta(gt=0, lt=CALENDAR_ENDS_MICROS)]
Id = Annotated[int, Meta(ge=0, le=INT64_MAX)]
# No job moves 64 TiB or 7e13 records, or lasts two years; with more, sums of many would not fit their columns.
Amount = Annotated[int, Meta(ge=0, le=1 << 46)]
Number = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]
Level = Annotated[int, Meta(ge=0, le=127)]
# UINT64_MAX stands for "none".
Sequence = Annotated[int, Meta(ge=-1)]


class EventKind(StrEnum):
    """The kinds of events whose fields are known."""

    FLUSH_STARTED = "flush_started"
    FLUSH_FINISHED = "flush_finished"
    COMPACTION_STARTED = "compaction_started"
    COMPACTION_FINISHED = "compaction_finished"
    TABLE_FILE_CREATION = "table_file_creation"
    TABLE_FILE_DELETION = "table_file_deletion"
    TRIVIAL_MOVE = "trivial_move"
    BLOB_FILE_CREATION = "blob_file_creation"
    BLOB_FILE_DELETION = "blob_file_deletion"
    RECOVERY_STARTED = "recovery_started"
    RECOVERY_FINISHED = "recovery_finished"
    RECOVERY_FAILED = "recovery_failed"
    INGEST_FINISHED = "ingest_finished"


class EventError(ValueError):
    """A payload that is not a usable event; the message says what is wrong with it."""


class Event(msgspec.Struct, tag_field="event", kw_only=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """What all events have. Fields without a default are those without which an event says nothing to count."""

    time_micros: Moment
    cf_name: str | None = None
    status: str | None = None

    @property
    def kind(self) -> str:
        """The event's kind, as it stands in the log."""
        return str(self.__struct_config__.tag)


class JobEvent(Event, kw_only=True):
    """An event of a job."""

    job: Id


class BackgroundIo(JobEvent, kw_only=True):
    """With `report_bg_io_stats`, what a job waited for its files."""

    file_write_nanos: Id | None = None
    file_range_sync_nanos: Id | None = None
    file_fsync_nanos: Id | None = None
    file_prepare_write_nanos: Id | None = None
    file_cpu_write_nanos: Id | None = None
    file_cpu_read_nanos: Id | None = None
    output_compression: str | None = None
    blob_file_head: Id | None = None
    blob_file_tail: Id | None = None
    lsm_state: list[Number] | None = None


class FlushStarted(JobEvent, tag=EventKind.FLUSH_STARTED.value, kw_only=True):
    """A flush begins."""

    num_memtables: Number
    num_entries: Amount
    num_deletes: Amount
    num_range_deletes: Amount | None = None
    total_data_size: Amount | None = None
    memory_usage: Amount | None = None
    flush_reason: str | None = None


class FlushFinished(BackgroundIo, tag=EventKind.FLUSH_FINISHED.value, kw_only=True):
    """A flush is done."""

    immutable_memtables: Number | None = None


class CompactionStarted(JobEvent, tag=EventKind.COMPACTION_STARTED.value, kw_only=True):
    """A compaction begins; `files_L1` and the like name the tables it reads of each level."""

    input_data_size: Amount | None = None
    compaction_reason: str | None = None
    score: float | None = None
    oldest_snapshot_seqno: Sequence | None = None
    preclude_last_level_min_seqno: Sequence | None = None
    proximal_output_level: Annotated[int, Meta(ge=-1, le=127)] | None = None
    proximal_output_range: str | None = None
    proximal_after_seqno: Sequence | None = None
    preserve_seqno_after: Sequence | None = None
    files_L0: list[Id] | None = None
    files_L1: list[Id] | None = None
    files_L2: list[Id] | None = None
    files_L3: list[Id] | None = None
    files_L4: list[Id] | None = None
    files_L5: list[Id] | None = None
    files_L6: list[Id] | None = None
    deeper: dict[Level, list[Id]] | None = None

    def inputs(self) -> dict[int, list[int]]:
        """Level -> numbers of the tables it reads, in order of levels."""
        levels = (
            self.files_L0, self.files_L1, self.files_L2, self.files_L3, self.files_L4, self.files_L5, self.files_L6
        )  # fmt: skip
        inputs = {level: files for level, files in enumerate(levels) if files is not None}
        return {**inputs, **dict(sorted(self.deeper.items()))} if self.deeper else inputs


class CompactionFinished(BackgroundIo, tag=EventKind.COMPACTION_FINISHED.value, kw_only=True):
    """A compaction is done."""

    compaction_time_micros: Amount
    output_level: Level
    num_output_files: Number
    total_output_size: Amount
    num_input_records: Amount
    num_output_records: Amount
    compaction_time_cpu_micros: Amount | None = None
    num_subcompactions: Number | None = None
    num_single_delete_mismatches: Amount | None = None
    num_single_delete_fallthrough: Amount | None = None
    num_blob_output_files: Number | None = None
    total_blob_output_size: Amount | None = None
    proximal_level_num_output_files: Number | None = None
    proximal_level_bytes_written: Amount | None = None
    proximal_level_num_output_records: Amount | None = None
    proximal_level_num_output_files_blob: Number | None = None
    proximal_level_bytes_written_blob: Amount | None = None


class TableProperties(msgspec.Struct, kw_only=True, gc=False, omit_defaults=True):
    """Properties of a table that its creation event nests, those of them that are kept."""

    data_size: Amount | None = None
    index_size: Amount | None = None
    filter_size: Amount | None = None
    raw_key_size: Amount | None = None
    raw_value_size: Amount | None = None
    num_data_blocks: Number | None = None
    num_entries: Amount | None = None
    num_deletions: Amount | None = None
    num_merge_operands: Amount | None = None
    num_range_deletions: Amount | None = None
    oldest_key_time: Amount | None = None
    newest_key_time: Amount | None = None
    kDeletedKeys: str | None = None
    kMergeOperands: str | None = None
    compression: str | None = None


class TableFileCreation(JobEvent, tag=EventKind.TABLE_FILE_CREATION.value, kw_only=True):
    """A table was written."""

    file_number: Id
    file_size: Amount
    file_checksum: str | None = None
    file_checksum_func_name: str | None = None
    smallest_seqno: Sequence | None = None
    largest_seqno: Sequence | None = None
    oldest_blob_file_number: Id | None = None
    table_properties: TableProperties | None = None


class TableFileDeletion(JobEvent, tag=EventKind.TABLE_FILE_DELETION.value, kw_only=True):
    """A table was deleted."""

    file_number: Id


class TrivialMove(JobEvent, tag=EventKind.TRIVIAL_MOVE.value, kw_only=True):
    """Tables went to another level as they are."""

    destination_level: Level
    files: Number
    total_files_size: Amount


class BlobFileCreation(JobEvent, tag=EventKind.BLOB_FILE_CREATION.value, kw_only=True):
    """A blob file was written."""

    file_number: Id
    total_blob_bytes: Amount
    total_blob_count: Amount | None = None
    file_checksum: str | None = None
    file_checksum_func_name: str | None = None


class BlobFileDeletion(JobEvent, tag=EventKind.BLOB_FILE_DELETION.value, kw_only=True):
    """A blob file was deleted."""

    file_number: Id


class RecoveryStarted(JobEvent, tag=EventKind.RECOVERY_STARTED.value, kw_only=True):
    """The WAL's records are put into memtables again."""

    wal_files: list[Id] | None = None


class RecoveryFinished(JobEvent, tag=EventKind.RECOVERY_FINISHED.value, kw_only=True):
    """They are."""


class RecoveryFailed(JobEvent, tag=EventKind.RECOVERY_FAILED.value, kw_only=True):
    """They could not be."""


class IngestedFile(msgspec.Struct, gc=False, omit_defaults=True):
    """A table that was made elsewhere, and the level it was put into."""

    file: Id | None = None
    level: Level | None = None


class IngestFinished(Event, tag=EventKind.INGEST_FINISHED.value, kw_only=True):
    """Tables that were made elsewhere are in the database."""

    job: Id | None = None
    files_ingested: list[IngestedFile] | None = None
    lsm_state: list[Number] | None = None


class OtherEvent(Event, tag="", kw_only=True):
    """An event of a kind that is not known; its fields are kept as JSON."""

    named: str
    job: Id | None = None
    file_number: Id | None = None
    fields: str = "{}"

    @property
    def kind(self) -> str:
        """The event's kind, as it stands in the log."""
        return self.named


KnownEvent: TypeAlias = (
    FlushStarted
    | FlushFinished
    | CompactionStarted
    | CompactionFinished
    | TableFileCreation
    | TableFileDeletion
    | TrivialMove
    | BlobFileCreation
    | BlobFileDeletion
    | RecoveryStarted
    | RecoveryFinished
    | RecoveryFailed
    | IngestFinished
)
AnyEvent: TypeAlias = KnownEvent | OtherEvent
KNOWN: Final[dict[str, type[Event]]] = {
    EventKind.FLUSH_STARTED: FlushStarted,
    EventKind.FLUSH_FINISHED: FlushFinished,
    EventKind.COMPACTION_STARTED: CompactionStarted,
    EventKind.COMPACTION_FINISHED: CompactionFinished,
    EventKind.TABLE_FILE_CREATION: TableFileCreation,
    EventKind.TABLE_FILE_DELETION: TableFileDeletion,
    EventKind.TRIVIAL_MOVE: TrivialMove,
    EventKind.BLOB_FILE_CREATION: BlobFileCreation,
    EventKind.BLOB_FILE_DELETION: BlobFileDeletion,
    EventKind.RECOVERY_STARTED: RecoveryStarted,
    EventKind.RECOVERY_FINISHED: RecoveryFinished,
    EventKind.RECOVERY_FAILED: RecoveryFailed,
    EventKind.INGEST_FINISHED: IngestFinished,
}

# One name for what releases called differently: 10.4.2, 6.15.2, 7.5.3 to 9.11.1 ("prenultimate" is theirs).
RENAMED: Final = {
    b'"total_num_input_entries":': b'"num_entries":',
    b'"log_files":': b'"wal_files":',
    b'"penultimate_': b'"proximal_',
    b'"prenultimate_': b'"proximal_',
}
_OLD_NAME: Final = re.compile(b"|".join(RENAMED))


def decoder() -> msgspec.json.Decoder[KnownEvent]:
    """Decodes payloads (from their `{` to the end of their line) that are as RocksDB writes them; see `repaired`."""
    return msgspec.json.Decoder(KnownEvent)


def with_one_name(payload: bytes) -> bytes:
    """The payload with the name this release gives its fields replaced by the one of `RENAMED`."""
    return _OLD_NAME.sub(lambda found: RENAMED[found[0]], payload)
