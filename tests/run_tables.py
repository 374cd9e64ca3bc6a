"""A run's tables told again as the events they were made of, and tables made of a few jobs: what tests ask about."""

import json
from collections import defaultdict
from typing import Any

import polars as pl
from lsmlens.analyzer.runs.columns import frame
from lsmlens.analyzer.runs.jobs import UNKNOWN_FIELDS, Job, Table
from lsmlens.analyzer.runs.run import Run

# Columns by the names of the fields they hold.
FLUSH_STARTED = {
    "num_memtables": "memtables", "num_entries": "input_records", "num_deletes": "input_deletions",
    "num_range_deletes": "input_range_deletions", "total_data_size": "input_bytes", "memory_usage": "memory_bytes",
    "flush_reason": "logged_reason", "true_flush_reason": "reason",
}  # fmt: skip
FLUSH_FINISHED = {
    "lsm_state": "level_files", "immutable_memtables": "immutable_memtables", "output_compression": "compression",
    "created_files": "output_files", "created_bytes": "table_bytes", "created_records": "output_records",
    "created_deletions": "output_deletions", "created_blob_bytes": "blob_bytes",
}  # fmt: skip
COMPACTION_STARTED = {
    "input_data_size": "input_bytes", "input_files": "input_files", "input_levels": "input_levels",
    "compaction_reason": "reason", "score": "score",
}  # fmt: skip
COMPACTION_FINISHED = {
    "lsm_state": "level_files", "output_compression": "compression", "num_output_files": "output_files",
    "output_level": "output_level", "total_output_size": "table_bytes", "total_blob_output_size": "blob_bytes",
    "num_input_records": "input_records", "num_output_records": "output_records",
    "created_deletions": "output_deletions", "compaction_time_micros": "micros",
    "compaction_time_cpu_micros": "cpu_micros", "num_subcompactions": "subcompactions",
}  # fmt: skip
MOVE = {
    "destination_level": "output_level", "files": "input_files", "total_files_size": "moved_bytes",
    "moved_files": "input_tables",
}  # fmt: skip
PROPERTIES = {
    "data_size": "data_bytes", "num_entries": "entries", "num_deletions": "deletions", "raw_key_size": "key_bytes",
    "raw_value_size": "value_bytes", "oldest_key_time": "oldest_key_at", "newest_key_time": "newest_key_at",
    "num_range_deletions": "range_deletions", "num_merge_operands": "merges", "compression": "compression",
}  # fmt: skip


def events_of(run: Run) -> list[dict[str, Any]]:
    """Every event that the tables of a run tell of, under the names of the log, jobs in their order and files after."""
    events: list[dict[str, Any]] = []
    tables = _rows(run.tables)
    created: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for table in tables:
        if table["created_by"] == "compaction":
            created[table["session"], table["job"]].append(table)
    for job in (*_rows(run.jobs), *_rows(run.unfinished)):
        started = _named(job, FLUSH_STARTED if job["kind"] == "flush" else COMPACTION_STARTED)
        if job["started_at"] is not None:
            known = {**_common(job, f"{job['kind']}_started", job["started_at"]), **started}
            known["inputs"] = job["input_tables"]
            events.append(known)
            started["started_micros"] = job["started_at"]
        if job["finished_at"] is None:
            continue
        if job["kind"] == "move":
            events.append({**_common(job, "trivial_move", job["finished_at"]), **_named(job, MOVE)})
        elif job["kind"] == "flush":
            event = _common(job, "flush_finished", job["finished_at"])
            events.append({**event, **started, **_named(job, FLUSH_FINISHED)})
        else:
            own = created[job["session"], job["job"]]
            event = _common(job, "compaction_finished", job["finished_at"])
            told = started if job["started_at"] is not None else {}
            sums = {
                "created_files": len(own),
                "created_bytes": sum(table["bytes"] for table in own),
                "created_records": sum(table["entries"] or 0 for table in own),
            }
            events.append({**event, **told, **_named(job, COMPACTION_FINISHED), **sums})
    for table in tables:
        family = table["column_family"]
        event = _common(table, "table_file_creation", table["created_at"])
        named = {"file_number": table["number"], "file_size": table["bytes"], "cf_name": family}
        events.append({**event, **named, "table_properties": _named(table, PROPERTIES)})
        if table["deleted_at"] is not None:
            event = {"event": "table_file_deletion", "time_micros": table["deleted_at"], "column_family": family}
            events.append({**event, "file_number": table["number"]})
    for file in _rows(run.blob_files):
        event = _common(file, "blob_file_creation", file["created_at"])
        events.append({**event, "file_number": file["number"], "total_blob_bytes": file["bytes"]})
    others = [one for one in _rows(run.other_events) if not one["kind"].endswith(UNKNOWN_FIELDS)]
    return [*events, *({**_common(one, one["kind"], one["at"]), **json.loads(one["fields"])} for one in others)]


def keys_of(run: Run) -> list[tuple[int, int | None, str, int | None]]:
    """What tells a run's events apart: time, job, kind and file; of deletions the job is not kept."""
    return [
        (one["time_micros"], None if kind == "table_file_deletion" else one.get("job"), kind, one.get("file_number"))
        for one in events_of(run)
        for kind in [one["event"]]
    ]


def run_of_jobs(*jobs: Job, tables: tuple[Table, ...] = (), offset: int | None = 0) -> Run:
    """A run of which nothing is known but its jobs and tables."""
    run = Run("made", is_monitor=False, members=[], utc_offset_seconds=offset)
    for job in jobs:
        run.job_rows.append(job)
    for table in tables:
        run.table_rows.append(table)
    return run


def jobs_of(*jobs: Job) -> pl.DataFrame:
    """The table of these jobs."""
    return frame(Job, jobs)


def flush(at: int, size: int, blob_bytes: int = 0, **columns: Any) -> Job:
    """A flush that ended at so many microseconds."""
    defaults: dict[str, Any] = {
        "session": 0, "job": 1, "column_family": "a", "output_level": 0, "output_files": 1, "output_records": 60,
        "input_records": 100, "input_deletions": 0, "output_deletions": 0, "memtables": 1, "proximal_bytes": 0,
    }  # fmt: skip
    sizes = {"table_bytes": size, "blob_bytes": blob_bytes, "output_bytes": size + blob_bytes}
    return Job(kind="flush", finished_at=at, **{**defaults, **sizes, **columns})


def compaction(at: int, size: int, level: int = 1, blob_bytes: int = 0, proximal_bytes: int = 0, **columns: Any) -> Job:
    """A compaction that ended at so many microseconds."""
    defaults: dict[str, Any] = {
        "session": 0, "job": 1, "column_family": "a", "output_level": level, "output_files": 1, "micros": 500_000,
        "input_bytes": 4096, "input_records": 200, "output_records": 150,
    }  # fmt: skip
    sizes = {"table_bytes": size, "blob_bytes": blob_bytes, "proximal_bytes": proximal_bytes}
    written = size + blob_bytes + proximal_bytes
    return Job(kind="compaction", finished_at=at, output_bytes=written, **{**defaults, **sizes, **columns})


def move(at: int, size: int, level: int = 2, **columns: Any) -> Job:
    """A trivial move that ended at so many microseconds."""
    defaults: dict[str, Any] = {"session": 0, "job": 1, "column_family": "a", "output_level": level, "input_files": 1}
    return Job(kind="move", finished_at=at, moved_bytes=size, output_bytes=0, **{**defaults, **columns})


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return frame.with_columns(pl.col(pl.Datetime("us", "UTC")).to_physical()).to_dicts()


def _common(row: dict[str, Any], event: str, micros: int) -> dict[str, Any]:
    common = {"event": event, "time_micros": micros, "session": row["session"], "column_family": row["column_family"]}
    if row["job"] is not None:
        common["job"] = row["job"]
    if row.get("attributed_by") is not None:
        common["attributed_by"] = row["attributed_by"]
    return common


def _named(row: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {field: row[column] for field, column in names.items() if row[column] is not None}
