"""Bounds: what no candidate may exceed. Options that cannot stand, memory, and the database's own device."""

from collections.abc import Sequence
from dataclasses import dataclass

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.numbers import percent, size
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.options.volume_selector import FACTOR_FIXED_IN, OLD_LEVEL0_BYTES, LevelShape
from lsmlens.analyzer.rules.level_targets import selection_of
from lsmlens.analyzer.runs.osds import ceph_release
from lsmlens.tuners.options.option_set import OptionSet

# Ours: memtables come out of osd_memory_target, which caches need too; the present ones are allowed however large.
MEMTABLE_SHARE = 0.25
# Ours: a WAL may pass its limit by a batch or two before the flushes are done, and BlueFS logs there, too.
WAL_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits in bytes. `device_bytes` is that of a database's own device in Ceph, None without one.

    `data_bytes` is what the database holds under the present options, of which levels that the device does not take
    would be on the slow one; `wal_device_bytes` is a device of the WAL's own; `memory_source` says where the limit on
    memtables comes from.
    """

    run: RunAnalysis
    families: tuple[str, ...]
    memory_bytes: int
    memory_source: str
    device_bytes: int | None
    data_bytes: int
    wal_device_bytes: int | None = None

    def problem(self, options: OptionSet) -> str | None:
        """Why a candidate is out; None for one that is in."""
        try:
            options.validate(self.families)
        except InputError as error:
            return str(error)
        memory = memtable_bytes(options, self.families)
        if memory > self.memory_bytes:
            return f"memtables of up to {size(memory)}, allowed are {size(self.memory_bytes)} ({self.memory_source})"
        wal = _size(options, "max_total_wal_size")
        if self.wal_device_bytes is not None and wal > WAL_SHARE * self.wal_device_bytes:
            return f"max_total_wal_size of {size(wal)}: the WAL's device has {size(self.wal_device_bytes)}"
        return self._spill(options)

    def _spill(self, options: OptionSet) -> str | None:
        if self.device_bytes is None:
            return None
        shape = self._shape(options)
        if shape is None:
            return None
        selection = selection_of(self.run, self.device_bytes, shape)
        # where not even level 0 fits, which RocksDB takes for as large as level 1, the device gets nothing but extra
        fitting = selection.fitting_bytes if selection.fitting_bytes <= selection.usable_bytes else 0
        room = fitting + selection.extra_bytes
        if self.data_bytes <= room:
            return None
        return (
            f"levels up to {selection.last_level} and what BlueFS adds come to {size(room)} of the database's"
            f" device, its data to {size(self.data_bytes)}: the rest would go to the slow device"
        )

    def _shape(self, options: OptionSet) -> LevelShape | None:
        base = _size(options, "max_bytes_for_level_base")
        multiplier = _size(options, "max_bytes_for_level_multiplier")
        release = ceph_release(self.run.run)
        level0 = _size(options, "write_buffer_size") * _size(options, "max_write_buffer_number")
        if release is not None and release < FACTOR_FIXED_IN:
            level0 = OLD_LEVEL0_BYTES
        return LevelShape(level0, base, multiplier) if base and multiplier else None


def bounds_of(run: RunAnalysis, options: OptionSet, families: Sequence[str], memory_bytes: int | None = None) -> Bounds:
    """The bounds of one run's database; `memory_bytes` is a limit for memtables that someone gave.

    Without one it is a quarter of osd_memory_target where that is known, but never less than the present options take.
    """
    present = memtable_bytes(options, families)
    target = parse_size(value_of(run.ceph_options, None, "osd_memory_target") or "")
    if memory_bytes is not None:
        limit, source = memory_bytes, "--memory"
    elif target is not None and target * MEMTABLE_SHARE > present:
        limit, source = int(target * MEMTABLE_SHARE), f"{percent(MEMTABLE_SHARE, 0)} of osd_memory_target"
    else:
        limit, source = present, "as much as now"
    counters = run.counters
    has_device = counters is not None and bool(counters.slow_total_bytes) and counters.db_total_bytes is not None
    device = int(counters.db_total_bytes or 0) if has_device and counters is not None else None
    data = 0 if counters is None else int(counters.db_used_bytes or 0) + int(counters.slow_used_bytes or 0)
    wal = None if counters is None or not counters.wal_total_bytes else int(counters.wal_total_bytes)
    return Bounds(run, tuple(families), limit, source, device, data, wal)


def memtable_bytes(options: OptionSet, families: Sequence[str]) -> int:
    """What memtables may take at most: all buffers of all families, or the WAL limit that flushes them before."""
    buffers = sum(
        _size(options, "write_buffer_size", family) * _size(options, "max_write_buffer_number", family)
        for family in families
    )
    caps = (_size(options, "max_total_wal_size"), _size(options, "db_write_buffer_size"))
    return min((buffers, *(cap for cap in caps if cap)))


def _size(options: OptionSet, option: str, family: str | None = None) -> int:
    value = options.value_of(option, family)
    return 0 if value is None else parse_size(value.partition(".")[0]) or 0
