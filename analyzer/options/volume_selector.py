"""BlueFS's volume selector: how much of the database's device may hold levels that RocksDB gives to the slow one.

RocksDB is told two paths, `db` and `db.slow`, of 0.95 of the devices' sizes, and gives a level of a family to the
first only if it fits there behind all levels before it, by the levels' target sizes and not by what is in them.
Under the policy `use_some_extra` BlueFS then still puts a part of what goes to `db.slow` on the database's device:

    extra = 0.95 * device - reserve         reserve = levels below L + factor * L      factor 2

where L is the first level for which all levels up to L + 1 are larger than 0.95 of the device. Before 19.2.4 the
factor was applied to the level behind L. What was reserved was the largest such sum that fits the device,

    reserve = levels up to L + factor * (L + 1)

and where none fits there was no extra. So that upgrade, as any change of base or multiplier, moves the point at which
an OSD spills over.
"""

from collections.abc import Iterator
from typing import NamedTuple

# BlueStore gives the selector and RocksDB 95/100 of a device's size. An OSD of 16.2.15 with a block.db of 2147483648:
#   bluestore(…) _prepare_db_environment set db_paths to db,2040109465 db.slow,24481313587
USABLE_PERCENT = 95
# What BlueStore takes for level 0 before the fix, whatever the options say; the options' defaults come to as much.
OLD_LEVEL0_BYTES = 1 << 30
# Ceph's release notes: "Fixed the usage of bluestore_volume_selection_reserved_factor".
FACTOR_FIXED_IN = (19, 2, 4)
DEFAULT_FACTOR = 2.0
DEFAULT_POLICY = "use_some_extra"
# More levels than RocksDB has (num_levels is 7): what ends the sum where a multiplier does not.
LEVELS_LIMIT = 64


class LevelShape(NamedTuple):
    """The options that give the levels their sizes: `bluestore_rocksdb_options`, as the default family has them."""

    level0_bytes: int
    base_bytes: int
    multiplier: int

    def targets(self) -> Iterator[tuple[int, int]]:
        """Level numbers from 1 and their target sizes in bytes; ends where levels stop growing."""
        size = self.base_bytes
        for level in range(1, LEVELS_LIMIT):
            yield level, size
            size *= self.multiplier

    def steps(self, most: int = 4) -> tuple[int, ...]:
        """The sizes of block.db, in bytes, from which on one level more of a family is on it, to level `most`.

        With a base of 256 MiB and a multiplier of 10 they are the 3, 30 and 300 GB that are spoken of. RocksDB takes
        level 0 for as large as level 1, and is given 95 % of the device.
        """
        total, found = self.base_bytes, []
        for level, size in self.targets():
            total += size
            if level > 1:
                found.append(-(-total * 100 // USABLE_PERCENT))
            if level == most:
                break
        return tuple(found)


class VolumeSelection(NamedTuple):
    """What fits a database's device. Sizes in bytes; `extra_bytes` is what levels above `last_level` may use of it.

    `last_level` is the highest level RocksDB gives to the device, 0 if only level 0 is; `fitting_bytes` is the sum of
    the targets up to it and `next_bytes` that of the level behind it.
    """

    usable_bytes: int
    last_level: int
    fitting_bytes: int
    next_bytes: int
    reserve_bytes: int | None
    extra_bytes: int


def select(
    device_bytes: int,
    shape: LevelShape,
    *,
    factor: float = DEFAULT_FACTOR,
    reserved_bytes: int = 0,
    policy: str = DEFAULT_POLICY,
    has_fixed_factor: bool = True,
) -> VolumeSelection:
    """The selection for a device, one family filling it alone; `reserve_bytes` is None where the policy has no extra.

    `factor`, `reserved_bytes` and `policy` are bluestore_volume_selection_reserved_factor, …_reserved and …_policy.
    """
    usable = device_bytes * USABLE_PERCENT // 100
    last, fitting, following = _fitting(usable, shape)
    if policy != DEFAULT_POLICY:
        return VolumeSelection(usable, last, fitting, following, None, 0)
    if reserved_bytes:
        reserve: int | None = reserved_bytes
    else:
        reserve = _reserve(usable, shape, factor) if has_fixed_factor else _old_reserve(usable, shape, factor)
    extra = 0 if reserve is None else max(0, usable - reserve)
    return VolumeSelection(usable, last, fitting, following, reserve, extra)


def _fitting(usable: int, shape: LevelShape) -> tuple[int, int, int]:
    """Last level that fits, the sum up to it, the next level's size. RocksDB takes level 0 for as large as level 1."""
    last, total = 0, shape.base_bytes
    for level, size in shape.targets():
        if total + size > usable:
            return last, total, size
        last, total = level, total + size
    return last, total, 0


def _reserve(usable: int, shape: LevelShape, factor: float) -> int:
    below, current = shape.level0_bytes, shape.base_bytes
    for _, size in shape.targets():
        current = size
        if usable <= below + size + size * shape.multiplier:
            break
        below += size
    return int(below + current * factor)


def _old_reserve(usable: int, shape: LevelShape, factor: float) -> int | None:
    below, reserve = shape.level0_bytes, None
    for _, size in shape.targets():
        following = int(below + size + size * shape.multiplier * factor)
        if usable <= following:
            break
        below, reserve = below + size, following
    return reserve
