"""The published "Compaction Statistics" table: its rows, labels and arithmetic.

As ceph/cbt's ceph_rocksdb_log_parser.py prints it, the table all published comparisons use. Averages are
unweighted means over compactions; "MB" are MiB; flushes and trivial moves are not in it. Where that program
divides by zero (a compaction of 0 µs or 0 records) the compaction is left out of that mean, and counted.
"""

from dataclasses import dataclass

import polars as pl
from lsmlens.analyzer.jobs import COMPACTION
from lsmlens.analyzer.units import MIB, MICROS


@dataclass(frozen=True, slots=True)
class CompactionStatistics:
    """One column of the published table. Means are None where there is nothing to take a mean of.

    `avg_output_input_ratio` is the mean of the compactions' own ratios of records, which the published tables
    use; `output_input_ratio_of_sums` weighs each compaction by its records.
    """

    log_duration_seconds: float | None
    compaction_events: int
    avg_compaction_seconds: float | None
    total_compaction_seconds: float
    avg_output_size_mib: float | None
    total_output_size_mib: float
    total_input_records: int
    total_output_records: int
    avg_output_throughput_mib_per_second: float | None
    avg_input_records_per_second: float | None
    avg_output_records_per_second: float | None
    avg_output_input_ratio: float | None
    output_input_ratio_of_sums: float | None


# The published labels, to the letter, in their order; the last row is ours.
LABELS: dict[str, str] = {
    "log_duration_seconds": "Total OSD Log Duration (seconds)",
    "compaction_events": "Number of Compaction Events",
    "avg_compaction_seconds": "Avg Compaction Time (seconds)",
    "total_compaction_seconds": "Total Compaction Time (seconds)",
    "avg_output_size_mib": "Avg Output Size: (MB)",
    "total_output_size_mib": "Total Output Size: (MB)",
    "total_input_records": "Total Input Records",
    "total_output_records": "Total Output Records",
    "avg_output_throughput_mib_per_second": "Avg Output Throughput (MB/s)",
    "avg_input_records_per_second": "Avg Input Records/second",
    "avg_output_records_per_second": "Avg Output Records/second",
    "avg_output_input_ratio": "Avg Output/Input Ratio",
    "output_input_ratio_of_sums": "Output/Input Ratio of Sums",
}


@dataclass(slots=True)
class CompactionSums:
    """What finished compactions add up to, for the table: times in microseconds, sums of the compactions' own rates."""

    events: int = 0
    micros: int = 0
    output_bytes: int = 0
    input_records: int = 0
    output_records: int = 0
    without_duration: int = 0
    without_input: int = 0
    throughputs: float = 0.0
    input_rates: float = 0.0
    output_rates: float = 0.0
    ratios: float = 0.0

    @classmethod
    def of(cls, jobs: pl.DataFrame) -> "CompactionSums":
        """The sums over the compactions among jobs."""
        return cls(**jobs.select(**compaction_sums()).row(0, named=True))

    def merge(self, other: "CompactionSums") -> None:
        """Take in all of another log's compactions."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def statistics(self, log_duration_seconds: float | None) -> CompactionStatistics:
        """The table's column for what was added."""
        count = self.events
        timed, weighed = count - self.without_duration, count - self.without_input
        return CompactionStatistics(
            log_duration_seconds=log_duration_seconds,
            compaction_events=count,
            avg_compaction_seconds=_ratio(self.micros / MICROS, count),
            total_compaction_seconds=self.micros / MICROS,
            avg_output_size_mib=_ratio(self.output_bytes / MIB, count),
            total_output_size_mib=self.output_bytes / MIB,
            total_input_records=self.input_records,
            total_output_records=self.output_records,
            avg_output_throughput_mib_per_second=_ratio(self.throughputs, timed),
            avg_input_records_per_second=_ratio(self.input_rates, timed),
            avg_output_records_per_second=_ratio(self.output_rates, timed),
            avg_output_input_ratio=_ratio(self.ratios, weighed),
            output_input_ratio_of_sums=_ratio(self.output_records, self.input_records),
        )


def compaction_sums() -> dict[str, pl.Expr]:
    """What the compactions among jobs add up to, by the names of `CompactionSums`."""
    compaction = pl.col("kind") == COMPACTION
    took, read = pl.col("micros"), pl.col("input_records")
    size, written, seconds = pl.col("table_bytes"), pl.col("output_records"), took / MICROS
    timed, weighed = compaction & (took > 0), compaction & (read > 0)
    return {
        "events": compaction.sum(),
        "micros": took.filter(compaction).sum(),
        "output_bytes": size.filter(compaction).sum(),
        "input_records": read.filter(compaction).sum(),
        "output_records": written.filter(compaction).sum(),
        "without_duration": (compaction & (took == 0)).sum(),
        "without_input": (compaction & (read == 0)).sum(),
        "throughputs": (size / (MIB * seconds)).filter(timed).sum(),
        "input_rates": (read / seconds).filter(timed).sum(),
        "output_rates": (written / seconds).filter(timed).sum(),
        "ratios": (written / read).filter(weighed).sum(),
    }


def _ratio(value: float, count: int) -> float | None:
    return value / count if count else None
