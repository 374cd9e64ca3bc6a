"""Sorted runs: how many a read has to look into that finds its key in none, in the mean over time.

Each memtable is one, each table of level 0, and each deeper level that holds any table (RocksDB's wiki, "RocksDB
Overview"). Tables are as finished jobs leave them (`lsm_state`). Memtables fill one after another between the starts
of two flushes, so that between them there are on the mean half as many, and a half, as the flush then takes in
(`num_memtables`); those that it takes in stay until it is done.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl
from lsmlens.analyzer.runs.jobs import FLUSH
from lsmlens.analyzer.units import MICROS


@dataclass(frozen=True, slots=True)
class SortedRuns:
    """Of one column family, means over time: memtables with the one being written, level-0 tables, deeper levels."""

    memtables: float
    level0_files: float
    levels: float

    @property
    def total(self) -> float:
        """All that a read of an absent key looks into."""
        return self.memtables + self.level0_files + self.levels


def measure_sorted_runs(jobs: pl.DataFrame) -> dict[str, SortedRuns]:
    """Of each family that has two flushes in one session of a log, between its first and its last job there.

    `jobs` has the columns of `jobs.Job`.
    """
    return sorted_runs(
        jobs.with_columns(
            started=pl.col("started_at").to_physical() / MICROS, finished=pl.col("finished_at").to_physical() / MICROS
        )
    )


def sorted_runs(
    jobs: pl.DataFrame, span: tuple[float, float] | None = None, waiting: Mapping[str, int] | None = None
) -> dict[str, SortedRuns]:
    """By column family; those of which nothing tells are left out.

    `started` and `finished` of `jobs` (shape: jobs,) are seconds of any clock. Where the start and the end of the time
    to be looked at are given as `span`, the first memtable was empty at its start, and at its end `waiting` full ones
    were waiting in each family; what lies before it counts only by the tables it left.
    """
    own = jobs.lazy().filter(pl.col("column_family").is_not_null()).sort("finished", "started")
    start, end = span if span is not None else (None, None)
    keys = ("column_family", "session")
    files = (
        own.filter(pl.col("level_files").is_not_null())
        .with_columns(until=pl.col("finished").shift(-1, fill_value=end).over(keys))
        .with_columns(held=_at_least(pl.col("until"), start) - _at_least(pl.col("finished"), start))
        .group_by("column_family")
        .agg(
            held=pl.col("held").sum(),
            level0=(pl.col("level_files").list.get(0, null_on_oob=True).fill_null(0) * pl.col("held")).sum(),
            levels=(
                pl.col("level_files").list.slice(1).list.eval((pl.element() > 0).cast(pl.Int64)).list.sum()
                * pl.col("held")
            ).sum(),
        )
    )
    flushes = own.filter(kind=FLUSH).filter(pl.col("memtables").is_not_null(), pl.col("started").is_not_null())
    if start is not None:
        flushes = flushes.filter(pl.col("started") >= start)
    memtables = (
        flushes.sort("started")
        .with_columns(since=pl.col("started").shift(1, fill_value=start).over(keys))
        .filter(pl.col("since").is_not_null())
        .group_by("column_family")
        .agg(
            filling=(pl.col("started") - pl.col("since")).sum(),
            filled=(
                (pl.col("memtables") + 1) / 2 * (pl.col("started") - pl.col("since"))
                + pl.col("memtables") * (pl.col("finished") - pl.col("started"))
            ).sum(),
            last=pl.col("started").max(),
        )
    )
    found = {}
    for name, held, level0, levels, filling, filled, last in (
        files.join(memtables, on="column_family", how="full", coalesce=True).sort("column_family").collect().iter_rows()
    ):
        filling, filled = filling or 0.0, filled or 0.0
        if start is not None and end is not None:
            tail = end - (start if last is None else last)
            filling, filled = filling + tail, filled + tail * (1 + (waiting or {}).get(name, 0) / 2)
        if not filling or (start is None and not held):
            continue
        whole = (end - start) if start is not None and end is not None else held
        found[name] = SortedRuns(
            filled / filling, (level0 or 0.0) / whole if whole else 0.0, (levels or 0.0) / whole if whole else 0.0
        )
    return found


def mean_sorted_runs(runs: Mapping[str, SortedRuns], shares: Mapping[str, float]) -> float | None:
    """The mean over the families that are known, by their shares; None where none is."""
    known = {name: one for name, one in runs.items() if shares.get(name)}
    whole = sum(shares[name] for name in known)
    return sum(one.total * shares[name] for name, one in known.items()) / whole if whole else None


def _at_least(moments: pl.Expr, start: float | None) -> pl.Expr:
    return moments if start is None else moments.clip(lower_bound=start)
