"""One row for each finished flush and compaction and each trivial move, as CSV."""

import polars as pl
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.runs.jobs import COMPACTION, MOVE
from lsmlens.analyzer.units import MICROS
from lsmlens.reports.tables import FORMULA

_COMPACTION, _MOVE = (pl.col("kind") == kind for kind in (COMPACTION, MOVE))
# A move writes nothing and has no length.
_UNMOVED = pl.when(~_MOVE)

# Columns as they are written, times in UTC and sizes in bytes.
COLUMNS: dict[str, pl.Expr] = {
    "session": pl.col("session"),
    "job": pl.col("job"),
    "kind": pl.col("kind"),
    "column_family": pl.col("column_family"),
    "finished_at": pl.col("finished_at").dt.round("1ms").dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ"),
    "seconds": pl.when(_COMPACTION)
    .then(pl.col("micros"))
    .otherwise((pl.col("finished_at") - pl.col("started_at")).dt.total_microseconds())
    / MICROS,
    "reason": pl.col("reason"),
    "output_level": pl.col("output_level"),
    "input_files": pl.coalesce("memtables", "input_files"),
    "input_bytes": pl.coalesce("moved_bytes", "input_bytes"),
    "input_records": pl.col("input_records"),
    "output_files": _UNMOVED.then("output_files"),
    "output_bytes": _UNMOVED.then("output_bytes"),
    "output_records": pl.col("output_records"),
    "output_input_ratio": pl.when(_COMPACTION & (pl.col("input_records") > 0)).then(
        pl.col("output_records") / pl.col("input_records")
    ),
}


def to_csv(analysis: Analysis) -> str:
    """The selected jobs of all runs, each after the name of its run."""
    tables = [
        analysis.selection.of(one.run)
        .of(one.run.jobs)
        .select(pl.lit(one.run.name).alias("run"), *(column.alias(name) for name, column in COLUMNS.items()))
        for one in analysis.runs
    ]
    return csv_of(pl.concat(tables))


def csv_of(table: pl.DataFrame) -> str:
    """A table as CSV, with nothing in it that a spreadsheet would compute."""
    texts = [name for name, dtype in table.schema.items() if dtype == pl.String]
    return table.with_columns(
        pl.when(pl.col(name).str.contains(FORMULA)).then("'" + pl.col(name)).otherwise(name).alias(name)
        for name in texts
    ).write_csv()
