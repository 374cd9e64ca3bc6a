"""Figures for dashboards that follow commits: the `customSmallerIsBetter` form of github-action-benchmark.

    [{"name": "osd.0/LSM write amplification", "unit": "ratio", "value": 4.948, "extra": "839 flushes"}]

Only figures of which less is better, and that are known. Totals are of what was logged: the points of one chart compare
only where the work was the same.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.analyzer.comparison.comparison import Comparison
from lsmlens.analyzer.metrics import Better
from lsmlens.analyzer.numbers import file_name
from lsmlens.reports.replay import ReplayReport


@dataclass(frozen=True, slots=True)
class BenchmarkPoint:
    """One point of one chart; `range` is its spread, as text."""

    name: str
    unit: str
    value: float
    range: str | None = None
    extra: str | None = None


def to_benchmark(measurements: Iterable[BenchmarkPoint]) -> str:
    """The document, ending in a newline."""
    rows = [{key: value for key, value in asdict(one).items() if value is not None} for one in measurements]
    return json.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def of_analysis(analysis: Analysis) -> str:
    """The figures of every run, without monitors unless there is nothing else."""
    runs = [one for one in analysis.runs if not one.run.is_monitor] or list(analysis.runs)
    return to_benchmark(measured for one in runs for measured in _of_run(one))


def of_comparison(comparison: Comparison) -> str:
    """Of every arm each metric of which less is better, with its spread and its verdict."""
    return to_benchmark(_of_arms(comparison))


def of_replays(report: ReplayReport) -> str:
    """The figures of every set of options, in the workload's own units, with the range over its runs."""
    return to_benchmark(_of_outcomes(report))


def _of_run(one: RunAnalysis) -> Iterator[BenchmarkPoint]:
    statistics, total = one.statistics, one.total
    seconds = f"{statistics.log_duration_seconds:.0f} s logged" if statistics.log_duration_seconds else None
    known: list[tuple[str, str, float | None, str | None]] = [
        ("LSM write amplification", "ratio", total.write_amplification, f"{total.flushes} flushes"),
        ("Total output size", "MiB", statistics.total_output_size_mib, f"{total.compactions} compactions"),
        ("Total compaction time", "s", statistics.total_compaction_seconds, seconds),
        ("Output/input ratio of sums", "ratio", statistics.output_input_ratio_of_sums, None),
        ("Stalled", "s", one.series.stall_seconds if one.series else None, "by statistics dumps"),
        ("Stall lines", "lines", float(sum(one.run.stall_lines.values())), seconds),
    ]
    known += [
        (f"LSM write amplification of {family.name}", "ratio", family.write_amplification, None)
        for family in one.families
    ]
    for result in one.beside.client_results:
        name = " ".join(filter(None, (file_name(result.source), result.job, result.operation)))
        p99 = result.latency_percentiles_seconds.get(99.0)
        known.append((f"{name} mean latency", "ms", _millis(result.latency_mean_seconds), None))
        known.append((f"{name} p99 latency", "ms", _millis(p99), None))
    for name, unit, value, extra in known:
        if value is not None:
            yield BenchmarkPoint(f"{one.run.name}/{name}", unit, value, None, extra)


def _millis(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds


def _of_arms(comparison: Comparison) -> Iterator[BenchmarkPoint]:
    for place, arm in enumerate(comparison.names):
        for row in comparison.rows:
            figure, judgement = row.figures[place], row.judgements[place]
            if figure is None or row.metric.better is not Better.LOWER:
                continue
            label = row.metric.label if row.metric.part is None else f"{row.metric.part} {row.metric.label}"
            spread = f"± {figure.spread:.6g}" if figure.spread is not None else None
            said = str(judgement.verdict) if judgement is not None else "baseline"
            yield BenchmarkPoint(f"{arm}/{label}", str(row.metric.unit), figure.value, spread, said)


def _of_outcomes(report: ReplayReport) -> Iterator[BenchmarkPoint]:
    measures = {
        "write_amplification": ("LSM write amplification", "ratio"),
        "flush_mib": ("Flushed", "MiB"),
        "total_output_size_mib": ("Total output size", "MiB"),
        "output_input_ratio_of_sums": ("Output/input ratio of sums", "ratio"),
        "stall_seconds": ("Stalled", "s"),
        "p99_response_micros": ("Write latency p99", "µs"),
    }
    for outcome in report.outcomes:
        for name, (label, unit) in measures.items():
            spread = outcome.spreads.get(name)
            if spread is not None:
                low_to_high = f"{spread.low:.6g} to {spread.high:.6g}" if len(outcome.seeds) > 1 else None
                extra = f"{outcome.mode}, at 1/{outcome.scale:g} of the size"
                yield BenchmarkPoint(f"{outcome.name}/{label}", unit, spread.mean, low_to_high, extra)
