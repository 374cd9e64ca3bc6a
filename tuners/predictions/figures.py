"""What flushes and compactions of one column family come to, as numbers that can be scaled and compared."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Final

from lsmlens.analyzer.measures.amplification import FamilyWrites
from lsmlens.analyzer.units import MIB

METRICS: Final = ("flushes", "flush_bytes", "compactions", "output_bytes", "input_records", "output_records")


@dataclass(frozen=True, slots=True)
class Figures:
    """Sums over a log or a replay. `flush_bytes` and `output_bytes` are of tables written, in bytes.

    Of `output_bytes`, `level0_output_bytes` are those of compactions that read level 0.
    """

    flushes: float = 0.0
    flush_bytes: float = 0.0
    compactions: float = 0.0
    output_bytes: float = 0.0
    input_records: float = 0.0
    output_records: float = 0.0
    level0_output_bytes: float = 0.0

    @classmethod
    def of(cls, writes: FamilyWrites) -> "Figures":
        """The figures of one family's writes."""
        return cls(
            float(writes.flushes),
            float(writes.flush_bytes),
            float(writes.compactions),
            float(writes.compaction_output_bytes),
            float(writes.input_records),
            float(writes.output_records),
            float(writes.level0_output_bytes),
        )

    def __add__(self, other: "Figures") -> "Figures":
        return Figures(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def times(self, factor: float) -> "Figures":
        """All of them multiplied."""
        return Figures(*(getattr(self, one.name) * factor for one in fields(self)))

    @property
    def deeper_output_bytes(self) -> float:
        """Bytes of compactions between deeper levels."""
        return self.output_bytes - self.level0_output_bytes

    @property
    def written_bytes(self) -> float:
        """Bytes of tables, flushed and compacted."""
        return self.flush_bytes + self.output_bytes

    @property
    def write_amplification(self) -> float | None:
        """(flush + compaction output bytes) / flush bytes; None where nothing was flushed."""
        return self.written_bytes / self.flush_bytes if self.flush_bytes else None

    @property
    def output_input_ratio(self) -> float | None:
        """Records out per record in, over all compactions; None without input."""
        return self.output_records / self.input_records if self.input_records else None

    def named(self) -> dict[str, float | None]:
        """The figures by the names that a prediction gives them."""
        return {
            "compactions": self.compactions,
            "flush_mib": self.flush_bytes / MIB,
            "total_output_size_mib": self.output_bytes / MIB,
            "total_input_records": self.input_records,
            "total_output_records": self.output_records,
            "output_input_ratio_of_sums": self.output_input_ratio,
            "write_amplification": self.write_amplification,
        }


def by_family(writes: Iterable[FamilyWrites]) -> dict[str, Figures]:
    """Figures by family name."""
    return {one.name: Figures.of(one) for one in writes}


def total(families: Mapping[str, Figures]) -> Figures:
    """The sum of all families."""
    whole = Figures()
    for one in families.values():
        whole = whole + one
    return whole
