"""The published "Compaction Statistics" table: one column of figures, as the metrics of that group give them.

As ceph/cbt's ceph_rocksdb_log_parser.py prints it, the table all published comparisons use. Where that program
divides by zero (a compaction of 0 µs or 0 records) the compaction is left out of that mean, and counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lsmlens.analyzer.metrics import LABELS, LOG_SECONDS, values_of


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


def statistics_of(sums: Mapping[str, float], log_seconds: float | None) -> CompactionStatistics:
    """The table's column for the sums of some jobs, by `metrics.SUMS`, and the length of the log they are of."""
    values = values_of({**sums, LOG_SECONDS: log_seconds})
    row: dict[str, Any] = {name: values.get(name) for name in LABELS}
    return CompactionStatistics(**row)
