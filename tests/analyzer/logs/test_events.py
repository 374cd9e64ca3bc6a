"""Events of every kind and version, as RocksDB writes them, and what happens to them on their way into a log."""

import json
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsmlens.analyzer.logs.damaged_events import repaired
from lsmlens.analyzer.logs.events import (
    INT64_MAX,
    AnyEvent,
    CompactionStarted,
    EventError,
    EventKind,
    OtherEvent,
    decoder,
)
from msgspec import MsgspecError
from msgspec.structs import asdict

Version = tuple[int, int, int]
# The releases at which fields came, went or were renamed, and some in between.
VERSIONS: list[Version] = [
    (4, 9, 0), (5, 10, 2), (5, 12, 0), (5, 14, 2), (5, 17, 2), (6, 0, 1), (6, 1, 2), (6, 2, 2), (6, 6, 3),
    (6, 8, 1), (6, 13, 2), (6, 14, 5), (6, 15, 2), (6, 15, 5), (6, 25, 1), (7, 5, 3), (7, 6, 0), (7, 8, 3),
    (7, 9, 2), (8, 6, 7), (9, 7, 2), (9, 8, 4), (9, 9, 3), (9, 11, 1), (10, 1, 3), (10, 4, 2), (10, 7, 0), (11, 8, 1),
]  # fmt: skip


class Field(NamedTuple):
    """A field as a version writes it, its value, and the one name it is read under."""

    written: str
    value: Any
    read: str

    @classmethod
    def same(cls, name: str, value: Any) -> "Field":
        return cls(name, value, name)


def since(version: Version, first: Version, *fields: Field) -> list[Field]:
    return list(fields) if version >= first else []


def same(**values: Any) -> list[Field]:
    return [Field.same(name, value) for name, value in values.items()]


def background_io(version: Version) -> list[Field]:
    return same(
        file_write_nanos=11, file_range_sync_nanos=12, file_fsync_nanos=13, file_prepare_write_nanos=14
    ) + since(version, (6, 0, 1), *same(file_cpu_write_nanos=15, file_cpu_read_nanos=16))  # fmt: skip


def flush_started(version: Version) -> list[Field]:
    entries = "num_entries" if version < (10, 4, 2) else "total_num_input_entries"
    return [
        *same(time_micros=1, job=25, event="flush_started", num_memtables=2),
        Field(entries, 9471, "num_entries"),
        *same(num_deletes=49),
        *since(version, (6, 0, 1), Field.same("total_data_size", 3808987)),
        *same(memory_usage=3969192),
        *since(version, (8, 6, 7), Field.same("num_range_deletes", 3)),
        *since(version, (5, 12, 0), Field.same("flush_reason", "Write Buffer Full")),
    ]


def flush_finished(version: Version) -> list[Field]:
    return [
        *same(time_micros=1, job=25, event="flush_finished"),
        *since(version, (5, 10, 2), Field.same("output_compression", "NoCompression")),
        *same(lsm_state=[2, 1, 0], immutable_memtables=1),
        *since(version, (6, 14, 5), *same(blob_file_head=7, blob_file_tail=9)),
        *background_io(version),
    ]


def compaction_started(version: Version) -> list[Field]:
    placed = "proximal" if version >= (10, 1, 3) else "penultimate"
    return [
        *same(time_micros=1),
        *since(version, (10, 4, 2), Field.same("cf_name", "users")),
        *same(job=29, event="compaction_started"),
        *since(version, (5, 14, 2), Field.same("compaction_reason", "LevelL0FilesNum")),
        *same(files_L0=[31, 28], files_L1=[22], score=1.08333, input_data_size=205563531),
        *since(version, (7, 6, 0), Field.same("oldest_snapshot_seqno", -1)),
        *since(
            version,
            (7, 8, 3),
            Field.same("preclude_last_level_min_seqno", 5),
            Field(f"{placed}_output_level", 5, "proximal_output_level"),
            Field(f"{placed}_output_range", "All", "proximal_output_range"),
        ),
        *since(
            version,
            (9, 11, 1),
            Field(
                "prenultimate_after_seqno" if version < (10, 1, 3) else "proximal_after_seqno",
                6,
                "proximal_after_seqno",
            ),
            Field.same("preserve_seqno_after", 7),
        ),
    ]


def compaction_finished(version: Version) -> list[Field]:
    placed = "proximal" if version >= (10, 1, 3) else "penultimate"
    counted = ("num_output_files", "bytes_written", "num_output_records", "num_output_files_blob", "bytes_written_blob")
    return [
        *same(time_micros=1, job=29, event="compaction_finished", compaction_time_micros=1009011),
        *since(version, (6, 0, 1), Field.same("compaction_time_cpu_micros", 467728)),
        *same(output_level=1, num_output_files=2, total_output_size=107021982),
        *same(num_input_records=1526976, num_output_records=243380, num_subcompactions=1),
        *since(version, (5, 10, 2), Field.same("output_compression", "LZ4")),
        *same(num_single_delete_mismatches=0, num_single_delete_fallthrough=0),
        *background_io(version)[:4],
        *same(lsm_state=[0, 2, 0]),
        *since(version, (6, 15, 2), *same(num_blob_output_files=1, total_blob_output_size=42)),
        *since(version, (6, 15, 2), *same(blob_file_head=7, blob_file_tail=9)),
        *since(
            version,
            (7, 5, 3),
            *(Field(f"{placed}_level_{name}", 3 + at, f"proximal_level_{name}") for at, name in enumerate(counted)),
        ),
    ]


def table_file_creation(version: Version) -> list[Field]:
    return [
        *same(time_micros=1, cf_name="O-2", job=29, event="table_file_creation", file_number=139, file_size=28406),
        *since(version, (6, 13, 2), *same(file_checksum="", file_checksum_func_name="Unknown")),
        *since(version, (7, 6, 0), *same(smallest_seqno=18, largest_seqno=377)),
        *same(table_properties={"data_size": 27116, "num_entries": 69, "filter_policy": "bloom", "kDeletedKeys": "1"}),
        *since(version, (6, 6, 3), Field.same("oldest_blob_file_number", 3)),
        *since(version, (10, 4, 2), Field.same("status", "OK")),
    ]


def table_file_deletion(version: Version) -> list[Field]:
    return [
        *same(time_micros=1, job=29, event="table_file_deletion", file_number=133),
        *since(version, (10, 4, 2), Field.same("status", "OK")),
    ]


def trivial_move(version: Version) -> list[Field]:
    return same(time_micros=1, job=12, event="trivial_move", destination_level=2, files=1, total_files_size=4277740)


def blob_file_creation(version: Version) -> list[Field]:
    return [
        *same(time_micros=1, cf_name="blobs", job=29, event="blob_file_creation", file_number=8),
        *same(total_blob_count=5, total_blob_bytes=3500, file_checksum="", file_checksum_func_name="Unknown"),
        *same(status="OK"),
    ]


def blob_file_deletion(version: Version) -> list[Field]:
    return same(time_micros=1, job=29, event="blob_file_deletion", file_number=8, status="OK")


def recovery_started(version: Version) -> list[Field]:
    files = "log_files" if version < (6, 15, 2) else "wal_files"
    return [*same(time_micros=1, job=1, event="recovery_started"), Field(files, [3, 5], "wal_files")]


def recovery_finished(version: Version) -> list[Field]:
    status = since(version, (9, 11, 1), Field.same("status", "OK"))
    return [*same(time_micros=1, job=1, event="recovery_finished"), *status]


def recovery_failed(version: Version) -> list[Field]:
    return same(time_micros=1, job=1, event="recovery_failed", status="Corruption: checksum mismatch")


def ingest_finished(version: Version) -> list[Field]:
    ingested = [{"file": 12, "level": 6}]
    return same(time_micros=1, event="ingest_finished", files_ingested=ingested, lsm_state=[0, 1])


# What writes each kind, and the first release that has it.
KINDS: dict[EventKind, tuple[Any, Version]] = {
    EventKind.FLUSH_STARTED: (flush_started, (4, 9, 0)),
    EventKind.FLUSH_FINISHED: (flush_finished, (4, 9, 0)),
    EventKind.COMPACTION_STARTED: (compaction_started, (4, 9, 0)),
    EventKind.COMPACTION_FINISHED: (compaction_finished, (4, 9, 0)),
    EventKind.TABLE_FILE_CREATION: (table_file_creation, (4, 9, 0)),
    EventKind.TABLE_FILE_DELETION: (table_file_deletion, (4, 9, 0)),
    EventKind.TRIVIAL_MOVE: (trivial_move, (4, 9, 0)),
    EventKind.BLOB_FILE_CREATION: (blob_file_creation, (6, 25, 1)),
    EventKind.BLOB_FILE_DELETION: (blob_file_deletion, (6, 25, 1)),
    EventKind.RECOVERY_STARTED: (recovery_started, (4, 9, 0)),
    EventKind.RECOVERY_FINISHED: (recovery_finished, (4, 9, 0)),
    EventKind.RECOVERY_FAILED: (recovery_failed, (9, 11, 1)),
    EventKind.INGEST_FINISHED: (ingest_finished, (6, 6, 3)),
}
LATEST = VERSIONS[-1]


def fields_of(kind: EventKind, version: Version) -> list[Field]:
    fields: list[Field] = KINDS[kind][0](version)
    return fields


def written(fields: list[Field]) -> bytes:
    """The payload as RocksDB's writer lays it out: a comma and a space, a colon and a space, nothing escaped."""
    return json.dumps({field.written: field.value for field in fields}).encode()


def decode(payload: bytes | memoryview) -> tuple[dict[str, Any], bool, tuple[str, ...]]:
    """The fields an event has, whether it was cut, and the names of those that are not known."""
    event: AnyEvent
    cut, unknown = False, tuple[str, ...]()
    try:
        event = decoder().decode(payload)
    except (MsgspecError, ValueError, RecursionError):
        found = repaired(bytes(payload))
        event, cut, unknown = found.event, found.cut, tuple(sorted(found.unknown))
    said = {name: value for name, value in asdict(event).items() if value is not None and name != "named"}
    if isinstance(event, OtherEvent):
        said |= json.loads(said.pop("fields"))
    if said.get("files_ingested"):
        said["files_ingested"] = [asdict(file) for file in said["files_ingested"]]
    if "table_properties" in said:
        said["table_properties"] = {
            name: value for name, value in asdict(said["table_properties"]).items() if value is not None
        }
    return {"event": event.kind, **said}, cut, unknown


def inputs_of(payload: bytes) -> dict[int, list[int]]:
    event = repaired(payload).event
    assert isinstance(event, CompactionStarted)
    return event.inputs()


def read(fields: list[Field]) -> dict[str, Any]:
    return {field.read: field.value for field in fields}


def replaced(kind: EventKind, **values: Any) -> bytes:
    fields = fields_of(kind, LATEST)
    assert set(values) <= {field.written for field in fields}
    return written([field._replace(value=values.get(field.written, field.value)) for field in fields])


FINISHED = written(fields_of(EventKind.COMPACTION_FINISHED, (6, 8, 1)))


def test_every_kind_is_tried() -> None:
    assert set(KINDS) == set(EventKind)


@pytest.mark.parametrize(
    ("kind", "version"),
    [(kind, version) for kind in EventKind for version in VERSIONS if version >= KINDS[kind][1]],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else str(value),
)
def test_every_field_of_every_version_is_known_by_one_name(kind: EventKind, version: Version) -> None:
    fields = fields_of(kind, version)
    event, cut, unknown = decode(written(fields))
    expected = read(fields)
    if "table_properties" in expected:  # those that follow from others, or are the same for a family, are not kept
        expected["table_properties"] = {"data_size": 27116, "num_entries": 69, "kDeletedKeys": "1"}
    assert event == expected
    assert (cut, unknown) == (False, ())


def test_a_view_is_read_like_bytes() -> None:
    buffer = bytearray(b"xx" + FINISHED + b"yy")
    assert decode(memoryview(buffer)[2:-2]) == decode(FINISHED)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total_num_input_entries", "num_entries"),
        ("log_files", "wal_files"),
        ("penultimate_output_level", "proximal_output_level"),
        ("penultimate_output_range", "proximal_output_range"),
        ("penultimate_after_seqno", "proximal_after_seqno"),
        ("prenultimate_after_seqno", "proximal_after_seqno"),
        ("penultimate_level_bytes_written", "proximal_level_bytes_written"),
    ],
)
def test_a_renamed_field_has_its_last_name_only(old: str, new: str) -> None:
    kind = next(
        kind
        for kind in EventKind
        if any(new == field.read for version in VERSIONS for field in fields_of(kind, version))
    )
    fields = [field._replace(written=old) if field.read == new else field for field in fields_of(kind, LATEST)]
    event = decode(written(fields))[0]
    assert old not in event
    assert event[new] == read(fields)[new]


def test_an_unknown_kind_is_kept_as_it_is() -> None:
    payload = {"time_micros": 5, "event": "mutant_table_created", "log_files": "x", "num_entries": [1.5, None]}
    assert decode(json.dumps(payload).encode()) == (payload, False, ())


def test_unknown_fields_are_kept_and_named() -> None:
    payload = FINISHED.replace(b'"lsm_state"', b'"zeta": {"a": [1]}, "alpha": "b", "lsm_state"')
    found = repaired(payload)
    assert found.unknown == {"alpha": "b", "zeta": {"a": [1]}}
    assert not found.cut


def test_input_files_are_known_at_any_level() -> None:
    fields = [*fields_of(EventKind.COMPACTION_STARTED, LATEST), Field.same("files_L63", [9, 8])]
    assert not repaired(written(fields)).unknown
    assert inputs_of(written(fields)) == {0: [31, 28], 1: [22], 63: [9, 8]}


def test_input_files_leave_out_what_is_no_file_number() -> None:
    payload = {"event": "compaction_started", "time_micros": 1, "job": 2, "files_L1": [1, "2", None, 3], "files_L2": 7}
    payload |= {"files_Lx": [1], "files_L123456": [4], "files_L9": [-1, 5]}
    assert inputs_of(json.dumps(payload).encode()) == {1: [1, 3], 9: [5]}


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (EventKind.FLUSH_STARTED, "flush_reason", 3),
        (EventKind.FLUSH_STARTED, "memory_usage", "much"),
        (EventKind.FLUSH_FINISHED, "lsm_state", 4),
        (EventKind.COMPACTION_STARTED, "score", "high"),
        (EventKind.COMPACTION_FINISHED, "total_blob_output_size", 1.5),
        (EventKind.COMPACTION_FINISHED, "proximal_level_bytes_written", None),
        (EventKind.TABLE_FILE_CREATION, "table_properties", "none"),
        (EventKind.TABLE_FILE_CREATION, "cf_name", True),
        (EventKind.RECOVERY_STARTED, "wal_files", {"3": 5}),
    ],
)
def test_a_mistyped_optional_field_is_dropped_alone(kind: EventKind, name: str, value: Any) -> None:
    found = decode(replaced(kind, **{name: value}))
    expected = decode(written([field for field in fields_of(kind, LATEST) if field.written != name]))
    assert found == expected
    assert name not in found[0]
    told = () if value is None else (name,)
    assert repaired(replaced(kind, **{name: value})).impossible == told


def test_a_mistyped_field_of_a_former_name_is_dropped() -> None:
    fields = [
        field._replace(value="?") if field.read == "proximal_output_level" else field
        for field in fields_of(EventKind.COMPACTION_STARTED, (7, 9, 2))
    ]
    event = decode(written(fields))[0]
    assert "proximal_output_level" not in event
    assert "penultimate_output_level" not in event
    assert event["proximal_output_range"] == "All"


def test_a_whole_number_will_do_for_a_score() -> None:
    assert decode(replaced(EventKind.COMPACTION_STARTED, score=-1))[0]["score"] == -1


REQUIRED = {
    EventKind.FLUSH_STARTED: ["time_micros", "job", "num_memtables", "total_num_input_entries", "num_deletes"],
    EventKind.FLUSH_FINISHED: ["time_micros", "job"],
    EventKind.COMPACTION_STARTED: ["time_micros", "job"],
    EventKind.COMPACTION_FINISHED: [
        "time_micros", "job", "compaction_time_micros", "output_level", "num_output_files", "total_output_size",
        "num_input_records", "num_output_records",
    ],
    EventKind.TABLE_FILE_CREATION: ["time_micros", "job", "file_number", "file_size"],
    EventKind.TABLE_FILE_DELETION: ["time_micros", "job", "file_number"],
    EventKind.TRIVIAL_MOVE: ["time_micros", "job", "destination_level", "files", "total_files_size"],
    EventKind.BLOB_FILE_CREATION: ["time_micros", "job", "file_number", "total_blob_bytes"],
    EventKind.BLOB_FILE_DELETION: ["time_micros", "job", "file_number"],
    EventKind.RECOVERY_STARTED: ["time_micros", "job"],
    EventKind.RECOVERY_FINISHED: ["time_micros", "job"],
    EventKind.RECOVERY_FAILED: ["time_micros", "job"],
    EventKind.INGEST_FINISHED: ["time_micros"],
}  # fmt: skip
REQUIRED_FIELDS = [(kind, name) for kind, names in REQUIRED.items() for name in names]


@pytest.mark.parametrize(("kind", "name"), REQUIRED_FIELDS)
def test_a_missing_required_field_is_named(kind: EventKind, name: str) -> None:
    fields = [field for field in fields_of(kind, LATEST) if field.written != name]
    shown = "num_entries" if name == "total_num_input_entries" else name
    with pytest.raises(EventError, match=f"^{kind}: {shown} is missing$"):
        decode(written(fields))


@pytest.mark.parametrize(("kind", "name"), REQUIRED_FIELDS)
@pytest.mark.parametrize("value", ["12", 1.5, True, [1], {}])
def test_a_mistyped_required_field_is_named(kind: EventKind, name: str, value: Any) -> None:
    shown = "num_entries" if name == "total_num_input_entries" else name
    with pytest.raises(EventError, match=f"^{kind}: {shown} is .*, not an integer$"):
        decode(replaced(kind, **{name: value}))


@pytest.mark.parametrize(("kind", "name"), REQUIRED_FIELDS)
@pytest.mark.parametrize("value", [1 << 63, (1 << 64) - 1, 1 << 64, 10**30, -(1 << 63), -(1 << 70)])
def test_a_required_field_over_64_bits_is_named(kind: EventKind, name: str, value: int) -> None:
    shown = "num_entries" if name == "total_num_input_entries" else name
    with pytest.raises(EventError, match=f"^{kind}: {shown} is over 64 bits$"):
        decode(replaced(kind, **{name: value}))


def test_the_largest_number_of_64_bits_is_taken() -> None:
    assert decode(replaced(EventKind.TRIVIAL_MOVE, job=INT64_MAX))[0]["job"] == INT64_MAX


@pytest.mark.parametrize(("name", "most"), [("total_files_size", 1 << 46), ("destination_level", 127)])
def test_a_required_field_beyond_what_can_be_is_named(name: str, most: int) -> None:
    assert decode(replaced(EventKind.TRIVIAL_MOVE, **{name: most}))[0][name] == most
    for value in (most + 1, -1):
        with pytest.raises(EventError, match=f"{name} is {value}$"):
            decode(replaced(EventKind.TRIVIAL_MOVE, **{name: value}))


@pytest.mark.parametrize("number", ["-1", "1e999", "-Infinity", "NaN", "9" * 5000, '"7"', "[7]", "true"])
def test_a_value_that_cannot_be_is_left_out_and_named(number: str) -> None:
    payload = replaced(EventKind.FLUSH_STARTED, memory_usage="@").replace(b'"@"', number.encode())
    event, cut, _ = decode(payload)
    assert not cut
    assert "memory_usage" not in event
    assert event["num_entries"] == 9471
    nothing = number in ("1e999", "-Infinity", "NaN")  # no number at all, as where RocksDB divides by zero
    assert repaired(payload).impossible == (() if nothing else ("memory_usage",))


@pytest.mark.parametrize("micros", [0, -5])
def test_a_time_before_1970_is_refused(micros: int) -> None:
    with pytest.raises(EventError, match=f"time_micros is {micros}"):
        decode(replaced(EventKind.TRIVIAL_MOVE, time_micros=micros))


@pytest.mark.parametrize(
    "payload",
    [
        b'{"time_micros": 1, "job": 1}',
        b'{"time_micros": 1, "event": ["flush_started"]}',
        b'{"time_micros": 1, "event": {"a": 1}}',
        b'{"time_micros": 1, "event": 3}',
        b'{"time_micros": 1, "event": null}',
    ],
)
def test_no_kind_no_event(payload: bytes) -> None:
    with pytest.raises(EventError, match="no event kind"):
        decode(payload)


@pytest.mark.parametrize("payload", [b"{", b"{}x", b"", b"{time_micros", b'{"a" 1}', b"\xff\xfe{", b'{"event'])
def test_what_is_no_json_is_refused(payload: bytes) -> None:
    with pytest.raises(EventError):
        decode(payload)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(EventError):
        decode(b'{"event": ' + b"[" * 200_000)
    with pytest.raises(EventError):
        decode(b'{"event": ' + b"[" * 200_000 + b"]" * 200_000 + b"}")


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(EventError):
        decode(FINISHED.replace(b'"job": 29', b'"job": ' + b"9" * 10_000))
    with pytest.raises(EventError):
        decode(FINISHED.replace(b'"job": 29', b'"job": ' + b"9" * 10_000)[:-5])


# What a LogBuffer of 512 bytes leaves of an event with many levels and background I/O counters.
LONG = FINISHED.replace(b"[0, 2, 0]", b"[" + b"1, " * 60 + b"0]")


def test_a_cut_event_keeps_its_whole_fields() -> None:
    event, cut, unknown = decode(LONG[:480])
    assert cut
    assert unknown == ()
    assert event["num_output_records"] == 243380
    assert event["output_compression"] == "LZ4"
    assert "lsm_state" not in event


def test_an_event_cut_anywhere_is_right_or_refused() -> None:
    whole = decode(LONG)[0]
    enough = LONG.index(b'"num_output_records": 243380,') + len(b'"num_output_records": 243380,')
    for length in range(1, len(LONG)):
        payload = LONG[:length]
        if length < enough:
            with pytest.raises(EventError):
                decode(payload)
        else:
            event, cut, _ = decode(payload)
            assert cut
            assert event.items() <= whole.items()


def test_a_cut_number_of_a_required_field_is_not_taken() -> None:
    payload = FINISHED[: FINISHED.index(b'"num_output_records": 243380') + len(b'"num_output_records": 2433')]
    with pytest.raises(EventError, match="num_output_records is missing"):
        decode(payload)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\x00\x00\n", b" \n"])
def test_the_end_of_the_line_does_not_matter(end: bytes) -> None:
    assert decode(FINISHED + end)[0] == decode(FINISHED)[0]
    assert decode(LONG[:480] + end)[0] == decode(LONG[:480])[0]


def test_what_follows_a_whole_event_does_not_matter() -> None:
    assert decode(FINISHED + b' "/> <!-- {} -->') == decode(FINISHED)


def test_unescaped_quotes_in_a_late_string_cost_only_what_follows() -> None:
    payload = replaced(EventKind.BLOB_FILE_DELETION, status="@").replace(b"@", b'IO error: open("/db/8.blob"): gone')
    event, cut, _ = decode(payload)
    assert cut
    assert event == {"time_micros": 1, "job": 29, "event": "blob_file_deletion", "file_number": 8}


def test_a_checksum_of_raw_bytes_costs_nothing_else() -> None:
    payload = replaced(EventKind.TABLE_FILE_CREATION, file_checksum="@").replace(b"@", b"\xff\x01\xc3")
    event, cut, _ = decode(payload)
    assert not cut
    assert event["table_properties"]["num_entries"] == 69
    assert event["file_checksum"].startswith("\N{REPLACEMENT CHARACTER}")


def test_a_checksum_with_a_quote_costs_only_what_follows() -> None:
    payload = replaced(EventKind.TABLE_FILE_CREATION, file_checksum="@").replace(b"@", b'\xff"\xc3')
    event, cut, _ = decode(payload)
    assert cut
    assert (event["cf_name"], event["file_number"], event["file_size"]) == ("O-2", 139, 28406)


@pytest.mark.parametrize("number", [b"inf", b"-inf", b"nan", b"-nan"])
def test_no_number_is_no_value(number: bytes) -> None:
    payload = replaced(EventKind.COMPACTION_STARTED, score="@").replace(b'"@"', number)
    event, cut, unknown = decode(payload)
    assert not cut
    assert unknown == ()
    assert "score" not in event
    assert event["input_data_size"] == 205563531


def test_no_number_in_a_required_field_is_refused() -> None:
    with pytest.raises(EventError, match="num_output_records"):
        decode(FINISHED.replace(b"243380", b"nan"))


def test_numbers_with_an_exponent_are_read_from_cut_events_too() -> None:
    fields = written(fields_of(EventKind.COMPACTION_STARTED, (6, 8, 1))).replace(b"1.08333", b"1.5e+06")
    for payload in (fields, fields[:-3] + b","):
        assert decode(payload)[0]["score"] == pytest.approx(1.5e6)


def test_an_event_inside_a_json_string() -> None:
    inside = json.dumps({"log": "EVENT_LOG_v1 " + FINISHED.decode() + "\n", "stream": "stderr"}).encode()
    event, cut, _ = decode(inside[inside.index(b"{", 1) :])
    assert event == decode(FINISHED)[0]
    assert not cut


def test_an_event_inside_an_xml_attribute() -> None:
    quoted = FINISHED.replace(b'"', b"&quot;") + b'" ThreadID="1" />'
    event, cut, _ = decode(quoted)
    assert event == decode(FINISHED)[0]
    assert not cut


def test_control_characters_in_strings_are_taken() -> None:
    payload = replaced(EventKind.BLOB_FILE_DELETION, status="@").replace(b"@", b"a\tb\x07")
    assert decode(payload)[0]["status"] == "a\tb\x07"


def usable(event: dict[str, Any]) -> bool:
    return type(event["event"]) is str and type(event["time_micros"]) is int and 0 < event["time_micros"] <= INT64_MAX


@settings(derandomize=True, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_an_event_or_an_error(data: bytes) -> None:
    try:
        event, _, _ = decode(b'{"time_micros": 7, "event": "x", ' + data)
    except EventError:
        return
    assert usable(event)


ODD_VALUES = [
    None,
    True,
    -1,
    1 << 63,
    1 << 64,
    10**40,
    1.5,
    1e300,
    "",
    '"',
    "\\",
    "x" * 99,
    [],
    [[1]],
    [None],
    {},
    {"a": 1},
]


@settings(derandomize=True, deadline=None)
@given(st.sampled_from(list(EventKind)), st.data())
def test_any_values_are_an_event_or_an_error(kind: EventKind, data: st.DataObject) -> None:
    fields = fields_of(kind, data.draw(st.sampled_from(VERSIONS)))
    for at in data.draw(st.sets(st.integers(0, len(fields) - 1), max_size=3)):
        fields[at] = fields[at]._replace(value=data.draw(st.sampled_from(ODD_VALUES)))
    payload = written(fields)
    try:
        event, _, _ = decode(payload[: data.draw(st.integers(1, len(payload)))])
    except EventError:
        return
    assert usable(event)
