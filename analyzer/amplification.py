"""Bytes written by column family and by level, and the write amplification they come to.

LSM write amplification = (flush bytes + compaction output bytes) / flush bytes. Flush bytes are the level-0
tables that flushes wrote, and their blob files. Compaction output bytes are `total_output_size` plus, where a
release writes them apart, blob bytes and those of the penultimate ("proximal") level. Trivial moves move no bytes.
The WAL is not in it, nor are tables written while recovering one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl
from lsmlens.analyzer.jobs import COMPACTION, FLUSH, MOVE
from lsmlens.analyzer.units import MICROS

UNATTRIBUTED = "(unknown)"


@dataclass(slots=True)
class FamilyWrites:
    """What the flushes, compactions and moves of one column family did. Sizes in bytes.

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
        for name in self.__slots__:
            if name != "name":
                setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def output_input_ratio(self) -> float | None:
        """Records out per record in over all compactions; None without input."""
        return self.output_records / self.input_records if self.input_records else None

    @property
    def write_amplification(self) -> float | None:
        """LSM write amplification; None where nothing was flushed."""
        if not self.flush_bytes:
            return None
        return (self.flush_bytes + self.compaction_output_bytes) / self.flush_bytes


@dataclass(slots=True)
class LevelWrites:
    """What was written into one level, by flushes (level 0) and compactions, and moved there. Sizes in bytes."""

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
        return self.output_records / self.input_records if self.input_records else None


def family_writes(jobs: pl.DataFrame) -> list[FamilyWrites]:
    """What the jobs of each column family did, by name; those of none that is known as `(unknown)`."""
    name = pl.col("column_family").fill_null(UNATTRIBUTED).alias("name")
    return [FamilyWrites(**row) for row in _sums(jobs, name, FamilyWrites.__slots__[1:])]


def level_writes(jobs: pl.DataFrame) -> list[LevelWrites]:
    """What was written into each level, and moved there, by number."""
    return [LevelWrites(**row) for row in _sums(jobs, pl.col("output_level").alias("level"), LevelWrites.__slots__[1:])]


def window_writes(jobs: pl.DataFrame, window_micros: int) -> list[tuple[int, FamilyWrites]]:
    """What the jobs that finished in each window did, by its start in microseconds since 1970; none for empty ones."""
    start = pl.col("finished_at").to_physical() // window_micros * window_micros
    sums = _sums(jobs, start.alias("start"), FamilyWrites.__slots__[1:])
    return [(row["start"], FamilyWrites(name=str(row.pop("start")), **row)) for row in sums]


def _sums(jobs: pl.DataFrame, by: pl.Expr, names: Iterable[str]) -> list[dict[str, Any]]:
    sums = write_sums()
    rows = jobs.lazy().group_by(by).agg(**{name: sums[name] for name in names}).collect()
    return rows.sort(rows.columns[0]).to_dicts()


def write_sums() -> dict[str, pl.Expr]:
    """What jobs add up to, by the names of `FamilyWrites`."""
    flush, compaction, move = (pl.col("kind") == kind for kind in (FLUSH, COMPACTION, MOVE))

    def total(kind: pl.Expr, column: str) -> pl.Expr:
        return pl.col(column).filter(kind).sum()

    return {
        "flushes": flush.sum(),
        "flush_bytes": total(flush, "output_bytes"),
        "flush_blob_bytes": total(flush, "blob_bytes"),
        "flush_input_records": total(flush, "input_records"),
        "flush_output_records": total(flush, "output_records"),
        "compactions": compaction.sum(),
        "compaction_input_bytes": total(compaction, "input_bytes"),
        "compaction_output_bytes": total(compaction, "output_bytes"),
        "level0_output_bytes": total(compaction & pl.col("input_levels").list.contains(0), "output_bytes"),
        "input_records": total(compaction, "input_records"),
        "output_records": total(compaction, "output_records"),
        "blob_output_bytes": total(compaction, "blob_bytes"),
        "proximal_output_bytes": total(compaction, "proximal_bytes"),
        "compaction_seconds": total(compaction, "micros") / MICROS,
        "trivial_moves": move.sum(),
        "trivial_move_bytes": total(move, "moved_bytes"),
    }
