"""A log cut into windows of equal length, with what was written in each: the ground for saying how noisy a run is.

A job counts in the window in which it finished, whole. All daemons of a bundle are added up. A saved analysis keeps
these sums (those of single column families left out), so that it can stand for its bundle in a comparison.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

from lsmlens.analyzer.measures.amplification import UNATTRIBUTED
from lsmlens.analyzer.metrics import sums_of
from lsmlens.analyzer.runs.run import Run
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.analyzer.units import MICROS

if TYPE_CHECKING:
    import polars as pl

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
    import polars as pl

    start, end = min(first for first, _ in covered), max(last for _, last in covered)
    if end <= start:
        return None
    seconds = _window_seconds((end - start) / MICROS)
    length, count = round(seconds * MICROS), ceil((end - start) / (seconds * MICROS))
    # what finished outside counts in the nearest window
    window = ((pl.col("finished_at").dt.epoch("us") - start) // length).clip(0, count - 1).alias("window")
    jobs = pl.concat([chosen.of(run.jobs) for run, chosen in wanted]).with_columns(window)
    columns = _columns(sums_of(jobs, ["window"], COLUMNS), COLUMNS, count)
    families = sums_of(jobs, [pl.col("column_family").fill_null(UNATTRIBUTED), "window"], OF_FAMILIES)
    for (family,), sums in families.group_by("column_family", maintain_order=True):
        own = _columns(sums, OF_FAMILIES, count)
        columns |= {f"{name}/{family}": values for name, values in own.items() if any(values)}
    longest = jobs.select((pl.col("finished_at") - pl.col("started_at")).max().dt.total_microseconds()).item()
    return WindowSums(start, seconds, (longest or 0) / MICROS, columns)


def _columns(sums: "pl.DataFrame", names: Sequence[str], count: int) -> dict[str, list[float]]:
    """A value for every window, from the rows of those in which jobs finished."""
    columns = {name: [0.0] * count for name in names}
    for row in sums.to_dicts():
        for name in names:
            columns[name][row["window"]] = float(row[name])
    return columns


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
