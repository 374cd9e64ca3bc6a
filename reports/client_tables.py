"""The tables of what clients felt: benchmark results, their course over time, operations by stage, coincidences."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.numbers import bytes_of, file_name, millis, plain, share
from lsmlens.analyzer.units import MICROS
from lsmlens.reports.moments import moment_of_micros
from lsmlens.reports.tables import Table

if TYPE_CHECKING:
    from lsmlens.analyzer.clients.client_series import ClientSeries
    from lsmlens.analyzer.clients.fio_logs import Measure
    from lsmlens.analyzer.measures.overlap import Overlap


def client_results(one: RunAnalysis) -> Table | None:
    """What load programs measured; None where none did."""
    rows = [
        (
            file_name(result.source) + ("" if result.is_complete else " (cut)"),
            result.operation or "-",
            plain(result.iops),
            bytes_of(result.bytes_per_second) + "/s" if result.bytes_per_second is not None else "-",
            millis(result.latency_mean_seconds),
            millis(result.latency_percentiles_seconds.get(99.0)),
        )
        for result in one.beside.client_results
    ]
    return Table(("client result", "op", "IOPS", "bandwidth", "mean", "p99"), tuple(rows)) if rows else None


def client_series(one: RunAnalysis) -> Table | None:
    """What load programs measured over the time of their run, summed up; None where none tells its course.

    The parts of a latency are left out where there is a whole one.
    """
    measures = {series.measure for series in one.beside.client_series}
    shown = measures - _PARTS if "latency" in measures else measures
    rows = [
        (
            _logs(series),
            series.operation or "-",
            str(series.measure),
            moment_of_micros(series.began_micros) or f"not placed: {series.placement}",
            plain(len(series.ends) * series.step_micros / MICROS),
            *(_measured(series.measure, value) for value in _spread(series.values)),
        )
        for series in one.beside.client_series
        if series.measure in shown
    ]
    header = ("over time", "op", "measure", "from (UTC)", "seconds", "least", "median", "most")
    return Table(header, tuple(rows)) if rows else None


def _logs(series: "ClientSeries") -> str:
    more = f" and {series.logs - 1} more" if series.logs > 1 else ""
    return file_name(series.source) + more + (f" ({series.left_out} lines left out)" if series.left_out else "")


_PARTS = {"completion latency", "submission latency"}


def _spread(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """The least, the median and the largest."""
    if not values:
        return None, None, None
    ordered = sorted(values)
    return ordered[0], ordered[len(ordered) // 2], ordered[-1]


def _measured(measure: "Measure", value: float | None) -> str:
    if value is None:
        return "-"
    if measure.is_latency:
        return millis(value)
    return plain(round(value, 1)) if measure == "iops" else f"{bytes_of(value)}/s"


def coincidences(one: RunAnalysis) -> Table | None:
    """How often what was slow overlaps flushes, compactions and stalls, against chance; None where nothing was slow."""
    rows: dict[str, list[str]] = {}
    for found in one.coincidences:
        if found.during not in _DURING:
            continue
        row = rows.setdefault(found.what, [_short(found.what), plain(found.overlap.operations), plain(found.moments)])
        row.append(_times_chance(found.overlap) if found.had_any else "none then")
    header = ("times as often as by chance (90 % interval)", "count", "moments")
    return Table((*header, *(f"during {name}" for name in _DURING)), tuple(map(tuple, rows.values()))) if rows else None


_DURING = ("flushes", "compactions", "stalls")


def _short(what: str) -> str:
    head, of, source = what.partition(" of ")
    return f"{head}{of}{file_name(source)}"


def _times_chance(overlap: "Overlap") -> str:
    ratio_found, interval = overlap.ratio, overlap.interval
    if ratio_found is None or interval is None:
        return "-"
    high = "any" if interval[1] is None else f"{interval[1]:.1f}"
    return f"{ratio_found:.1f} ({interval[0]:.1f} to {high})"


def stages(one: RunAnalysis) -> Table | None:
    """Where operations kept by the OSD spent their time, by class; None without operations."""
    rows = [
        (
            str(times.operation_class),
            plain(times.operations),
            millis(times.whole.mean_seconds),
            millis(times.whole.p95_seconds),
            millis(times.whole.max_seconds),
            ", ".join(f"{group.group} {share(group.share)}" for group in times.groups[:4]),
        )
        for times in one.stage_times
        if times.whole is not None
    ]
    header = ("class", "operations", "mean", "p95", "slowest", "time held by")
    return Table(header, tuple(rows), left=(0, 5)) if rows else None
