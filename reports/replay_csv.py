"""Replays as CSV: one row a run, with the options and the seed it is of."""

import csv
from io import StringIO

from lsmlens.analyzer.units import MIB
from lsmlens.reports.replay import ReplayReport
from lsmlens.reports.tables import as_text
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.outcome import Outcome

COLUMNS = (
    *("options", "engine", "rocksdb_version", "mode", "scale", "seed", "failure"),
    *("compactions", "total_output_size_mib", "total_input_records", "total_output_records"),
    *("output_input_ratio_of_sums", "avg_output_input_ratio", "flushes", "flush_mib", "write_amplification"),
    *("records", "user_mib", "space_mib", "peak_space_mib", "stall_seconds", "cpu_seconds", "wall_seconds"),
    *("sorted_runs", "gets", "blocks_per_get", "seeks", "blocks_per_seek", "cache_hit_ratio"),
    *("peak_memory_mib", "p50_response_micros", "p99_response_micros", "p99.9_response_micros"),
)


def to_csv(report: ReplayReport) -> str:
    """The runs of all options; sizes and records are in the workload's own units whatever the scale."""
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for outcome in report.outcomes:
        for measured in outcome.measurements:
            writer.writerow(_row(outcome, measured.multiplied()))
        for failure in outcome.failures:
            writer.writerow({**_asked(outcome, failure.seed), "failure": f"{failure.kind}: {failure.reason}"})
    return text.getvalue()


def _asked(outcome: Outcome, seed: int) -> dict[str, object]:
    return {
        "options": as_text(outcome.name),
        "engine": outcome.engine,
        "rocksdb_version": outcome.rocksdb_version,
        "mode": str(outcome.mode),
        "scale": outcome.scale,
        "seed": seed,
    }


def _row(outcome: Outcome, one: Measurement) -> dict[str, object]:
    latencies = {
        f"p{percent:g}_response_micros": micros
        for percent, micros in (one.latencies.response_micros.items() if one.latencies else ())
    }
    return {
        **_asked(outcome, one.seed),
        "compactions": one.statistics.compaction_events,
        "total_output_size_mib": one.statistics.total_output_size_mib,
        "total_input_records": one.statistics.total_input_records,
        "total_output_records": one.statistics.total_output_records,
        "output_input_ratio_of_sums": one.statistics.output_input_ratio_of_sums,
        "avg_output_input_ratio": one.statistics.avg_output_input_ratio,
        "flushes": one.total.flushes,
        "flush_mib": one.total.flush_bytes / MIB,
        "write_amplification": one.total.write_amplification,
        "records": one.records,
        "user_mib": one.user_bytes / MIB,
        "space_mib": one.space_bytes / MIB,
        "peak_space_mib": one.peak_space_bytes / MIB,
        "stall_seconds": one.stalls.seconds,
        "cpu_seconds": one.cpu_seconds,
        "wall_seconds": one.wall_seconds,
        "sorted_runs": one.mean_sorted_runs,
        **{name: getattr(one.reads, name) for name in ("gets", "blocks_per_get", "seeks", "blocks_per_seek")},
        "cache_hit_ratio": one.reads.cache_hit_ratio,
        "peak_memory_mib": one.peak_memory_bytes / MIB,
        **{name: value for name, value in latencies.items() if name in COLUMNS},
    }
