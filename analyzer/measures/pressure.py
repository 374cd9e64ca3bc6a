"""How near a column family came to stalling writes: its files in level 0, its full memtables, compaction that waits.

Level-0 files and memtables are those of the pressure series; pending bytes are those of statistics dumps, their mean
that of the dumps. Triggers: db/column_family.cc.

What presses on a column family over time: its files in level 0 and its full memtables that wait for a flush.

Level 0 is as finished jobs leave it (`lsm_state`), memtables as flushes leave them (`immutable_memtables`) and as lines
tell of a switch to a new one; between two such moments both are as the first left them, until the next open.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.runs.run import Run

if TYPE_CHECKING:
    from lsmlens.analyzer.measures.statistics_series import StatisticsSeries
    from lsmlens.analyzer.options.options_in_force import OptionInForce

STEPS = 120
MOMENTS_AT_ONCE = 100_000  # families are taken together up to so many, to take little memory


@dataclass(slots=True)
class Course:
    """One number over time: its peak, its mean by time, and peak and mean in each step; None where it is not known.

    The mean is over the time the number is known; without a length of time, it is of none.
    """

    steps: int
    peak: int | None = None
    known_micros: int = 0
    weighted: float = 0.0
    most: list[int | None] = field(default_factory=list)
    step_weighted: list[float] = field(default_factory=list)
    step_micros: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.most = [None] * self.steps
        self.step_weighted = [0.0] * self.steps
        self.step_micros = [0] * self.steps

    @property
    def mean(self) -> float | None:
        """Mean by time."""
        return self.weighted / self.known_micros if self.known_micros else None

    @property
    def means(self) -> list[float | None]:
        """Mean by time in each step."""
        return [
            weighted / micros if micros else None
            for weighted, micros in zip(self.step_weighted, self.step_micros, strict=True)
        ]

    def take(self, step: int, most: int, weighted: float, micros: int) -> None:
        """Within a step the number was at most so much, and so much in all times the microseconds it is known for."""
        self.peak = max(most, self.peak or 0)
        self.most[step] = most
        self.step_weighted[step], self.step_micros[step] = weighted, micros
        self.known_micros += micros
        self.weighted += weighted


@dataclass(frozen=True, slots=True)
class PressureSeries:
    """Courses by column family, over equal steps from `start_micros` (UTC) on."""

    start_micros: int
    step_micros: int
    level0_files: dict[str, Course]
    immutable_memtables: dict[str, Course]


@dataclass(frozen=True, slots=True)
class _Steps:
    """Equal steps of time, in microseconds, and the moments at which nothing is known any more."""

    start: int
    length: int
    opens: Sequence[int]

    def courses(self, moments: pl.LazyFrame) -> dict[str, Course]:
        """A course for each family, in the order they begin, out of the moments at which its number became another."""
        begun = moments.group_by("column_family").agg(pl.col("micros").min(), pl.len()).sort("micros", "column_family")
        families = begun.with_columns(part=pl.col("len").cum_sum() // MOMENTS_AT_ONCE).collect()
        courses = {name: Course(STEPS) for name in families["column_family"]}
        for part in families.partition_by("part", maintain_order=True):
            names = part["column_family"]
            some = moments.filter(pl.col("column_family").is_in(names.implode()))
            self._take(courses, some.with_columns(pl.col("column_family").cast(pl.Enum(names))))
        return courses

    def _take(self, courses: dict[str, Course], moments: pl.LazyFrame) -> None:
        known, end = moments.sort("micros", "value").collect(), self.start + self.length * STEPS
        opens = pl.LazyFrame({"open": self.opens}, schema={"open": pl.Int64}).set_sorted("open")
        step = ((pl.col("micros") - self.start) // self.length).clip(0, STEPS - 1).alias("step")
        seen = known.lazy().group_by("column_family", step).agg(most=pl.col("value").max())
        # what a moment leaves holds until the next one, unless the database was opened between them
        held = (
            known.lazy()
            .with_columns(until=pl.col("micros").shift(-1).over("column_family"))
            .sort("micros")
            .join_asof(opens, left_on="micros", right_on="open", strategy="forward", allow_exact_matches=False)
            .filter(pl.col("open").is_null() | (pl.col("open") > pl.col("until")))
            .select(
                "column_family",
                "value",
                since=pl.col("micros").clip(lower_bound=self.start),
                until=pl.col("until").clip(upper_bound=end),
            )
            .filter(pl.col("since") < pl.col("until"))
            .with_columns(
                step=pl.int_ranges(
                    (pl.col("since") - self.start) // self.length, (pl.col("until") - 1 - self.start) // self.length + 1
                )
            )
            .explode("step")
            .with_columns(begin=self.start + pl.col("step") * self.length)
            .with_columns(
                micros=pl.min_horizontal("until", pl.col("begin") + self.length) - pl.max_horizontal("since", "begin")
            )
            .group_by("column_family", "step")
            .agg(
                held=pl.col("value").max(),
                weighted=(pl.col("value").cast(pl.Float64) * pl.col("micros")).sum(),
                micros=pl.col("micros").sum(),
            )
        )
        both = seen.join(held, on=("column_family", "step"), how="full", coalesce=True)
        for row in both.sort("step").collect().iter_rows(named=True):
            most = max(row["most"] or 0, row["held"] or 0)
            courses[row["column_family"]].take(row["step"], most, row["weighted"] or 0.0, row["micros"] or 0)


class FamilyPressure(NamedTuple):
    """One family at its worst and in the mean by time, beside what compaction, slowed and stopped writes start at.

    What is not known is None. `compaction_trigger`, `slowdown_trigger` and `stop_trigger` count files of level 0,
    `memtables` those that may be in memory at once, the one being written counted in.
    """

    family: str
    level0_files: int | None
    compaction_trigger: int | None
    slowdown_trigger: int | None
    stop_trigger: int | None
    immutable_memtables: int | None
    memtables: int | None
    pending_compaction_bytes: int | None
    level0_files_mean: float | None = None
    immutable_memtables_mean: float | None = None
    pending_compaction_bytes_mean: float | None = None

    @property
    def is_notable(self) -> bool:
        """Whether writes were, or were nearly, slowed down: half way from compaction to slowdown, or by full memtables.

        RocksDB slows writes down at one full memtable less than there may be in memory, if there may be more than 3.
        """
        files, start, slow = self.level0_files, self.compaction_trigger, self.slowdown_trigger
        if files is not None and start is not None and slow is not None and 2 * files >= start + slow:
            return True
        full = self.immutable_memtables is not None and self.memtables is not None
        return full and (self.immutable_memtables or 0) >= max(2, (self.memtables or 0) - 1)


def measure_pressure(
    courses: "PressureSeries | None", options: "Sequence[OptionInForce]", series: "StatisticsSeries | None"
) -> tuple[FamilyPressure, ...]:
    """Every family with a finished flush or compaction, or a memtable that was switched, by name."""
    if courses is None:
        return ()
    files, waiting = courses.level0_files, courses.immutable_memtables
    pending = _pending(series)
    limits = {(one.family, one.name): parse_size(one.value or "") for one in options if one.name in _LIMITS}
    return tuple(
        FamilyPressure(
            name,
            files[name].peak if name in files else None,
            limits.get((name, _COMPACTION_TRIGGER)),
            limits.get((name, _SLOWDOWN_TRIGGER)),
            limits.get((name, _STOP_TRIGGER)),
            waiting[name].peak if name in waiting else None,
            limits.get((name, _MEMTABLES)),
            max(pending[name]) if name in pending else None,
            files[name].mean if name in files else None,
            waiting[name].mean if name in waiting else None,
            sum(pending[name]) / len(pending[name]) if name in pending else None,
        )
        for name in sorted(files.keys() | waiting.keys())
    )


def _pending(series: "StatisticsSeries | None") -> dict[str, list[int]]:
    """What each dump says waits for compaction, by family."""
    said: dict[str, list[int]] = {}
    for point in series.points if series is not None else ():
        for name, size in point.pending_compaction_bytes.items():
            said.setdefault(name, []).append(size)
    return said


_COMPACTION_TRIGGER = "level0_file_num_compaction_trigger"
_SLOWDOWN_TRIGGER = "level0_slowdown_writes_trigger"
_STOP_TRIGGER = "level0_stop_writes_trigger"
_MEMTABLES = "max_write_buffer_number"
_LIMITS = (_COMPACTION_TRIGGER, _SLOWDOWN_TRIGGER, _STOP_TRIGGER, _MEMTABLES)


def measure_pressure_series(run: Run) -> PressureSeries | None:
    """The series over all of a run; None where nothing tells when it was."""
    first, last = run.stamps.first, run.stamps.last
    if first is None or last is None:
        return None
    offset = 1000 * (run.utc_offset_seconds or 0)
    start, end = (first - offset) * 1000, (last - offset + 1) * 1000
    length = max(1, -(-(end - start) // STEPS))
    opens = [run.utc_micros(one.opened_at_millis) for one in run.sessions if one.opened_at_millis is not None]
    steps = _Steps(start, length, sorted(opens))
    finished = (
        run.scan_jobs()
        .filter(pl.col("column_family").is_not_null())
        .select(
            "column_family",
            micros=pl.col("finished_at").to_physical(),
            files=pl.col("level_files").list.get(0, null_on_oob=True),
            waiting="immutable_memtables",
        )
    )
    switched = run.memtable_switches.lazy().select(
        "column_family", micros=(pl.col("local_millis") - offset) * 1000, value="immutable_memtables"
    )
    level0 = finished.select("column_family", "micros", value="files").drop_nulls()
    waiting = finished.select("column_family", "micros", value="waiting").drop_nulls()
    return PressureSeries(start, length, steps.courses(level0), steps.courses(pl.concat([waiting, switched])))
