"""The figures of an analysis that a dashboard follows."""

from collections.abc import Iterator

from lsmlens.analyzer.analysis import Analysis, RunAnalysis
from lsmlens.reports.benchmark import Measurement
from lsmlens.reports.numbers import file_name


def measurements(analysis: Analysis) -> Iterator[Measurement]:
    """The figures of every run, without monitors unless there is nothing else."""
    runs = [one for one in analysis.runs if not one.run.is_monitor] or list(analysis.runs)
    for one in runs:
        for measured in _of_run(one):
            yield Measurement(f"{one.run.name}/{measured.name}", measured.unit, measured.value, None, measured.extra)


def _of_run(one: RunAnalysis) -> Iterator[Measurement]:
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
            yield Measurement(name, unit, value, None, extra)


def _millis(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds
