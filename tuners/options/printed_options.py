"""Options as a log prints them, in the words of an OPTIONS file.

    Options.compression: LZ4                                    compression=kLZ4Compression
    Options.wal_recovery_mode: 2                                wal_recovery_mode=kPointInTimeRecovery
    Options.compression_opts.level: 32767, …strategy: 0, …      compression_opts={level=32767;strategy=0;…}
    Options.max_bytes_for_level_multiplier_addtl[0]: 1, …       max_bytes_for_level_multiplier_additional=1:1:1:1:1:1:1
    Options.compression[2]: ZSTD                                compression_per_level=kNoCompression:…:kZSTD
    block_cache_options: capacity : 1449551462                  block_cache=1449551462
    Options.table_properties_collectors: CompactOnDeletion…     compact_on_deletion={sliding_window=32768;trigger=16384}

Names and fields are put together here; how a value is spelled is for `option_values`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lsmlens.tuners.options.option_catalogue import COMPACT_ON_DELETION
from lsmlens.tuners.options.option_values import fields_text

if TYPE_CHECKING:
    from lsmlens.analyzer.options.options_in_force import OptionInForce

TABLE = "table_factory."
# The second is how versions before 4.13 or so printed it.
CAPACITIES = frozenset({"block_cache_options.capacity", "block_cache_size"})
CACHES = frozenset({"block_cache", "block_cache_compressed"})
COLLECTORS = "table_properties_collectors"
COLLECTOR = re.compile(r"CompactOnDeletionCollector \(Sliding window size = (\d{1,18}) Deletion trigger = (\d{1,18})")
INDEXED = re.compile(r"(\w+)\[(\d{1,3})\]")
LISTS = {
    "compression": "compression_per_level",
    "max_bytes_for_level_multiplier_addtl": "max_bytes_for_level_multiplier_additional",
}
ADDRESS = re.compile(r" \((?:0x)?[0-9a-fA-F]{6,16}\)$")
POINTER = re.compile(r"0x[0-9a-fA-F]{1,16}|0[0-9a-fA-F]{15}|\(nil\)")


def in_option_words(ones: "Iterable[OptionInForce]") -> Iterator[tuple[str, str, str]]:
    """Names, values and where they were read, of one family or of the database; pointers are left out."""
    fields: dict[str, dict[str, str]] = defaultdict(dict)
    lists: dict[str, dict[int, str]] = defaultdict(dict)
    origins: dict[str, str] = {}
    for one in ones:
        name, value, origin = one.name.removeprefix(TABLE), one.value, origin_of(one)
        if name in CAPACITIES:
            yield "block_cache", value, origin
        elif name == COLLECTORS:
            match = COLLECTOR.search(value)
            if match is not None:
                yield COMPACT_ON_DELETION, fields_text({"sliding_window": match[1], "trigger": match[2]}), origin
        elif match := INDEXED.fullmatch(name):
            whole = LISTS.get(match[1], match[1])
            lists[whole][int(match[2])] = value
            origins[whole] = origin
        elif "." in name:
            whole, _, part = name.partition(".")
            # Printed as a signed number by some versions.
            fields[whole][part] = "4294967295" if (part, value) == ("max_merge_width", "-1") else value
            origins[whole] = origin
        elif name not in CACHES and not POINTER.fullmatch(value):
            yield name, ADDRESS.sub("", value), origin
    for name, parts in fields.items():
        yield name, fields_text(parts), origins[name]
    for name, items in lists.items():
        yield name, ":".join(items[level] for level in sorted(items)), origins[name]


def origin_of(one: "OptionInForce") -> str:
    """Where a value was read, in words."""
    return f"{one.source.value}, {one.detail}" if one.detail else one.source.value
