"""Rows of jobs made by hand, as the stitcher makes them, for tests of what is measured on them."""

from typing import Any

import polars as pl
from lsmlens.analyzer.runs.columns import frame
from lsmlens.analyzer.runs.jobs import COMPACTION, FLUSH, MOVE, Job
from lsmlens.analyzer.runs.run import Run


def flush(size: int, blobs: int = 0, **more: Any) -> Job:
    """A flush of 100 entries, 10 of them tombstones, that wrote `size` bytes of tables and `blobs` of blob files."""
    return Job(
        **{
            **{"session": 0, "job": 1, "kind": FLUSH, "column_family": "a", "finished_at": 5, "output_level": 0},
            **{"input_records": 100, "input_deletions": 10, "output_records": 60, "output_deletions": 5},
            **{"memtables": 1, "output_files": 1, "table_bytes": size, "blob_bytes": blobs, "proximal_bytes": 0},
            "output_bytes": size + blobs,
            **more,
        }
    )


def compaction(size: int, level: int = 1, *, blobs: int = 0, proximal: int = 0, **more: Any) -> Job:
    """A compaction of 4 KiB and 200 records into 150 in half a second."""
    return Job(
        **{
            **{"session": 0, "job": 2, "kind": COMPACTION, "column_family": "a", "finished_at": 6},
            **{"output_level": level, "input_bytes": 4096, "input_records": 200, "output_records": 150},
            **{"output_files": 1, "table_bytes": size, "blob_bytes": blobs, "proximal_bytes": proximal},
            **{"output_bytes": size + blobs + proximal, "micros": 500_000},
            **more,
        }
    )


def move(size: int, level: int = 2, **more: Any) -> Job:
    """A trivial move of one table of `size` bytes."""
    return Job(
        **{
            **{"session": 0, "job": 3, "kind": MOVE, "column_family": "a", "finished_at": 7, "output_level": level},
            **{"input_files": 1, "output_files": 0, "moved_bytes": size},
            **{"output_bytes": 0, "table_bytes": 0, "blob_bytes": 0, "proximal_bytes": 0},
            **more,
        }
    )


def jobs(*rows: Job) -> pl.DataFrame:
    """The frame of these rows."""
    return frame(Job, rows)


def run_of(*rows: Job) -> Run:
    """A run of an OSD with these jobs."""
    run = Run("osd.0", is_monitor=False, members=["x"])
    for row in rows:
        run.job_rows.append(row)
    return run
