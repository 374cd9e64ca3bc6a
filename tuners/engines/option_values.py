"""Whether two texts mean the same value of an option, however a RocksDB version spells it.

max_bytes_for_level_multiplier   8                       8.000000
write_buffer_size                16M                     16777216
compression_opts                 -14:32767:0:0           {window_bits=-14;level=32767;strategy=0;…}
filter_policy                    bloomfilter:20:false    rocksdb.BuiltinBloomFilter
comparator                       leveldb.Bytewise…       {id=leveldb.Bytewise…;…}
"""

import re
from collections.abc import Mapping

from lsmlens.analyzer.options.option_strings import canonical, parse_rocksdb_string

NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
# The first fields of compression_opts in its older spelling; those behind them differ by version.
COMPRESSION_FIELDS = ("window_bits", "level", "strategy", "max_dict_bytes")
# What an object calls itself, by what an option string calls it: policies' names in filter_policy.cc,
# skiplistrep.cc, utilities/merge_operators.
OBJECTS = {
    "bloomfilter": "builtinbloomfilter",
    "bloom": "builtinbloomfilter",
    "skip_list": "skiplistfactory",
    "blockbasedtablefactory": "blockbasedtable",
    "block-based": "blockbasedtable",
}


def same_value(option: str, asked: str, found: str) -> bool:
    """Whether `found`, as RocksDB wrote it, is what was asked for."""
    if asked == found or canonical(asked) == canonical(found):
        return True
    if NUMBER.fullmatch(asked) and NUMBER.fullmatch(found):
        return abs(float(asked) - float(found)) <= 5e-7 * max(1.0, abs(float(asked)))  # written with six decimals
    if option == "block_cache" and asked.startswith("{"):
        return same_value(option, _fields(asked).get("capacity", asked), found)
    if option.endswith("compression_opts"):
        return _same_fields(_compression_fields(asked), _compression_fields(found))
    if asked.startswith("{") and found.startswith("{") and "=" in asked:
        return _same_fields(_fields(asked), _fields(found))
    return _object(asked) == _object(found)


def _same_fields(asked: Mapping[str, str], found: Mapping[str, str]) -> bool:
    return all(name in found and same_value(name, value, found[name]) for name, value in asked.items())


def _fields(text: str) -> Mapping[str, str]:
    return parse_rocksdb_string(text).options


def _compression_fields(text: str) -> Mapping[str, str]:
    if "=" in text:
        return _fields(text)
    return dict(zip(COMPRESSION_FIELDS, text.strip("{}").split(":"), strict=False))


def _object(text: str) -> str:
    """The plain name of an object: what it is, without whose it is and how it is set."""
    text = text.strip()
    if text.startswith("{"):
        text = _fields(text).get("id", text)
    name = text.lower().removeprefix("rocksdb.").partition(":")[0]
    return OBJECTS.get(name, "" if name == "nullptr" else name)
