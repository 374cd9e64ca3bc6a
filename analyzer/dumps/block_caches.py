"""The lines of a statistics dump on the block cache a column family reads through; releases since 6.22 write them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lsmlens.analyzer.dumps.printed_numbers import parse_bytes, parse_count, parse_real

# Block cache LRUCache@0x564fdd5803c0#10360 capacity: 32.00 MB seed: 1177849269 usage: 0.08 KB table_size: 1024 …
# Block cache BinnedLRUCache@0x55c02fc2e850#15688 capacity: 1.35 GB usage: 1.39 KB table_size: 0 …
# Block cache LRUCache@0x5600bb634770#32819 capacity: 8.00 MB collections: 1 last_copies: 0 …
_CACHE = re.compile(r"Block cache (\S+) capacity: (\S+) ([KMGT]?B)\b(?:.*? usage: (\S+) ([KMGT]?B)\b)?")
# Block cache entry stats(count,size,portion): DataBlock(10,39.41 KB,0.120282%) Misc(1,0.00 KB,0%)
_ENTRIES = re.compile(r"Block cache entry stats\(count,size,portion\):")
_ENTRY = re.compile(r" (\w+)\((\d+),(\S+) ([KMGT]?B),(\S+)%\)", re.ASCII)


@dataclass(frozen=True, slots=True)
class CacheEntries:
    """The cache's entries in one role, such as DataBlock or IndexBlock, and their share of its capacity."""

    count: int | None
    size_bytes: int | None
    percent: float | None


@dataclass(frozen=True, slots=True)
class BlockCache:
    """One block cache: `name` is the same in every family that shares it, and other after the next open.

    Its sizes are to 0.01 of the unit printed. RocksDB may write the entries without the line that names the cache.
    """

    name: str | None = None
    capacity_bytes: int | None = None
    usage_bytes: int | None = None
    entries: Mapping[str, CacheEntries] = field(default_factory=dict)


def cache_on(line: str, so_far: BlockCache | None) -> BlockCache | None:
    """The cache with what the line adds to what was known of it; None for any other line."""
    if _ENTRIES.match(line):
        return replace(so_far or BlockCache(), entries=dict(map(_entries, _ENTRY.finditer(line))))
    if match := _CACHE.match(line):
        return replace(
            so_far or BlockCache(),
            name=match[1],
            capacity_bytes=parse_bytes(match[2], match[3]),
            usage_bytes=parse_bytes(match[4], match[5]) if match[4] else None,
        )
    return None


def _entries(match: re.Match[str]) -> tuple[str, CacheEntries]:
    return match[1], CacheEntries(parse_count(match[2]), parse_bytes(match[3], match[4]), parse_real(match[5]))
