"""What flushes, compactions and moves of one column family, or into one level, wrote, and the ratios of that.

What each sum counts, and the formulas of write amplification and of the output/input ratio, stand in `metrics`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from lsmlens.analyzer.metrics import OUTPUT_INPUT_RATIO, WRITE_AMPLIFICATION, sums_of
from lsmlens.analyzer.units import MICROS

if TYPE_CHECKING:
    import polars as pl

UNATTRIBUTED = "(unknown)"


@dataclass(slots=True)
class FamilyWrites:
    """What the flushes, compactions and moves of one column family did; each field is a sum of `metrics.SUMS`.

    `level0_output_bytes` are those of `compaction_output_bytes` that compactions wrote which read level 0.
    """

    name: str
    flushes: int = 0
    flush_bytes: int = 0
    flush_blob_bytes: int = 0
    flush_input_records: int = 0
    flush_output_records: int = 0
    compactions: int = 0
    compaction_input_bytes: int = 0
    compaction_output_bytes: int = 0
    level0_output_bytes: int = 0
    input_records: int = 0
    output_records: int = 0
    blob_output_bytes: int = 0
    proximal_output_bytes: int = 0
    compaction_seconds: float = 0.0
    trivial_moves: int = 0
    trivial_move_bytes: int = 0

    def merge(self, other: "FamilyWrites") -> None:
        """Add another log's writes of this family, or another family's for a sum."""
        for name in _OF_FAMILIES:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def sums(self) -> dict[str, float | None]:
        """The fields by name, as metrics take them."""
        return {name: getattr(self, name) for name in _OF_FAMILIES}

    @property
    def output_input_ratio(self) -> float | None:
        """Records out per record in over all compactions; None without input."""
        return OUTPUT_INPUT_RATIO.value(self.sums)

    @property
    def write_amplification(self) -> float | None:
        """LSM write amplification; None where nothing was flushed."""
        return WRITE_AMPLIFICATION.value(self.sums)


@dataclass(slots=True)
class LevelWrites:
    """What was written into one level, by flushes (level 0) and compactions, and moved there; sums as of a family."""

    level: int
    flushes: int = 0
    flush_bytes: int = 0
    compactions: int = 0
    compaction_input_bytes: int = 0
    compaction_output_bytes: int = 0
    input_records: int = 0
    output_records: int = 0
    compaction_seconds: float = 0.0
    trivial_moves: int = 0
    trivial_move_bytes: int = 0

    @property
    def output_input_ratio(self) -> float | None:
        """Records out per record in over all compactions into this level; None without input."""
        return OUTPUT_INPUT_RATIO.value({"input_records": self.input_records, "output_records": self.output_records})


_OF_FAMILIES = tuple(one.name for one in fields(FamilyWrites))[1:]
_OF_LEVELS = tuple(one.name for one in fields(LevelWrites))[1:]


def writes_by_family(jobs: "pl.LazyFrame") -> tuple[FamilyWrites, ...]:
    """The writes of each column family, by name; of all that none is known of together as UNATTRIBUTED."""
    import polars as pl

    name = pl.col("column_family").fill_null(UNATTRIBUTED).alias("name")
    return tuple(FamilyWrites(**row) for row in sums_of(jobs, [name], _OF_FAMILIES).collect().to_dicts())


def writes_by_level(jobs: "pl.LazyFrame") -> tuple[LevelWrites, ...]:
    """The writes into each level, by number."""
    import polars as pl

    level = pl.col("output_level").alias("level")
    return tuple(LevelWrites(**row) for row in sums_of(jobs, [level], _OF_LEVELS).collect().to_dicts())


def writes_by_window(jobs: "pl.LazyFrame", seconds: float, most: int) -> tuple[tuple[int, FamilyWrites], ...]:
    """Starts of windows of equal length, in microseconds since 1970 UTC, and what was written in each.

    Windows are aligned to 1970; a job counts in the one in which it finished, whole. Windows without jobs are not
    made, nor more than `most`.
    """
    import polars as pl

    micros = max(1, round(seconds * MICROS))
    start = (pl.col("finished_at").dt.epoch("us") // micros * micros).alias("start")
    rows = sums_of(jobs, [start], _OF_FAMILIES).head(most).collect().to_dicts()
    return tuple((began, FamilyWrites(str(began), **row)) for row in rows for began in (row.pop("start"),))


def added(writes: Iterable[FamilyWrites], name: str = "total") -> FamilyWrites:
    """The sum of several families' or runs' writes."""
    total = FamilyWrites(name)
    for one in writes:
        total.merge(one)
    return total
