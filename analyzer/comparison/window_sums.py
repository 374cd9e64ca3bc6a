"""A log cut into windows of equal length, with what was written in each: the ground for saying how noisy a run is.

A job counts in the window in which it finished, whole. All daemons of a bundle are added up. A saved analysis keeps
these sums (those of single column families left out), so that it can stand for its bundle in a comparison.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from lsmlens.analyzer.amplification import UNATTRIBUTED, outside_output_size
from lsmlens.analyzer.events import Event, EventKind
from lsmlens.analyzer.run import Run
from lsmlens.analyzer.selection import Selection
from lsmlens.analyzer.units import MIB, MICROS

MOST_WINDOWS = 200
_NICE_SECONDS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400)

COLUMNS = (
    "flushes",
    "flush_bytes",
    "flush_input_records",
    "flush_output_records",
    "compactions",
    "compaction_seconds",
    "compaction_input_bytes",
    "compaction_output_bytes",
    "output_bytes",
    "input_records",
    "output_records",
    "timed_compactions",
    "throughputs",
    "input_rates",
    "output_rates",
    "weighed_compactions",
    "ratios",
)
OF_FAMILIES = ("flush_bytes", "flush_input_records", "compaction_output_bytes")


@dataclass(frozen=True, slots=True)
class WindowSums:
    """Sums by window. `columns` are by name, those of a family named `column/family`; all are of the same length.

    `output_bytes` is total_output_size; `throughputs`, `input_rates`, `output_rates` (per second, MiB and records)
    and `ratios` add up the compactions' own, over `timed_compactions` and `weighed_compactions` of them.
    """

    start_micros: int
    seconds: float
    longest_job_seconds: float
    columns: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many windows there are."""
        return len(next(iter(self.columns.values()), ()))


def window_sums(runs: Iterable[Run], selection: Selection | None = None) -> WindowSums | None:
    """The sums of all selected jobs of these runs; None for logs without a duration."""
    wanted = [(run, (selection or Selection()).of(run)) for run in runs]
    covered = [span for run, chosen in wanted if (span := _span(run, chosen.since_micros, chosen.until_micros))]
    if not covered:
        return None
    start, end = min(first for first, _ in covered), max(last for _, last in covered)
    if end <= start:
        return None
    seconds = _window_seconds((end - start) / MICROS)
    sums = _Sums(start, round(seconds * MICROS), ceil((end - start) / (seconds * MICROS)))
    for run, chosen in wanted:
        for event in run.events:
            if event["event"] in (_COMPACTION, _FLUSH) and chosen.takes(event):
                sums.add(event)
    return WindowSums(start, seconds, sums.longest_job_seconds, sums.columns)


def _span(run: Run, since: int | None, until: int | None) -> tuple[int, int] | None:
    """What a run covers of the wanted time, in microseconds since 1970 UTC."""
    if run.stamps.first is None or run.stamps.last is None:
        return None
    offset = 1000 * (run.utc_offset_seconds or 0)
    first, last = ((stamp - offset) * 1000 for stamp in (run.stamps.first, run.stamps.last))
    return max(first, since or first), min(last, until or last)


def _window_seconds(duration: float) -> float:
    """The shortest usual length that makes at most `MOST_WINDOWS` windows."""
    least = duration / MOST_WINDOWS
    return next((float(nice) for nice in _NICE_SECONDS if nice >= least), ceil(least / 86400) * 86400.0)


class _Sums:
    """Adds up jobs in the windows they finished in; what finished outside counts in the nearest."""

    def __init__(self, start: int, length: int, count: int) -> None:
        self.columns: dict[str, list[float]] = {name: [0.0] * count for name in COLUMNS}
        self.longest_job_seconds = 0.0
        self._start, self._length, self._count = start, length, count

    def add(self, event: Event) -> None:
        """Take in a finished flush or compaction."""
        window = min(max((event["time_micros"] - self._start) // self._length, 0), self._count - 1)
        family = event.get("column_family")
        family = UNATTRIBUTED if family is None else family
        took = _flush(event) if event["event"] == _FLUSH else _compaction(event)
        for name, amount in took.items():
            self.columns[name][window] += amount
            if name in OF_FAMILIES:
                own = self.columns.get(f"{name}/{family}")
                if own is None:
                    own = self.columns[f"{name}/{family}"] = [0.0] * self._count
                own[window] += amount
        started = event.get("started_micros")
        if isinstance(started, int):
            self.longest_job_seconds = max(self.longest_job_seconds, (event["time_micros"] - started) / MICROS)


def _flush(event: Event) -> dict[str, float]:
    return {
        "flushes": 1,
        "flush_bytes": event["created_bytes"] + event["created_blob_bytes"],
        "flush_input_records": event.get("num_entries", 0),
        "flush_output_records": event["created_records"],
    }


def _compaction(event: Event) -> dict[str, float]:
    seconds = event["compaction_time_micros"] / MICROS
    size, records_in, records_out = event["total_output_size"], event["num_input_records"], event["num_output_records"]
    took = {
        "compactions": 1,
        "compaction_seconds": seconds,
        "compaction_input_bytes": event.get("input_data_size", 0),
        "compaction_output_bytes": size + sum(outside_output_size(event)),
        "output_bytes": size,
        "input_records": records_in,
        "output_records": records_out,
    }
    if seconds:
        took |= {
            "timed_compactions": 1,
            "throughputs": size / (MIB * seconds),
            "input_rates": records_in / seconds,
            "output_rates": records_out / seconds,
        }
    if records_in:
        took |= {"weighed_compactions": 1, "ratios": records_out / records_in}
    return took


_COMPACTION = EventKind.COMPACTION_FINISHED.value
_FLUSH = EventKind.FLUSH_FINISHED.value
