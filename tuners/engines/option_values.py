"""Whether RocksDB took an option as it was asked for, however its version spells it.

What is one value to `canonical_value` is one here. Beside that, RocksDB writes more than it was asked for, and less:

    compression_opts                 {level=3}               {window_bits=-14;level=3;strategy=0;…}
    block_cache                      {capacity=8388608;…}    8388608
    filter_policy                    bloomfilter:20:false    rocksdb.BuiltinBloomFilter
    comparator                       leveldb.Bytewise…       {id=leveldb.Bytewise…;…}
"""

from lsmlens.analyzer.options import option_strings
from lsmlens.tuners.options.option_values import Kind, canonical_value, fields_of, kind_of

# Objects are named, or stand in braces. In a list of compressions `:` does not begin how something is set.
OBJECT_KINDS = (Kind.TEXT, Kind.FIELDS)
# What an object calls itself, by what an option string calls it: policies' names in filter_policy.cc,
# skiplistrep.cc, utilities/merge_operators.
OBJECTS = {
    "bloomfilter": "builtinbloomfilter",
    "bloom": "builtinbloomfilter",
    "skip_list": "skiplistfactory",
    "blockbasedtablefactory": "blockbasedtable",
    "block-based": "blockbasedtable",
}


def is_taken(option: str, asked: str, found: str) -> bool:
    """Whether `found`, as RocksDB wrote it, is what was asked for."""
    if asked == found:
        return True
    one, other = _canonical(option, asked), _canonical(option, found)
    if one == other or option_strings.same_value(one, other):  # the latter for options that are not known
        return True
    if one.startswith("{") and other.startswith("{") and "=" in one:
        fields = fields_of(other)
        return all(name in fields and is_taken(name, value, fields[name]) for name, value in fields_of(one).items())
    return kind_of(option) in OBJECT_KINDS and _object(one) == _object(other)


def _canonical(option: str, text: str) -> str:
    """The value in the one spelling; as it stands where it is none that the option is known to have."""
    try:
        return canonical_value(option, text)
    except ValueError:
        return text.strip()


def _object(text: str) -> str:
    """The plain name of an object: what it is, without whose it is and how it is set."""
    if text.startswith("{"):
        text = fields_of(text).get("id", text)
    name = text.lower().removeprefix("rocksdb.").partition(":")[0]
    return OBJECTS.get(name, "" if name == "nullptr" else name)
