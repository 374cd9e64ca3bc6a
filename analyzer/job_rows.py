"""Rows of the run's tables out of stitched events."""

from lsmlens.analyzer.events import INT64_MAX, Event, EventKind, input_files
from lsmlens.analyzer.jobs import COMPACTION, FLUSH, MOVE, BlobFile, Job, Table

CALENDAR_ENDS_MICROS = 253402300800 * 1_000_000


def job_row(event: Event) -> Job:
    """The row of a finished flush or compaction, or a move."""
    kind = event["event"]
    row = Job(
        session=event["session"],
        job=event["job"],
        kind=_KINDS[kind],
        column_family=event.get("column_family"),
        attributed_by=event.get("attributed_by") or None,
        started_at=_time(event.get("started_micros")),
        finished_at=_time(event["time_micros"]),
        compression=event.get("output_compression"),
        level_files=event.get("lsm_state"),
    )
    if kind == EventKind.FLUSH_FINISHED:
        _take_flush_start(row, event)
        row.immutable_memtables = _count(event.get("immutable_memtables"))
        row.output_files = event["created_files"]
        row.table_bytes, row.blob_bytes, row.proximal_bytes = event["created_bytes"], event["created_blob_bytes"], 0
        row.output_bytes = row.table_bytes + row.blob_bytes
        row.output_records, row.output_deletions = event["created_records"], event["created_deletions"]
    elif kind == EventKind.COMPACTION_FINISHED:
        _take_compaction_start(row, event)
        row.output_level, row.output_files = event["output_level"], event["num_output_files"]
        row.table_bytes, row.blob_bytes = event["total_output_size"], _count(event.get("total_blob_output_size")) or 0
        row.proximal_bytes = (_count(event.get("proximal_level_bytes_written")) or 0) + (
            _count(event.get("proximal_level_bytes_written_blob")) or 0
        )
        row.output_bytes = row.table_bytes + row.blob_bytes + row.proximal_bytes
        row.input_records, row.output_records = event["num_input_records"], event["num_output_records"]
        row.output_deletions = event["created_deletions"]
        row.micros, row.cpu_micros = event["compaction_time_micros"], _count(event.get("compaction_time_cpu_micros"))
        row.subcompactions = _count(event.get("num_subcompactions"))
    else:
        row.output_level = event["destination_level"]
        row.input_files, row.input_tables = event["files"], event["moved_files"]
        row.moved_bytes = event["total_files_size"]
        row.output_files = row.output_bytes = row.table_bytes = row.blob_bytes = row.proximal_bytes = 0
    return row


def unfinished_row(event: Event) -> Job:
    """The row of a flush or compaction of which only the start is known."""
    row = Job(
        session=event["session"],
        job=event["job"],
        kind=_KINDS[event["event"]],
        column_family=event.get("column_family"),
        attributed_by=event.get("attributed_by") or None,
        started_at=_time(event["time_micros"]),
    )
    if event["event"] == EventKind.FLUSH_STARTED:
        _take_flush_start(row, event)
    else:
        _take_compaction_start(row, event)
    return row


def _take_flush_start(row: Job, event: Event) -> None:
    row.reason, row.logged_reason = event.get("true_flush_reason"), event.get("flush_reason")
    row.output_level = 0
    row.input_bytes, row.memory_bytes = _count(event.get("total_data_size")), _count(event.get("memory_usage"))
    row.input_records, row.input_deletions = event.get("num_entries"), event.get("num_deletes")
    row.input_range_deletions = _count(event.get("num_range_deletes"))
    row.memtables = event.get("num_memtables")


def _take_compaction_start(row: Job, event: Event) -> None:
    inputs = event["inputs"] if "inputs" in event else input_files(event)
    row.reason = row.logged_reason = event.get("compaction_reason")
    row.input_levels = sorted(inputs)
    row.input_level_files = [len(inputs[level]) for level in row.input_levels]
    row.input_tables = [number for level in row.input_levels for number in inputs[level]]
    row.input_files = event.get("input_files")
    row.input_bytes, row.score = _count(event.get("input_data_size")), event.get("score")


def table_row(event: Event) -> Table:
    """The row of a table that was created."""
    properties = event.get("table_properties") or {}

    def count(name: str) -> int | None:
        return _count(properties.get(name))

    compression = properties.get("compression")
    return Table(
        number=event["file_number"],
        session=event["session"],
        job=event["job"],
        column_family=event.get("column_family"),
        created_at=_time(event["time_micros"]),
        bytes=event["file_size"],
        data_bytes=count("data_size"),
        index_bytes=count("index_size"),
        filter_bytes=count("filter_size"),
        key_bytes=count("raw_key_size"),
        value_bytes=count("raw_value_size"),
        data_blocks=count("num_data_blocks"),
        entries=count("num_entries"),
        deletions=count("num_deletions"),
        range_deletions=count("num_range_deletions"),
        merges=count("num_merge_operands"),
        oldest_key_at=count("oldest_key_time"),
        newest_key_at=count("newest_key_time"),
        first_sequence=_count(event.get("smallest_seqno")),
        last_sequence=_count(event.get("largest_seqno")),
        compression=compression if isinstance(compression, str) else None,
    )


def blob_file_row(event: Event, created_by: str) -> BlobFile:
    """The row of a blob file that was created."""
    return BlobFile(
        number=event["file_number"],
        session=event["session"],
        job=event["job"],
        created_by=created_by,
        column_family=event.get("column_family"),
        created_at=_time(event["time_micros"]),
        blobs=_count(event.get("total_blob_count")),
        bytes=event["total_blob_bytes"],
    )


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= INT64_MAX else None


def _time(micros: int | None) -> int | None:
    return micros if micros is not None and micros < CALENDAR_ENDS_MICROS else None


_KINDS = {
    EventKind.FLUSH_STARTED.value: FLUSH,
    EventKind.FLUSH_FINISHED.value: FLUSH,
    EventKind.COMPACTION_STARTED.value: COMPACTION,
    EventKind.COMPACTION_FINISHED.value: COMPACTION,
    EventKind.TRIVIAL_MOVE.value: MOVE,
}
