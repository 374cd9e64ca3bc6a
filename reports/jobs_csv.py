"""One row for each finished flush and compaction and each trivial move, as CSV."""

import csv
from io import StringIO
from typing import Any

from lsmlens.analyzer.amplification import outside_output_size
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.events import Event, EventKind
from lsmlens.reports.moments import moment_of_micros

COLUMNS = (
    "run",
    "session",
    "job",
    "kind",
    "column_family",
    "finished_at",
    "seconds",
    "reason",
    "output_level",
    "input_files",
    "input_bytes",
    "input_records",
    "output_files",
    "output_bytes",
    "output_records",
    "output_input_ratio",
)


def to_csv(analysis: Analysis) -> str:
    """The selected jobs of all runs; times are UTC, sizes bytes."""
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for one in analysis.runs:
        wanted = analysis.selection.of(one.run)
        for event in one.run.events:
            row = _row(event)
            if row is not None and wanted.takes(event):
                writer.writerow({"run": one.run.name, **_common(event), **row})
    return text.getvalue()


def _common(event: Event) -> dict[str, Any]:
    return {
        "session": event["session"],
        "job": event["job"],
        "column_family": event.get("column_family"),
        "finished_at": moment_of_micros(event["time_micros"]),
    }


def _row(event: Event) -> dict[str, Any] | None:
    kind = event["event"]
    if kind == EventKind.COMPACTION_FINISHED:
        records_in, records_out = event["num_input_records"], event["num_output_records"]
        return {
            "kind": "compaction",
            "seconds": event["compaction_time_micros"] / 1e6,
            "reason": event.get("compaction_reason"),
            "output_level": event["output_level"],
            "input_files": event.get("input_files"),
            "input_bytes": event.get("input_data_size"),
            "input_records": records_in,
            "output_files": event["num_output_files"],
            "output_bytes": event["total_output_size"] + sum(outside_output_size(event)),
            "output_records": records_out,
            "output_input_ratio": records_out / records_in if records_in else None,
        }
    if kind == EventKind.FLUSH_FINISHED:
        started = event.get("started_micros")
        return {
            "kind": "flush",
            "seconds": None if started is None else (event["time_micros"] - started) / 1e6,
            "reason": event.get("true_flush_reason"),
            "output_level": 0,
            "input_files": event.get("num_memtables"),
            "input_bytes": event.get("total_data_size"),
            "input_records": event.get("num_entries"),
            "output_files": event["created_files"],
            "output_bytes": event["created_bytes"] + event["created_blob_bytes"],
            "output_records": event["created_records"],
        }
    if kind == EventKind.TRIVIAL_MOVE:
        return {
            "kind": "move",
            "output_level": event["destination_level"],
            "input_files": event["files"],
            "input_bytes": event["total_files_size"],
        }
    return None
