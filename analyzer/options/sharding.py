"""Sharding: which column families BlueStore spreads its keys over, and what options each has for itself.

    m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru} L=min_write_buffer_number_to_merge=32 P

A column is named after the prefix its keys had. `m(3)` is three families m-0, m-1, m-2; a key goes to one of them by
the hash of its bytes, of those from 0 up to but without 12 in `p(3,0-12)`; to the key's end in `m(7,10-)`. Options
behind `=` are RocksDB's, in RocksDB's own form, over those all families have; `block_cache={…}` is Ceph's.

`bluestore_rocksdb_cfs` says how an OSD is to be made. One that was made has the text in its database, and
`ceph-bluestore-tool show-sharding` prints it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lsmlens.analyzer.options.option_strings import OptionString, parse_rocksdb_string, rocksdb_string

DEFAULT_FAMILY = "default"
SHARDS_LIMIT = 1000

# As Ceph reads it: what follows the closing parenthesis is left unread (an OSD of 16.2.15 takes `m(2,3-)junk`).
COLUMN = re.compile(
    r"(?P<prefix>[^(]*)(?:\(\s*(?P<shards>\d{1,9})(?:,\s*(?P<begin>\d{1,9})-\s*(?P<end>\d{1,9})?)?\).*)?"
)
# One of BlueStore's prefixes, all of one letter: what tells the text from other lines of a tool's output.
BLUESTORE_PREFIX = re.compile(r"[A-Za-z]")


@dataclass(frozen=True, slots=True)
class ShardedColumn:
    """One column: a prefix, the families it is spread over, and the options these have for themselves.

    `hash_end` is exclusive; None where the hash goes to the key's end.
    """

    prefix: str
    shards: int = 1
    hash_begin: int = 0
    hash_end: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def families(self) -> tuple[str, ...]:
        """The column families' names: the prefix alone, or `prefix-0` to `prefix-(n-1)`."""
        if self.shards == 1:
            return (self.prefix,)
        return tuple(f"{self.prefix}-{number}" for number in range(self.shards))

    @property
    def rocksdb_options(self) -> Mapping[str, str]:
        """The options without Ceph's `block_cache`."""
        return {name: value for name, value in self.options.items() if name != "block_cache"}

    @property
    def block_cache(self) -> OptionString | None:
        """What `block_cache={type=…; size=…; high_ratio=…}` says; None where the default cache is shared."""
        value = self.options.get("block_cache")
        return None if value is None else parse_rocksdb_string(value)

    @property
    def has_own_cache(self) -> bool:
        """Whether the column's families have a cache apart from the one all others share."""
        cache = self.block_cache
        return cache is not None and not {"type", "size", "high_ratio"}.isdisjoint(cache.options)

    def __str__(self) -> str:
        text = self.prefix
        if self.hash_begin or self.hash_end is not None:
            end = "" if self.hash_end is None else self.hash_end
            text += f"({self.shards},{self.hash_begin}-{end})"
        elif self.shards != 1:
            text += f"({self.shards})"
        return f"{text}={rocksdb_string(self.options)}" if self.options else text


class Sharding(NamedTuple):
    """All columns of a database, and the pieces of the text that are none.

    Ceph refuses a text with such a piece as a whole.
    """

    columns: tuple[ShardedColumn, ...] = ()
    rejected: tuple[str, ...] = ()

    @property
    def families(self) -> tuple[str, ...]:
        """All column families, the default one first."""
        return (DEFAULT_FAMILY, *(family for column in self.columns for family in column.families))

    def column_of(self, family: str) -> ShardedColumn | None:
        """The column a family belongs to; None for the default family and for one not in the text."""
        return next((column for column in self.columns if family in column.families), None)

    def __str__(self) -> str:
        return " ".join(map(str, self.columns))


def parse_sharding(text: str) -> Sharding:
    """The columns of a `bluestore_rocksdb_cfs` or of the text stored in a database."""
    columns: list[ShardedColumn] = []
    rejected: list[str] = []
    for piece in text.split():  # at every space, inside braces too, as Ceph does
        column = _parse_column(piece)
        if column is None:
            rejected.append(piece)
        else:
            columns.append(column)
    return Sharding(tuple(columns), tuple(rejected))


def parse_show_sharding(output: str) -> Sharding | None:
    """The sharding in what `ceph-bluestore-tool show-sharding` printed; None where it printed none.

    The tool's log may stand around it, or a crash in its place. The last line that is a sharding of single-letter
    prefixes counts, since BlueStore has no others.
    """
    found: Sharding | None = None
    for line in output.splitlines():
        text = line.strip()
        if not text or not BLUESTORE_PREFIX.match(text):
            continue
        sharding = parse_sharding(text)
        if not sharding.rejected and all(BLUESTORE_PREFIX.fullmatch(column.prefix) for column in sharding.columns):
            found = sharding
    return found


def _parse_column(piece: str) -> ShardedColumn | None:
    definition, _, options = piece.partition("=")
    match = COLUMN.fullmatch(definition)
    if match is None or not match["prefix"]:
        return None
    shards = int(match["shards"] or 1)
    if shards > SHARDS_LIMIT:
        return None
    parsed = parse_rocksdb_string(options)
    if parsed.rejected:
        return None
    return ShardedColumn(
        match["prefix"],
        shards,
        int(match["begin"] or 0),
        None if match["end"] is None else int(match["end"]),
        {**parsed.options, **parsed.ceph_options},
    )
