"""What happened in all runs of a bundle as Parquet, for polars, DuckDB, Spark and pandas: one table a file.

The columns are those that `analyzer.jobs` declares, with the run's name before them. Whatever was selected, all is in
it.
"""

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.runs.run import Run


def write_jobs(analysis: Analysis, path: Path) -> None:
    """Write every flush, compaction and trivial move, also those that never finished: their `finished_at` is null."""
    _write(analysis, path, lambda run: pl.concat([run.jobs, run.unfinished]))


def write_tables(analysis: Analysis, path: Path) -> None:
    """Write every table file that was created."""
    _write(analysis, path, lambda run: run.tables)


def write_blob_files(analysis: Analysis, path: Path) -> None:
    """Write every blob file that was created."""
    _write(analysis, path, lambda run: run.blob_files)


def write_other_events(analysis: Analysis, path: Path) -> None:
    """Write every event, and every unknown field of one, that is in none of the other tables."""
    _write(analysis, path, lambda run: run.other_events)


def _write(analysis: Analysis, path: Path, table: Callable[[Run], pl.DataFrame]) -> None:
    frames = [table(one.run).select(pl.lit(one.run.name).alias("run"), pl.all()) for one in analysis.runs]
    try:
        pl.concat(frames).write_parquet(path)
    except pl.exceptions.ComputeError as error:  # of the disk; "No space left on device (os error 28)", or less
        number = re.search(r"\(os error (\d+)\)", str(error))
        code = errno.EIO if number is None else int(number[1])
        raise OSError(code, os.strerror(code)) from error
