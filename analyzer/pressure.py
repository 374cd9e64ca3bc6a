"""How near a column family came to stalling writes: its files in level 0, its full memtables, compaction that waits.

Level-0 files and memtables are as the events of finished jobs show them (`lsm_state`, `immutable_memtables`), so what
happened between two jobs is not seen; pending bytes are those of statistics dumps. Triggers: db/column_family.cc.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lsmlens.analyzer.events import Event, EventKind
from lsmlens.analyzer.options.option_strings import parse_size

if TYPE_CHECKING:
    from lsmlens.analyzer.options.options_in_force import OptionInForce
    from lsmlens.analyzer.statistics_series import StatisticsSeries


class FamilyPressure(NamedTuple):
    """One family at its worst, beside what compaction, slowed and stopped writes start at; None where not known.

    `compaction_trigger`, `slowdown_trigger` and `stop_trigger` count files of level 0, `memtables` those that may be
    in memory at once, the one being written counted in.
    """

    family: str
    level0_files: int | None
    compaction_trigger: int | None
    slowdown_trigger: int | None
    stop_trigger: int | None
    immutable_memtables: int | None
    memtables: int | None
    pending_compaction_bytes: int | None

    @property
    def is_notable(self) -> bool:
        """Whether writes were, or were nearly, slowed down: half way from compaction to slowdown, or full memtables."""
        files, start, slow = self.level0_files, self.compaction_trigger, self.slowdown_trigger
        if files is not None and start is not None and slow is not None and 2 * files >= start + slow:
            return True
        full = self.immutable_memtables is not None and self.memtables is not None
        return full and (self.immutable_memtables or 0) >= max(1, (self.memtables or 0) - 2)


def measure_pressure(
    events: Iterable[Event], options: "Sequence[OptionInForce]", series: "StatisticsSeries | None"
) -> tuple[FamilyPressure, ...]:
    """Every family with a finished flush or compaction, by name."""
    files: dict[str, int] = {}
    waiting: dict[str, int] = {}
    for event in events:
        name = event.get("column_family")
        if name is None or event["event"] not in _FINISHED:
            continue
        state = event.get("lsm_state")
        if state and state[0] > files.get(name, -1):
            files[name] = state[0]
        immutable = event.get("immutable_memtables")
        if immutable is not None and immutable > waiting.get(name, -1):
            waiting[name] = immutable
    pending = _most_pending(series)
    limits = {(one.family, one.name): parse_size(one.value or "") for one in options if one.name in _LIMITS}
    return tuple(
        FamilyPressure(
            name,
            files.get(name),
            limits.get((name, _COMPACTION_TRIGGER)),
            limits.get((name, _SLOWDOWN_TRIGGER)),
            limits.get((name, _STOP_TRIGGER)),
            waiting.get(name),
            limits.get((name, _MEMTABLES)),
            pending.get(name),
        )
        for name in sorted(files.keys() | waiting.keys())
    )


def _most_pending(series: "StatisticsSeries | None") -> Mapping[str, int]:
    most: dict[str, int] = {}
    for point in series.points if series is not None else ():
        for name, size in point.pending_compaction_bytes.items():
            most[name] = max(size, most.get(name, 0))
    return most


_FINISHED = frozenset({EventKind.FLUSH_FINISHED.value, EventKind.COMPACTION_FINISHED.value})
_COMPACTION_TRIGGER = "level0_file_num_compaction_trigger"
_SLOWDOWN_TRIGGER = "level0_slowdown_writes_trigger"
_STOP_TRIGGER = "level0_stop_writes_trigger"
_MEMTABLES = "max_write_buffer_number"
_LIMITS = (_COMPACTION_TRIGGER, _SLOWDOWN_TRIGGER, _STOP_TRIGGER, _MEMTABLES)
