"""What load generators measured over the time of their run: fio's logs and the seconds of rados bench.

The logs of processes that ran at once are one series: latencies are means (over all I/O where each has a line, else
over the processes' windows), bandwidth and IOPS are sums. fio's logs count time from the start of the run, which its
JSON in the same folder tells: `job_start`, or in older releases `timestamp_ms`, at which it was written, less the
longest `runtime`. A series whose start is not told so is not placed in time.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lsmlens.analyzer.clients.client_results import DIRECTIONS, ClientResult, jobs_of, ran_at_once
from lsmlens.analyzer.clients.fio_logs import FioLog, Measure, Steps
from lsmlens.analyzer.counters.json_numbers import as_count
from lsmlens.analyzer.units import MICROS

if TYPE_CHECKING:
    from lsmlens.analyzer.bundles.companions import Companion

_LOG_OPTIONS = ("write_lat_log", "write_bw_log", "write_iops_log")


_NO_UNIT = "no fio JSON beside it tells whether its latencies are nanoseconds, or microseconds as in fio 2"


class ClientSeries(NamedTuple):
    """One measure in one direction: `values` at the ends of steps, in microseconds since the run began.

    Values are seconds, bytes per second or operations per second, as `measure` says. `began_micros` is since 1970
    UTC; None where nothing tells it, and then `placement` says why not, else by what. `logs` counts the files,
    `left_out` their lines that were not understood.
    """

    source: str
    measure: Measure
    operation: str | None
    step_micros: int
    ends: tuple[int, ...]
    values: tuple[float, ...]
    began_micros: int | None
    placement: str
    logs: int = 1
    left_out: int = 0

    def steps(self) -> list[tuple[int, int, float]]:
        """Start and end of each step since 1970 UTC, and its value; empty where the series is not placed in time."""
        began = self.began_micros
        if began is None:
            return []
        return [
            (began + end - self.step_micros, began + end, value)
            for end, value in zip(self.ends, self.values, strict=True)
        ]


class _Placed(NamedTuple):
    """One log with its start: `began_micros` is 0 of its clock."""

    path: str
    log: FioLog
    began_micros: int | None
    placement: str
    per_second: float | None


def client_series(logs: "Iterable[Companion]", documents: "Sequence[Companion]") -> tuple[ClientSeries, ...]:
    """The series of fio's logs, placed by the fio JSON documents that stand in the same folders; by path."""
    groups: dict[tuple[Any, ...], list[_Placed]] = {}
    for one in sorted(logs, key=lambda log: log.path):
        placed = _placed(one, [document for document in documents if document.directory == one.directory])
        for steps in placed.log.directions:
            key = (one.directory, placed.log.prefix, placed.log.measure, steps.direction, steps.step_micros)
            groups.setdefault(key, []).append(placed)
    return tuple(
        _joined(parts, direction)
        for (_, _, _, direction, step), group in groups.items()
        for parts in _at_once(group, step)
    )


def series_of_results(results: Iterable[ClientResult]) -> tuple[ClientSeries, ...]:
    """The latency by the second that rados bench's own lines tell, where they have times."""
    return tuple(
        ClientSeries(
            source=one.source,
            measure=Measure.LATENCY,
            operation=one.operation,
            step_micros=MICROS,
            ends=tuple(end - one.latency_by_second[0][0] + MICROS for end, _ in one.latency_by_second),
            values=tuple(seconds for _, seconds in one.latency_by_second),
            began_micros=one.latency_by_second[0][0] - MICROS,
            placement="its own stamps",
        )
        for one in results
        if one.latency_by_second
    )


def latencies(series: Iterable[ClientSeries]) -> list[ClientSeries]:
    """Series of whole latencies that are placed in time, and of completion latencies where there is no whole one."""
    placed = [one for one in series if one.began_micros is not None]
    whole = [one for one in placed if one.measure is Measure.LATENCY]
    known = {(one.began_micros, one.operation) for one in whole}
    return whole + [
        one
        for one in placed
        if one.measure is Measure.COMPLETION_LATENCY and (one.began_micros, one.operation) not in known
    ]


def _placed(one: "Companion", documents: "Sequence[Companion]") -> _Placed:
    log: FioLog = one.content
    document, missing = _document_of(log, [document.content for document in documents])
    version = document.get("fio version") if document is not None else None
    unit = log.latency_unit(version if isinstance(version, str) else None)
    if log.is_absolute:
        return _Placed(one.path, log, 0, "log_unix_epoch", unit)
    if document is None:
        return _Placed(one.path, log, None, missing, unit)
    began, placement = _start(document, log)
    return _Placed(one.path, log, began, placement, unit)


def _document_of(log: FioLog, documents: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any] | None, str]:
    """The run a log is of: the one whose job names it, or the only one; else None and why not."""
    named = [document for document in documents if log.prefix in _prefixes(document)]
    some = named or documents
    if len(some) == 1:
        return some[0], ""
    return None, "several fio results stand beside it" if some else "no fio JSON stands beside it"


def _prefixes(document: Mapping[str, Any]) -> set[str]:
    """What its logs' names may begin with: what the options say, without folders, or the jobs' names."""
    names: set[str] = set()
    for holder in (document.get("global options"), *(job.get("job options") for job in jobs_of(document))):
        if isinstance(holder, Mapping):
            names |= {str(holder[name]).rsplit("/", 1)[-1] for name in _LOG_OPTIONS if holder.get(name)}
    return names | {str(job.get("jobname")) for job in jobs_of(document)}


def _start(document: Mapping[str, Any], log: FioLog) -> tuple[int | None, str]:
    jobs = jobs_of(document)
    starts = [as_count(job.get("job_start")) for job in jobs]
    mine = starts[log.part - 1] if log.part is not None and log.part <= len(starts) else None
    if mine is None and starts and ran_at_once(jobs):
        mine = starts[0]
    if mine is not None:
        return mine * 1000, "job_start of its fio JSON"
    ended = as_count(document.get("timestamp_ms"))
    if ended is None:
        return None, "its fio JSON has no timestamp_ms"
    if not ran_at_once(jobs):
        return None, "its fio JSON has jobs that ran one after another, and no job_start"
    sides = (job.get(direction) for job in jobs for direction in DIRECTIONS)
    runtimes = [as_count(side.get("runtime")) or 0 for side in sides if isinstance(side, Mapping)]
    return (ended - max(runtimes, default=0)) * 1000, "timestamp_ms less runtime of its fio JSON"


def _at_once(group: Sequence[_Placed], step: int) -> list[list[_Placed]]:
    """The logs that are one series: all, unless they began more than a step apart."""
    begun = [one.began_micros for one in group if one.began_micros is not None]
    if len({one.log.part for one in group}) < len(group) or (begun and max(begun) - min(begun) > step):
        return [[one] for one in group]
    return [list(group)]


def _joined(parts: Sequence[_Placed], direction: str) -> ClientSeries:
    """Several processes' logs as one; without values where they are latencies whose unit nothing tells."""
    first = parts[0]
    measure, left_out = first.log.measure, sum(part.log.left_out for part in parts)
    if measure.is_latency and first.per_second is None:
        return ClientSeries(first.path, measure, direction, MICROS, (), (), None, _NO_UNIT, len(parts), left_out)
    sums: dict[int, float] = {}
    weights: dict[int, int] = {}
    step = 0
    for part in parts:
        steps: Steps = next(one for one in part.log.directions if one.direction == direction)
        step = steps.step_micros
        for end, total, weight in zip(steps.ends, steps.sums, steps.weights, strict=True):
            sums[end] = sums.get(end, 0.0) + total
            weights[end] = weights.get(end, 0) + weight
    ends = sorted(sums)
    shift = ends[0] - step if first.log.is_absolute and ends else 0
    begun = [part.began_micros for part in parts if part.began_micros is not None]
    unit = first.per_second or 1.0
    return ClientSeries(
        source=first.path,
        measure=measure,
        operation=direction,
        step_micros=step,
        ends=tuple(end - shift for end in ends),
        values=tuple(sums[end] / weights[end] / unit if measure.is_latency else sums[end] for end in ends),
        began_micros=min(begun) + shift if begun else None,
        placement=first.placement,
        logs=len(parts),
        left_out=left_out,
    )
