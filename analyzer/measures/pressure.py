"""How near a column family came to stalling writes: its files in level 0, its full memtables, compaction that waits.

Level-0 files and memtables are those of the pressure series; pending bytes are those of statistics dumps, their mean
that of the dumps. Triggers: db/column_family.cc.
"""

from typing import TYPE_CHECKING, NamedTuple

from lsmlens.analyzer.options.option_strings import parse_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lsmlens.analyzer.measures.pressure_series import PressureSeries
    from lsmlens.analyzer.measures.statistics_series import StatisticsSeries
    from lsmlens.analyzer.options.options_in_force import OptionInForce


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
