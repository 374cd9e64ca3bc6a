"""The published "Compaction Statistics" table: its rows, labels and arithmetic.

As ceph/cbt's ceph_rocksdb_log_parser.py prints it, the table all published comparisons use. Averages are
unweighted means over compactions; "MB" are MiB; flushes and trivial moves are not in it. Where that program
divides by zero (a compaction of 0 µs or 0 records) the compaction is left out of that mean, and counted.
"""

from dataclasses import dataclass

from lsmlens.analyzer.events import Event
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


class CompactionSums:
    """Adds up finished compactions, one by one, for the table."""

    def __init__(self) -> None:
        self.events = 0
        self.micros = 0
        self.output_bytes = 0
        self.input_records = 0
        self.output_records = 0
        self.without_duration = 0
        self.without_input = 0
        self._throughputs = 0.0
        self._input_rates = 0.0
        self._output_rates = 0.0
        self._ratios = 0.0

    def add(self, event: Event) -> None:
        """Take in one `compaction_finished` event."""
        micros = event["compaction_time_micros"]
        size = event["total_output_size"]
        records_in, records_out = event["num_input_records"], event["num_output_records"]
        self.events += 1
        self.micros += micros
        self.output_bytes += size
        self.input_records += records_in
        self.output_records += records_out
        if micros:
            seconds = micros / MICROS
            self._throughputs += size / (MIB * seconds)
            self._input_rates += records_in / seconds
            self._output_rates += records_out / seconds
        else:
            self.without_duration += 1
        if records_in:
            self._ratios += records_out / records_in
        else:
            self.without_input += 1

    def merge(self, other: "CompactionSums") -> None:
        """Take in all of another log's compactions."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

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
            avg_output_throughput_mib_per_second=_ratio(self._throughputs, timed),
            avg_input_records_per_second=_ratio(self._input_rates, timed),
            avg_output_records_per_second=_ratio(self._output_rates, timed),
            avg_output_input_ratio=_ratio(self._ratios, weighed),
            output_input_ratio_of_sums=_ratio(self.output_records, self.input_records),
        )


def _ratio(value: float, count: int) -> float | None:
    return value / count if count else None
