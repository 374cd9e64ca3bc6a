"""What clients felt over time, as charts show it: operations by the bin they began in, spans of load programs' runs."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.companions import Beside
from lsmlens.analyzer.numbers import file_name
from lsmlens.analyzer.units import MICROS
from lsmlens.reports.time_bins import TimeBins

CLIENT_SPANS = 240


@dataclass(frozen=True, slots=True)
class OperationBin:
    """The operations of one class that started in one bin; times in seconds."""

    bin: int
    operation_class: str
    operations: int
    median_seconds: float
    slowest_seconds: float


@dataclass(frozen=True, slots=True)
class ClientSpan:
    """The mean latency a load program measured from one moment to another, whole runs or seconds of one."""

    name: str
    since_micros: int
    until_micros: int
    mean_seconds: float
    p99_seconds: float | None = None


def operation_bins(one: RunAnalysis, bins: TimeBins) -> list[OperationBin]:
    """Operations kept by the OSD and told by its log, by bin and class."""
    durations: dict[tuple[int, str], list[float]] = defaultdict(list)
    for operation in one.beside.operations:
        offset = 0 if operation.has_zone else (one.run.utc_offset_seconds or 0)
        if operation.initiated_micros is None or operation.duration_seconds is None:
            continue
        moment = operation.initiated_micros - offset * MICROS
        if bins.start_micros <= moment < bins.end_micros:
            durations[bins.index(moment), str(operation.operation_class)].append(operation.duration_seconds)
    for what, took, local_millis in one.run.slow_operations:
        if local_millis is not None:
            moment = (local_millis - 1000 * (one.run.utc_offset_seconds or 0)) * 1000 - round(took * MICROS)
            if bins.start_micros <= moment < bins.end_micros:
                durations[bins.index(moment), f"slow in the log: {what}"].append(took)
    return [
        OperationBin(index, name, len(seconds), median(seconds), max(seconds))
        for (index, name), seconds in sorted(durations.items())
    ]


def client_spans(beside: Beside) -> Iterator[ClientSpan]:
    """A span for each result that tells its end, and of a course over time each of at most `CLIENT_SPANS` stretches."""
    told: set[str] = set()
    if beside.client_series:
        from lsmlens.analyzer.clients.client_series import latencies

        for series in latencies(beside.client_series):
            told.add(series.source)
            steps = series.steps()
            length = -(-len(steps) // CLIENT_SPANS)
            name = " ".join(filter(None, (file_name(series.source), series.operation)))
            for first in range(0, len(steps), length):
                stretch = steps[first : first + length]
                mean = sum(seconds for _, _, seconds in stretch) / len(stretch)
                yield ClientSpan(name, stretch[0][0], stretch[-1][1], mean)
    for result in beside.client_results:
        if result.source not in told and result.ended_micros and result.runtime_seconds and result.latency_mean_seconds:
            since = result.ended_micros - round(result.runtime_seconds * MICROS)
            name = " ".join(filter(None, (file_name(result.source), result.job, result.operation)))
            p99 = result.latency_percentiles_seconds.get(99.0)
            yield ClientSpan(name, since, result.ended_micros, result.latency_mean_seconds, p99)
