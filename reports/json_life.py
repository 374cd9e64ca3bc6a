"""The parts of the JSON document that stand around a run's jobs: options, dumps, counters, operations, findings."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.counters.counter_intervals import CounterInterval
from lsmlens.analyzer.findings import Finding
from lsmlens.analyzer.plan import Plan
from lsmlens.analyzer.units import MICROS
from lsmlens.reports.moments import moment, moment_of_micros
from lsmlens.reports.waterfall import waterfall_values


def life(one: RunAnalysis) -> dict[str, Any]:
    """Those parts of one run's document, by the names they have in it."""
    return {
        "stalls": _stalls(one),
        "pressure": [pressure._asdict() for pressure in one.pressure],
        "pressure_series": _pressure_series(one),
        "slow_operations": _slow_operations(one),
        "kv_thread": _kv_thread(one),
        "statistics_dumps": _dumps(one),
        "options": _options(one),
        "counters": _counters(one),
        "counter_intervals": [
            {
                "life": interval.life,
                "since": interval.since,
                "until": interval.until,
                "seconds": None if interval.seconds is None else list(interval.seconds),
                "rates": _rates(interval),
                **{name: value for name, value in asdict(interval.counted).items() if value is not None},
            }
            for interval in one.counter_intervals
        ],
        "operations": [_operations(times) for times in one.stage_times],
        "slowest_operations": waterfall_values(one),
        "coincidences": [_coincidence(found) for found in one.coincidences],
        "client_results": [_client_result(result) for result in one.beside.client_results],
        "client_series": [_client_series(series) for series in one.beside.client_series],
        "findings": [_finding(finding) for finding in one.findings],
        "not_assessed": [asdict(rule) for rule in one.not_assessed],
        "plan": _plan(one.plan),
    }


def _rates(interval: CounterInterval) -> dict[str, list[float]]:
    counted = interval.counted
    amounts = {
        "client_writes": counted.client_writes,
        "client_write_bytes": counted.client_write_bytes,
        "transactions": counted.transactions,
        "kv_syncs": counted.kv_syncs,
        "bluefs_wal_bytes_written": counted.bluefs_wal_bytes_written,
        "bluefs_sst_bytes_written": counted.bluefs_sst_bytes_written,
        "bluefs_slow_bytes_written": counted.bluefs_slow_bytes_written,
    }
    found = {f"{name}_per_second": interval.per_second(amount) for name, amount in amounts.items()}
    return {name: list(rate) for name, rate in found.items() if rate is not None}


def _stalls(one: RunAnalysis) -> dict[str, Any]:
    series = one.series
    return {
        "lines": [
            {"column_family": family, "kind": kind, "cause": cause, "lines": count}
            for (family, kind, cause), count in sorted(one.run.stall_lines.items())
        ],
        "seconds": series.stall_seconds if series else None,
        "counts": [
            {"column_family": family, "cause": cause, "count": count}
            for (family, cause), count in sorted(series.stalls.items())
        ]
        if series
        else [],
    }


def _pressure_series(one: RunAnalysis) -> dict[str, Any] | None:
    series = one.pressure_series
    if series is None:
        return None
    courses = {"level0_files": series.level0_files, "immutable_memtables": series.immutable_memtables}
    return {
        "begins_at": moment_of_micros(series.start_micros),
        "step_seconds": series.step_micros / MICROS,
        **{
            name: [
                {
                    "column_family": family,
                    "most": course.most,
                    "mean": [None if mean is None else round(mean, 4) for mean in course.means],
                }
                for family, course in sorted(families.items())
            ]
            for name, families in courses.items()
        },
    }


def _slow_operations(one: RunAnalysis) -> list[dict[str, Any]]:
    """BlueStore's lines of slow operations, summed up by what was slow."""
    counts = Counter(what for what, _, _ in one.run.slow_operations)
    return [
        {"what": what, "lines": count, "longest_seconds": one.run.slow_places[what][0]}
        for what, count in sorted(counts.items())
    ]


def _kv_thread(one: RunAnalysis) -> list[dict[str, Any]]:
    return [
        {
            "at": moment(time.millis, one.run.utc_offset_seconds),
            "seconds": time.seconds,
            "idle_seconds": time.idle_seconds,
            "submitted": time.submitted,
        }
        for time in one.run.kv_thread
    ]


def _dumps(one: RunAnalysis) -> dict[str, Any] | None:
    series = one.series
    if series is None:
        return None
    return {
        "dumps": len(series.points),
        "cut": sum(point.is_cut for point in series.points),
        "user_bytes": series.user_bytes,
        "wal_bytes": series.wal_bytes,
        "points": [
            {
                "at": moment(point.millis, one.run.utc_offset_seconds),
                "is_cut": point.is_cut,
                "uptime_seconds": point.uptime_seconds,
                "interval_seconds": point.interval_seconds,
                "stall_seconds": point.stall_seconds,
                "interval_stall_seconds": point.interval_stall_seconds,
                "user_writes": point.user_writes,
                "user_keys": point.user_keys,
                "user_bytes": point.user_bytes,
                "interval_user_bytes": point.interval_user_bytes,
                "wal_bytes": point.wal_bytes,
                "interval_wal_bytes": point.interval_wal_bytes,
                "level0_files": dict(sorted(point.level0_files.items())),
                "pending_compaction_bytes": dict(sorted(point.pending_compaction_bytes.items())),
                "stall_counts": {
                    name: _above_0(counts) for name, counts in point.stalls.items() if any(counts.values())
                },
                **tables,
            }
            for point, tables in zip(series.points, series.tables, strict=True)
        ],
    }


def _above_0(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


def _coincidence(found: Any) -> dict[str, Any]:
    overlap = found.overlap
    low, high = overlap.interval or (None, None)
    return {
        "what": found.what,
        "during": found.during,
        "had_any": found.had_any,
        "count": overlap.operations,
        "moments": found.moments,
        "overlapping": overlap.overlapping,
        "by_chance": overlap.by_chance,
        "ratio": overlap.ratio,
        "ratio_low": low,
        "ratio_high": high,
    }


def _options(one: RunAnalysis) -> list[dict[str, Any]]:
    """Options whose default is known; the others say little without one, and are many."""
    return [
        {
            "column_family": option.family,
            "name": option.name,
            "value": option.value,
            "source": str(option.source),
            "detail": option.detail,
            "default": option.default,
            "differs": option.differs,
        }
        for option in (*one.options, *one.ceph_options)
        if option.default is not None
    ]


def _counters(one: RunAnalysis) -> dict[str, Any] | None:
    if one.counters is None:
        return None
    check = one.cross_check
    return {
        "perf_dumps": len(one.beside.perf_dumps),
        **{name: value for name, value in asdict(one.counters).items() if value is not None},
        "table_bytes_in_log": check.log_bytes if check else None,
        "table_bytes_in_counter": check.counter_bytes if check else None,
        "table_bytes_difference": check.difference if check else None,
    }


def _operations(times: Any) -> dict[str, Any]:
    return {
        "class": str(times.operation_class),
        "operations": times.operations,
        "whole": asdict(times.whole) if times.whole else None,
        "groups": [asdict(group) for group in times.groups],
        "stages": [asdict(stage) for stage in times.stages],
    }


def _client_result(result: Any) -> dict[str, Any]:
    said = asdict(result)
    percentiles = said.pop("latency_percentiles_seconds")
    ended = moment_of_micros(said.pop("ended_micros"))
    del said["latency_by_second"]
    return {
        **{name: value for name, value in (said | {"ended_at": ended}).items() if value is not None},
        "latency_percentiles_seconds": {f"{percent:g}": seconds for percent, seconds in sorted(percentiles.items())},
    }


def _client_series(series: Any) -> dict[str, Any]:
    is_placed = series.began_micros is not None
    return {
        "source": series.source,
        "logs": series.logs,
        "lines_left_out": series.left_out,
        "measure": str(series.measure),
        "operation": series.operation,
        "began_at": moment_of_micros(series.began_micros),
        "placed_by": series.placement if is_placed else None,
        "not_placed_because": None if is_placed else series.placement,
        "step_seconds": series.step_micros / MICROS,
        "ends_seconds": [end / MICROS for end in series.ends],
        "values": list(series.values),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    said = asdict(finding)
    changes = [{**change, "families": list(change["families"])} for change in said["changes"]]
    return said | {"evidence": list(said["evidence"]), "changes": changes, "commands": list(said["commands"])}


def _plan(plan: Plan | None) -> dict[str, Any] | None:
    if plan is None:
        return None
    changes, left_out = (
        [{**asdict(one), "families": list(one.families), "codes": list(one.codes)} for one in some]
        for some in (plan.changes, plan.left_out)
    )
    return {
        "changes": changes,
        "left_out": left_out,
        "steps": [
            {"title": step.title, "commands": list(step.commands), "notes": list(step.notes)} for step in plan.steps
        ],
        "options_fragment": plan.options_fragment,
    }
