"""How long the log's compactions took for what they read, from their start to their end."""

from collections.abc import Mapping, Sequence

import polars as pl
from lsmlens.analyzer.runs.jobs import COMPACTION
from lsmlens.analyzer.runs.run import Run
from lsmlens.analyzer.units import MICROS
from lsmlens.tuners.replays.timed_compactions import SecondsPerByte

# With fewer compactions a family's are taken to be as fast as all.
LEAST_JOBS = 20


def compaction_seconds(run: Run, families: Sequence[str]) -> Mapping[str, SecondsPerByte]:
    """By family; empty where the log does not tell what compactions read, or shows too few."""
    read = run.jobs.filter(pl.col("kind") == COMPACTION, pl.col("input_bytes") > 0)
    if read.height < LEAST_JOBS:
        return {}
    # by the stamps of its two events, for a compaction's own count leaves out how it begins and ends
    stamped = (pl.col("finished_at") - pl.col("started_at")).dt.total_microseconds().fill_null(0)
    jobs = read.with_columns(took=pl.max_horizontal(stamped, "micros"))
    from_level0 = pl.col("input_levels").list.contains(0)
    level0, deeper = (some if some.height else jobs for some in (jobs.filter(from_level0), jobs.filter(~from_level0)))
    return {name: SecondsPerByte(_mean(level0, name), _mean(deeper, name)) for name in families}


def _mean(jobs: pl.DataFrame, family: str) -> float:
    """Seconds by bytes of a family's jobs, or of all where it has few."""
    own = jobs.filter(column_family=family)
    told = own if own.height >= LEAST_JOBS else jobs
    micros, size = told.select(pl.col("took", "input_bytes").sum()).row(0)
    return float(micros / MICROS / size)
