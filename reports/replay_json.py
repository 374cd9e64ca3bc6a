"""The outcomes of replays as a JSON document, as the schema `lsmlens.replay/1` describes it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lsmlens.reports.json_document import family_values, flush_values, level_values
from lsmlens.reports.replay_tables import ReplayReport
from lsmlens.tuners.replays.measurement import Latencies, Measurement
from lsmlens.tuners.replays.outcome import Outcome, OutcomeFigures

SCHEMA = "lsmlens.replay/1"


def document(report: ReplayReport) -> dict[str, Any]:
    """Everything replays came to, as JSON values."""
    return {
        "schema": SCHEMA,
        "workload": {
            "name": report.workload,
            "seconds": report.workload_seconds,
            "notes": list(report.workload_notes),
        },
        "outcomes": [outcome_values(one) for one in report.outcomes],
    }


def to_json(report: ReplayReport) -> str:
    """The document as indented JSON text, ending in a newline."""
    import orjson

    return orjson.dumps(document(report), option=orjson.OPT_INDENT_2).decode() + "\n"


def outcome_values(outcome: Outcome) -> dict[str, Any]:
    """One outcome; figures are in the workload's own units, those under `as_replayed` as measured at its scale."""
    figures = outcome.figures
    return {
        "options": outcome.name,
        "effective_options": {
            "database": dict(outcome.options.database),
            "column_families": {name: dict(values) for name, values in outcome.options.families.items()},
            "tables": {name: dict(values) for name, values in outcome.options.tables.items()},
        },
        "engine": outcome.engine,
        "rocksdb_version": outcome.rocksdb_version,
        "library": outcome.library,
        "scale": outcome.scale,
        "mode": str(outcome.mode),
        "seeds": list(outcome.seeds),
        **(_figures(figures) if figures is not None else _NO_FIGURES),
        "resources": _resources(figures) if figures is not None else None,
        "latencies": _latencies(figures.latencies) if figures is not None and figures.latencies else None,
        "spread": {name: asdict(spread) for name, spread in outcome.spreads.items()},
        "as_replayed": _figures(outcome.as_replayed) if outcome.as_replayed is not None else None,
        "runs": [_run(one) for one in outcome.measurements],
        "failures": [{"seed": one.seed, "kind": str(one.kind), "reason": one.reason} for one in outcome.failures],
        "quality": list(outcome.quality),
    }


def _figures(figures: OutcomeFigures) -> dict[str, Any]:
    return {
        "compaction_statistics": asdict(figures.statistics),
        "column_families": [family_values(one) for one in figures.families],
        "levels": [level_values(one) for one in figures.levels],
        "flushes": [flush_values(one) for one in figures.flushes],
        "write_amplification": {"lsm": figures.total.write_amplification, "total": figures.total_write_amplification},
        "preloaded_records": figures.preloaded_records,
        "records": figures.records,
        "user_bytes": figures.user_bytes,
        "wal_bytes": figures.wal_bytes,
        "flush_bytes": figures.total.flush_bytes,
        "compaction_output_bytes": figures.total.compaction_output_bytes,
        "memtable_entries": figures.memtable_entries,
        "space_bytes": figures.space_bytes,
        "peak_space_bytes": figures.peak_space_bytes,
        "stalls": {
            "seconds": figures.stall_seconds,
            "lines": [
                {"column_family": family, "kind": kind, "cause": cause, "lines": lines}
                for (family, kind, cause), lines in sorted(figures.stall_lines.items())
            ],
        },
    }


_NO_FIGURES: dict[str, Any] = {
    **dict.fromkeys(("compaction_statistics", "write_amplification", "preloaded_records", "records", "user_bytes")),
    **dict.fromkeys(("wal_bytes", "flush_bytes", "compaction_output_bytes", "memtable_entries", "space_bytes")),
    **dict.fromkeys(("peak_space_bytes", "stalls")),
    **{"column_families": [], "levels": [], "flushes": []},
}


def _resources(figures: OutcomeFigures) -> dict[str, Any]:
    return {
        "wall_seconds": figures.wall_seconds,
        "cpu_seconds": figures.cpu_seconds,
        "memory_bytes": figures.memory_bytes,
        "peak_memory_bytes": figures.peak_memory_bytes,
    }


def _latencies(latencies: Latencies) -> dict[str, Any]:
    return {
        "writes": latencies.writes,
        "mean_response_micros": latencies.mean_response_micros,
        "response_micros": _percentiles(latencies.response_micros),
        "service_micros": _percentiles(latencies.service_micros),
    }


def _percentiles(micros: Mapping[float, float]) -> dict[str, float]:
    return {f"{percent:g}": value for percent, value in sorted(micros.items())}


def _run(one: Measurement) -> dict[str, Any]:
    """One seed's run, as replayed."""
    return {
        "seed": one.seed,
        "compactions": one.statistics.compaction_events,
        "flushes": one.total.flushes,
        "flush_bytes": one.total.flush_bytes,
        "compaction_output_bytes": one.total.compaction_output_bytes,
        "input_records": one.statistics.total_input_records,
        "output_records": one.statistics.total_output_records,
        "write_amplification": one.total.write_amplification,
        "records": one.records,
        "user_bytes": one.user_bytes,
        "memtable_entries": dict(one.memtable_entries),
        "stall_seconds": one.stalls.seconds,
        "wall_seconds": one.wall_seconds,
        "settle_seconds": one.settle_seconds,
        "generation_seconds": one.generation_seconds,
        "cpu_seconds": one.cpu_seconds,
        "peak_memory_bytes": one.peak_memory_bytes,
        "latencies": _latencies(one.latencies) if one.latencies else None,
        "tickers": {name: count for name, count in sorted(one.tickers.items()) if count},
        "notes": list(one.notes),
    }
