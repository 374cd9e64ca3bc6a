"""What reads came to, as RocksDB counts it."""

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class ReadCounts:
    """Sums over reads. Blocks are those of data, indexes and filters that were looked into, cached or read from a file.

    `gets_found` had a value; `cached_blocks` were in the block cache. Of `filter_checks` of tables, `filters_useful`
    spared the look into the table. `tombstones` are those that iterators stepped over, None where nothing counts them.
    """

    gets: int = 0
    gets_found: int = 0
    get_blocks: int = 0
    seeks: int = 0
    nexts: int = 0
    seek_blocks: int = 0
    cached_blocks: int = 0
    filter_checks: int = 0
    filters_useful: int = 0
    tombstones: int | None = 0

    def __add__(self, other: "ReadCounts") -> "ReadCounts":
        pairs = [(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)]
        sums: list[Any] = [None if one is None or more is None else one + more for one, more in pairs]
        return ReadCounts(*sums)

    def times(self, factor: float) -> "ReadCounts":
        """All of them multiplied, and rounded."""
        values = [getattr(self, one.name) for one in fields(self)]
        multiplied: list[Any] = [None if value is None else round(value * factor) for value in values]
        return ReadCounts(*multiplied)

    @property
    def blocks_per_get(self) -> float | None:
        """Blocks that a Get looks into; None without any."""
        return _share(self.get_blocks, self.gets)

    @property
    def blocks_per_seek(self) -> float | None:
        """Blocks that an iterator looks into, with its steps after the seek; None without any."""
        return _share(self.seek_blocks, self.seeks)

    @property
    def cache_hit_ratio(self) -> float | None:
        """The share of the blocks that was in the block cache."""
        return _share(self.cached_blocks, self.get_blocks + self.seek_blocks)

    @property
    def filters_useful_share(self) -> float | None:
        """The share of the checks of filters that spared the look into a table."""
        return _share(self.filters_useful, self.filter_checks)

    @property
    def tombstones_per_next(self) -> float | None:
        """Tombstones stepped over for each step of an iterator; None where none was made, or none counted."""
        return None if self.tombstones is None else _share(self.tombstones, self.nexts)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
