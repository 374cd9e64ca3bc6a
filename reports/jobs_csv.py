"""One row for each finished flush and compaction and each trivial move, as CSV."""

import csv
from collections.abc import Mapping
from io import StringIO
from typing import Any

import polars as pl
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.jobs import COMPACTION, FLUSH
from lsmlens.analyzer.units import MICROS
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
        jobs = analysis.selection.of(one.run).of(one.run.jobs)
        times = pl.col("started_at", "finished_at").to_physical()
        for job in jobs.with_columns(times).iter_rows(named=True):
            writer.writerow({"run": one.run.name, **_row(job)})
    return text.getvalue()


def _row(job: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: job[name] for name in COLUMNS if name in job}
    row["finished_at"] = moment_of_micros(job["finished_at"])
    if job["kind"] == COMPACTION:
        row["seconds"] = job["micros"] / MICROS
        row["output_input_ratio"] = job["output_records"] / job["input_records"] if job["input_records"] else None
    elif job["kind"] == FLUSH:
        row["seconds"] = None if job["started_at"] is None else (job["finished_at"] - job["started_at"]) / MICROS
        row["input_files"] = job["memtables"]
    else:
        row |= {"input_bytes": job["moved_bytes"], "output_files": None, "output_bytes": None}
    return row
