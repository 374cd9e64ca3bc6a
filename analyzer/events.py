"""EVENT_LOG_v1 events: every kind RocksDB 4.9 to 11.x writes, its fields by one name each, and how to decode them.

    EVENT_LOG_v1 {"time_micros": 1795216290055906, "job": 29, "event": "compaction_finished", …}

RocksDB writes the JSON itself: strings are not escaped, numbers may be `inf` or `nan`, and messages that went
through a LogBuffer are cut without a mark (at 512 bytes up to 6.23). Kinds and fields not listed here are kept.
Source: logging/event_logger.h and the LogToBuffer calls of db/, release tags v4.13 to v11.8.1.
"""

import re
from enum import StrEnum
from typing import Any, Final, NamedTuple

import orjson

ANCHOR: Final = b"EVENT_LOG_v1 {"
INT64_MAX: Final = (1 << 63) - 1


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


def _fields(names: str, kind: type) -> dict[str, type]:
    return dict.fromkeys(names.split(), kind)


_COMMON = {**_fields("time_micros job", int), **_fields("event cf_name status", str)}
_BACKGROUND_IO = _fields(
    "file_write_nanos file_range_sync_nanos file_fsync_nanos file_prepare_write_nanos"
    " file_cpu_write_nanos file_cpu_read_nanos",
    int,
)

# Known fields of each kind and the type of their values. Times in the unit their name ends in, sizes in bytes.
SCHEMAS: Final[dict[str, dict[str, type]]] = {
    EventKind.FLUSH_STARTED: {
        **_COMMON,
        **_fields("num_memtables num_entries num_deletes num_range_deletes total_data_size memory_usage", int),
        "flush_reason": str,
    },
    EventKind.FLUSH_FINISHED: {
        **_COMMON,
        **_BACKGROUND_IO,
        **_fields("immutable_memtables blob_file_head blob_file_tail", int),
        "output_compression": str,
        "lsm_state": list,
    },
    EventKind.COMPACTION_STARTED: {
        **_COMMON,
        **_fields("input_data_size oldest_snapshot_seqno preclude_last_level_min_seqno", int),
        **_fields("proximal_output_level proximal_after_seqno preserve_seqno_after", int),
        "compaction_reason": str,
        "proximal_output_range": str,
        "score": float,
    },
    EventKind.COMPACTION_FINISHED: {
        **_COMMON,
        **_BACKGROUND_IO,
        **_fields("compaction_time_micros compaction_time_cpu_micros output_level num_output_files", int),
        **_fields("total_output_size num_input_records num_output_records num_subcompactions", int),
        **_fields("num_single_delete_mismatches num_single_delete_fallthrough", int),
        **_fields("num_blob_output_files total_blob_output_size blob_file_head blob_file_tail", int),
        **_fields("proximal_level_num_output_files proximal_level_bytes_written", int),
        **_fields("proximal_level_num_output_records proximal_level_num_output_files_blob", int),
        **_fields("proximal_level_bytes_written_blob", int),
        "output_compression": str,
        "lsm_state": list,
    },
    EventKind.TABLE_FILE_CREATION: {
        **_COMMON,
        **_fields("file_number file_size oldest_blob_file_number smallest_seqno largest_seqno", int),
        **_fields("file_checksum file_checksum_func_name", str),
        "table_properties": dict,
    },
    EventKind.TABLE_FILE_DELETION: {**_COMMON, "file_number": int},
    EventKind.TRIVIAL_MOVE: {**_COMMON, **_fields("destination_level files total_files_size", int)},
    EventKind.BLOB_FILE_CREATION: {
        **_COMMON,
        **_fields("file_number total_blob_count total_blob_bytes", int),
        **_fields("file_checksum file_checksum_func_name", str),
    },
    EventKind.BLOB_FILE_DELETION: {**_COMMON, "file_number": int},
    EventKind.RECOVERY_STARTED: {**_COMMON, "wal_files": list},
    EventKind.RECOVERY_FINISHED: _COMMON,
    EventKind.RECOVERY_FAILED: _COMMON,
    EventKind.INGEST_FINISHED: {**_COMMON, "files_ingested": list, "lsm_state": list},
}

# Without these an event says nothing that may be counted.
REQUIRED: Final[dict[str, tuple[str, ...]]] = {
    EventKind.FLUSH_STARTED: ("job", "num_memtables", "num_entries", "num_deletes"),
    EventKind.FLUSH_FINISHED: ("job",),
    EventKind.COMPACTION_STARTED: ("job",),
    EventKind.COMPACTION_FINISHED: (
        "job",
        "compaction_time_micros",
        "output_level",
        "num_output_files",
        "total_output_size",
        "num_input_records",
        "num_output_records",
    ),
    EventKind.TABLE_FILE_CREATION: ("job", "file_number", "file_size"),
    EventKind.TABLE_FILE_DELETION: ("job", "file_number"),
    EventKind.TRIVIAL_MOVE: ("job", "destination_level", "files", "total_files_size"),
    EventKind.BLOB_FILE_CREATION: ("job", "file_number", "total_blob_bytes"),
    EventKind.BLOB_FILE_DELETION: ("job", "file_number"),
    EventKind.RECOVERY_STARTED: ("job",),
    EventKind.RECOVERY_FINISHED: ("job",),
    EventKind.RECOVERY_FAILED: ("job",),
    EventKind.INGEST_FINISHED: (),
}

LISTS_OF_NUMBERS: Final = ("lsm_state", "wal_files")

# One name for what releases called differently: 10.4.2, 6.15.2, 7.5.3 to 9.11.1 ("prenultimate" is theirs).
RENAMED: Final = {
    "total_num_input_entries": "num_entries",
    "log_files": "wal_files",
    "penultimate_output_level": "proximal_output_level",
    "penultimate_output_range": "proximal_output_range",
    "prenultimate_after_seqno": "proximal_after_seqno",
    "penultimate_after_seqno": "proximal_after_seqno",
    "penultimate_level_num_output_files": "proximal_level_num_output_files",
    "penultimate_level_bytes_written": "proximal_level_bytes_written",
    "penultimate_level_num_output_records": "proximal_level_num_output_records",
    "penultimate_level_num_output_files_blob": "proximal_level_num_output_files_blob",
    "penultimate_level_bytes_written_blob": "proximal_level_bytes_written_blob",
}

Event = dict[str, Any]
_INPUT_FILES = re.compile(r"files_L\d+")
_KIND = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class _Shape(NamedTuple):
    """What events with the same fields of the same types have in common."""

    required: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    mistyped: tuple[str, ...]
    unknown: tuple[str, ...]
    numbers: tuple[str, ...] = ()


# A log's events of one kind mostly share one shape, so each is worked out once.
_shapes: dict[tuple[object, ...], _Shape] = {}
_SHAPES_KEPT = 4096


def decode(payload: bytes | memoryview) -> tuple[Event, bool, tuple[str, ...]]:
    """The event a payload (from its `{` to the end of its line) holds.

    Returns it with the names of `SCHEMAS` for its fields (those not known there stay as they are), whether the
    log had cut it, and the names of the fields not known. Values of a known field that are not of its type are
    dropped. Raises EventError, saying why, for what is not a usable event: broken JSON, or a field missing,
    mistyped or over 64 bits without which the event says nothing.
    """
    cut = False
    try:
        event = orjson.loads(payload)
    except ValueError:
        from lsmlens.analyzer.damaged_events import decode_damaged

        event, cut = decode_damaged(bytes(payload))
    if type(event) is not dict:
        raise EventError("not a JSON object")
    key = (event.get("event"), *event, *map(type, event.values()))
    try:
        shape = _shapes.get(key)
    except TypeError:  # an unhashable "event"
        shape = None
    if shape is None:
        shape = _shape_of(event)
        if len(_shapes) < _SHAPES_KEPT:
            _shapes[key] = shape
    for old, new in shape.renamed:
        event[new] = event.pop(old)
    for name in shape.mistyped:
        event.pop(name, None)
    for name in shape.numbers:
        if not all(type(number) is int for number in event[name]):
            del event[name]
    for name in shape.required:
        if not 0 <= event[name] <= INT64_MAX:
            raise EventError(f"{event['event']}: {name} is {_outside(event[name])}")
    if event["time_micros"] <= 0:
        raise EventError(f"{event['event']}: time_micros is {event['time_micros']}")
    return event, cut, shape.unknown


def _outside(value: int) -> str:
    return "over 64 bits" if abs(value) > INT64_MAX else str(value)


def _shape_of(event: Event) -> _Shape:
    kind = event.get("event")
    if type(kind) is not str or not _KIND.fullmatch(kind):
        raise EventError("no event kind")
    schema = SCHEMAS.get(kind)
    renamed = tuple((name, RENAMED[name]) for name in event if name in RENAMED) if schema else ()
    named = {**event, **{new: event[old] for old, new in renamed}}
    required = ("time_micros", *REQUIRED.get(kind, ()))
    for name in required:
        value = named.get(name)
        if type(value) is float and abs(value) > INT64_MAX:
            raise EventError(f"{kind}: {name} is over 64 bits")
        if type(value) is not int:
            problem = "is missing" if value is None else f"is {value!r:.40}, not an integer"
            raise EventError(f"{kind}: {name} {problem}")
    if schema is None:
        return _Shape(required, (), (), ())
    mistyped = [
        name
        for name, value in named.items()
        if type(value) is not schema.get(name, type(value)) and not (type(value) is int and schema[name] is float)
    ]
    unknown = [
        name for name in event if name not in schema and name not in RENAMED and not _INPUT_FILES.fullmatch(name)
    ]
    numbers = tuple(name for name in LISTS_OF_NUMBERS if name in named and name not in mistyped)
    return _Shape(required, renamed, tuple(mistyped), tuple(sorted(unknown)), numbers)


def input_files(event: Event) -> dict[int, list[int]]:
    """Level -> file numbers a `compaction_started` event names as inputs."""
    return {
        int(name[7:]): [number for number in numbers if type(number) is int]
        for name, numbers in event.items()
        if _INPUT_FILES.fullmatch(name) and len(name) < 12 and isinstance(numbers, list)
    }
