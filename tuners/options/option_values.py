"""The values of options in one spelling: the one of RocksDB's OPTIONS file.

    write_buffer_size        16MB, 16M, 16384k                16777216
    enable_pipelined_write   1, true                          true
    compression              kLZ4Compression, LZ4, 4          kLZ4Compression
    max_bytes_for_level_multiplier   8                        8.000000
    compression_per_level    kNoCompression:{kLZ4Compression} kNoCompression:kLZ4Compression
    compression_opts         -14:5:0:0                        {level=5;max_dict_bytes=0;strategy=0;window_bits=-14}

Names are those of an option string, numbers those that a log prints. What kind of value an option has is seen in its
defaults, so that it needs no list of its own.
"""

import re
from collections.abc import Callable, Mapping
from enum import Enum, auto
from functools import cache

from lsmlens.analyzer.options.option_strings import parse_rocksdb_string, parse_size
from lsmlens.tuners.options.option_catalogue import find_option

COMPRESSIONS = {
    0: "kNoCompression",
    1: "kSnappyCompression",
    2: "kZlibCompression",
    3: "kBZip2Compression",
    4: "kLZ4Compression",
    5: "kLZ4HCCompression",
    6: "kXpressCompression",
    7: "kZSTD",
    64: "kZSTDNotFinalCompression",
    255: "kDisableCompressionOption",
}
TEMPERATURES = {0: "kUnknown", 4: "kHot", 8: "kWarm", 10: "kCool", 12: "kCold", 14: "kIce"}
COMPRESSION_WORDS = {"disabled": "kDisableCompressionOption", "kzstdcompression": "kZSTD", "zstd": "kZSTD"}
FLOAT = re.compile(r"[+-]?\d{1,20}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,3})?")
NOTHING = frozenset({"none", "(nil)", "0x0", "0000000000000000", ""})
LEAST_INTEGER, MOST_INTEGER = -(1 << 63), (1 << 64) - 1
MOST_FLOAT = 1e15  # it is written with all its digits

# Before 6.15 compression_opts is `-14:32767:0:0`: its fields in this order, the later ones left out.
COMPRESSION_FIELDS = (
    *("window_bits", "level", "strategy", "max_dict_bytes", "zstd_max_train_bytes", "parallel_threads", "enabled"),
    *("max_dict_buffer_bytes", "use_zstd_dict_trainer"),
)


def _numbered(*names: str) -> Mapping[int, str]:
    return dict(enumerate(names))


ENUMERATIONS: Mapping[str, Mapping[int, str]] = {
    "compression": COMPRESSIONS,
    "bottommost_compression": COMPRESSIONS,
    "blob_compression_type": COMPRESSIONS,
    "wal_compression": COMPRESSIONS,
    "compression_per_level": COMPRESSIONS,
    "compaction_style": _numbered(*(f"kCompactionStyle{name}" for name in ("Level", "Universal", "FIFO", "None"))),
    "compaction_pri": _numbered(
        *("kByCompensatedSize", "kOldestLargestSeqFirst", "kOldestSmallestSeqFirst", "kMinOverlappingRatio"),
        "kRoundRobin",
    ),
    "stop_style": _numbered("kCompactionStopStyleSimilarSize", "kCompactionStopStyleTotalSize"),
    "wal_recovery_mode": _numbered(
        *("kTolerateCorruptedTailRecords", "kAbsoluteConsistency", "kPointInTimeRecovery"), "kSkipAnyCorruptedRecords"
    ),
    "info_log_level": _numbered(*(f"{name}_LEVEL" for name in ("DEBUG", "INFO", "WARN", "ERROR", "FATAL", "HEADER"))),
    "access_hint_on_compaction_start": _numbered("NONE", "NORMAL", "SEQUENTIAL", "WILLNEED"),
    "index_type": _numbered("kBinarySearch", "kHashSearch", "kTwoLevelIndexSearch", "kBinarySearchWithFirstKey"),
    "data_block_index_type": _numbered("kDataBlockBinarySearch", "kDataBlockBinaryAndHash"),
    "index_shortening": _numbered("kNoShortening", "kShortenSeparators", "kShortenSeparatorsAndSuccessor"),
    "checksum": _numbered("kNoChecksum", "kCRC32c", "kxxHash", "kxxHash64", "kXXH3"),
    "prepopulate_block_cache": _numbered("kDisable", "kFlushOnly"),
    "prepopulate_blob_cache": _numbered("kDisable", "kFlushOnly"),
    **dict.fromkeys(
        (
            *("bottommost_temperature", "default_temperature", "default_write_temperature", "last_level_temperature"),
            *("metadata_write_temperature", "wal_write_temperature"),
        ),
        TEMPERATURES,
    ),
    "unpartitioned_pinning": _numbered("kFallback", "kNone", "kFlushedAndSimilar", "kAll"),
    "partition_pinning": _numbered("kFallback", "kNone", "kFlushedAndSimilar", "kAll"),
    "top_level_index_pinning": _numbered("kFallback", "kNone", "kFlushedAndSimilar", "kAll"),
}


def named(option: str, text: str) -> str | None:
    """The name an OPTIONS file has for what a string or a log calls `text`; None if the option has none like it."""
    names = ENUMERATIONS[option]
    if text.isdecimal() and len(text) < 4 and int(text) in names:
        return names[int(text)]
    by_word = {_word(name): name for name in names.values()}
    if names is COMPRESSIONS:
        by_word |= COMPRESSION_WORDS
    word = text.lower().replace(" ", "")
    return by_word.get(word) or by_word.get(_word(word))


def _word(name: str) -> str:
    """What a log prints of a name: `LZ4` of `kLZ4Compression`."""
    return name.removeprefix("k").lower().removesuffix("option").removesuffix("compression") or name.lower()


class ValueKind(Enum):
    """What a value is."""

    BOOLEAN = auto()
    INTEGER = auto()
    FLOAT = auto()
    ENUMERATION = auto()
    LIST = auto()
    FIELDS = auto()
    CACHE = auto()
    TEXT = auto()


def canonical_value(option: str, text: str) -> str:
    """A value in the one spelling. Raises ValueError, saying what was expected, for one the option cannot have."""
    return _canonical(option, text.strip(), kind_of(option))


@cache
def kind_of(option: str) -> ValueKind:
    """The kind of an option's values; text for an option not known."""
    found = find_option(option)
    if option in ("block_cache", "block_cache_compressed"):
        return ValueKind.CACHE
    if option in ("compression_opts", "bottommost_compression_opts", "compact_on_deletion"):
        return ValueKind.FIELDS
    if option in ("compression_per_level", "max_bytes_for_level_multiplier_additional"):
        return ValueKind.LIST
    if found is None:
        return ValueKind.TEXT
    spellings = [value for value in found.defaults.values() if value is not None]
    return max((_kind_like(option, value) for value in spellings), key=_GENERALITY.index, default=ValueKind.TEXT)


def spelled_for(value: str, default: str) -> str:
    """A canonical value as a version spells it whose default is `default`.

    Fields stand over the default's; those the default does not have are left out.
    """
    if default.startswith("{") and value.startswith("{"):
        given, known = fields_of(value), fields_of(default)
        return fields_text({name: spelled_for(given.get(name, field), field) for name, field in known.items()})
    if FLOAT.fullmatch(value) and FLOAT.fullmatch(default):
        return f"{float(value):.6f}" if "." in default else value.removesuffix(".000000")
    return value


def fields_of(value: str) -> dict[str, str]:
    """The fields of a value in braces."""
    return dict(parse_rocksdb_string(value).options)


def fields_text(fields: Mapping[str, str]) -> str:
    """Fields in braces, by name."""
    return "{" + ";".join(f"{name}={value}" for name, value in sorted(fields.items())) + "}"


def compression_list(value: str) -> str:
    """Compression options as versions before 6.15 take them: `-14:5:0:0`."""
    fields = {"window_bits": "-14", "level": "32767", "strategy": "0", "max_dict_bytes": "0", **fields_of(value)}
    return ":".join(fields[name] for name in COMPRESSION_FIELDS[:4])


_GENERALITY = (
    ValueKind.BOOLEAN,
    ValueKind.INTEGER,
    ValueKind.FLOAT,
    ValueKind.ENUMERATION,
    ValueKind.LIST,
    ValueKind.FIELDS,
    ValueKind.CACHE,
    ValueKind.TEXT,
)


def _kind_like(option: str, value: str) -> ValueKind:
    """The kind of a value that is spelled like this one."""
    if value in ("true", "false"):
        return ValueKind.BOOLEAN
    if value.startswith("{") and "=" in value:
        return ValueKind.FIELDS
    if FLOAT.fullmatch(value):
        return ValueKind.FLOAT if "." in value else ValueKind.INTEGER
    return ValueKind.ENUMERATION if option in ENUMERATIONS else ValueKind.TEXT


def _canonical(option: str, text: str, kind: ValueKind) -> str:
    return _READERS[kind](option, text)


def _boolean(option: str, text: str) -> str:
    word = text.lower()
    if word not in ("true", "false", "1", "0"):
        raise ValueError(f"{option}={text}: expected true or false")
    return "true" if word in ("true", "1") else "false"


def _integer(option: str, text: str) -> str:
    number = parse_size(text.replace("_", "", 1) if "_" in text else text)
    if number is None and FLOAT.fullmatch(text) and float(text).is_integer():
        number = int(float(text))
    if number is None:
        raise ValueError(f"{option}={text}: expected a whole number, such as 8, or a size, such as 64M")
    if not LEAST_INTEGER <= number <= MOST_INTEGER:
        raise ValueError(f"{option}={text}: more than RocksDB can hold")
    return str(number)


def _float(option: str, text: str) -> str:
    if not FLOAT.fullmatch(text) or abs(float(text)) >= MOST_FLOAT:
        raise ValueError(f"{option}={text}: expected a number")
    return f"{float(text):.6f}"


def _enumeration(option: str, text: str) -> str:
    found = named(option, text)
    if found is None:
        raise ValueError(f"{option}={text}: expected one of {', '.join(ENUMERATIONS[option].values())}")
    return found


def _list(option: str, text: str) -> str:
    parts = [part.strip(" {}") for part in re.split("[:,]", text)] if text.strip("{} ") else []
    return ":".join(_enumeration(option, part) if option in ENUMERATIONS else _integer(option, part) for part in parts)


def _fields(option: str, text: str) -> str:
    if option.endswith("compression_opts") and "=" not in text:
        given = dict(zip(COMPRESSION_FIELDS, text.strip("{}").split(":"), strict=False))
    elif text.startswith("{") and text.endswith("}"):
        parsed = parse_rocksdb_string(text)
        if parsed.rejected:
            raise ValueError(f"{option}={text}: {parsed.rejected[0]} sets nothing")
        given = dict(parsed.options)
    else:
        raise ValueError(f"{option}={text}: expected fields in braces, such as {find_example(option)}")
    known = _known_fields(option)
    for name in given:
        if name not in known:
            raise ValueError(f"{option}={text}: {name} is none of its fields: expected {', '.join(sorted(known))}")
    return fields_text({name: _field(name, value, known[name]) for name, value in given.items()})


@cache
def _known_fields(option: str) -> Mapping[str, str]:
    """The fields an option has in any version, and a value of each."""
    if option == "compact_on_deletion":
        return {"sliding_window": "0", "trigger": "0"}
    found = find_option(option)
    known: dict[str, str] = {}
    for _, default in sorted(found.defaults.items()) if found is not None else ():
        known |= fields_of(default or "")
    return known


def find_example(option: str) -> str:
    """A value an option may have: a default of it."""
    found = find_option(option)
    return found.example if found is not None and found.example else "{…}"


def _field(name: str, value: str, like: str) -> str:
    return _canonical(name, value.strip(), _kind_like(name, like))


def _cache(option: str, text: str) -> str:
    if text.startswith("{"):
        text = fields_of(text).get("capacity", "")
    return _integer(option, text)


def _text(option: str, text: str) -> str:
    if text.lower() in NOTHING:
        return "nullptr" if find_example(option) == "nullptr" else ""
    if option == "memtable_factory" and text.partition(":")[0].strip("{}").lower() in _SKIP_LISTS:
        return "SkipListFactory"
    return text


_SKIP_LISTS = ("skip_list", "skiplistfactory", "id=skiplistfactory;lookahead=0", "id=skiplistfactory;lookahead=0;")
_READERS: Mapping[ValueKind, Callable[[str, str], str]] = {
    ValueKind.BOOLEAN: _boolean,
    ValueKind.INTEGER: _integer,
    ValueKind.FLOAT: _float,
    ValueKind.ENUMERATION: _enumeration,
    ValueKind.LIST: _list,
    ValueKind.FIELDS: _fields,
    ValueKind.CACHE: _cache,
    ValueKind.TEXT: _text,
}
