"""A log cut into windows of equal length, with what was written in each: the ground for saying how noisy a run is.

A job counts in the window in which it finished, whole. All daemons of a bundle are added up. A saved analysis keeps
these sums (those of single column families left out), so that it can stand for its bundle in a comparison.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

import polars as pl
from lsmlens.analyzer.amplification import UNATTRIBUTED, write_sums
from lsmlens.analyzer.compaction_statistics import compaction_sums
from lsmlens.analyzer.jobs import COMPACTION, FLUSH, MOVE
from lsmlens.analyzer.run import Run
from lsmlens.analyzer.selection import Selection
from lsmlens.analyzer.units import MICROS

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
    length, count = round(seconds * MICROS), ceil((end - start) / (seconds * MICROS))
    window = ((pl.col("finished_at").to_physical() - start) // length).clip(0, count - 1).alias("window")
    family = pl.col("column_family").fill_null(UNATTRIBUTED)
    jobs = pl.concat([chosen.of(run.jobs) for run, chosen in wanted]).filter(pl.col("kind") != MOVE)
    columns = {name: [0.0] * count for name in COLUMNS}
    known = _expressions()
    for row in jobs.group_by(window).agg(**known).iter_rows(named=True):
        for name in COLUMNS:
            columns[name][row["window"]] = float(row[name])
    kinds = {name: FLUSH if name.startswith("flush") else COMPACTION for name in OF_FAMILIES}
    of_families = jobs.group_by(window, family, "kind", maintain_order=True)
    for row in of_families.agg(**{name: known[name] for name in OF_FAMILIES}).iter_rows(named=True):
        for name, kind in kinds.items():
            if kind == row["kind"]:
                own = columns.setdefault(f"{name}/{row['column_family']}", [0.0] * count)
                own[row["window"]] += float(row[name])
    longest = (jobs["finished_at"] - jobs["started_at"]).dt.total_microseconds().max()
    return WindowSums(start, seconds, max(0, int(longest or 0)) / MICROS, columns)  # type: ignore[arg-type]


def _expressions() -> dict[str, pl.Expr]:
    rates = compaction_sums()
    shared = ("output_bytes", "input_records", "output_records", "throughputs", "input_rates", "output_rates", "ratios")
    return {
        **{name: one for name, one in write_sums().items() if name in COLUMNS},
        **{name: rates[name] for name in shared},
        "timed_compactions": rates["events"] - rates["without_duration"],
        "weighed_compactions": rates["events"] - rates["without_input"],
    }


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
