"""Options that name one of a few things, by RocksDB's names and numbers (`options/options_helper.cc` and its enums)."""

from collections.abc import Mapping

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
