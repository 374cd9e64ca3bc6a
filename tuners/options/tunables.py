"""Tunable options: what a search may change, each declared once.

A declaration says what values there are, who can set the option, what its effect or its price shows in, what it takes
of memory and space (`price`), and which header of RocksDB describes it (`source`). Whether RocksDB takes it while it
runs stands in `analyzer/options/option_changes.py`, which versions have it in the option catalogue, and which option of
Ceph's sets it in `ceph_configuration`.

Nothing that decides what survives a crash is tunable (`DURABILITY`), nor what makes RocksDB delete data by itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lsmlens.tuners.options.ceph_configuration import ceph_option_of
from lsmlens.tuners.options.option_catalogue import COMPACT_ON_DELETION, find_option
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.option_values import fields_of, fields_text

# What survives a crash, or is noticed to be damaged after one.
DURABILITY = (
    *("wal_recovery_mode", "manual_wal_flush", "use_fsync", "unordered_write", "atomic_flush", "allow_2pc"),
    *("paranoid_checks", "force_consistency_checks", "track_and_verify_wals_in_manifest", "best_efforts_recovery"),
    *("allow_mmap_writes", "inplace_update_support", "disable_auto_compactions", "allow_ingest_behind", "checksum"),
)
# Ceph takes these out of its option string for itself.
CEPH_DURABILITY = ("disableWAL",)
FIFO, LEVEL, UNIVERSAL = "kCompactionStyleFIFO", "kCompactionStyleLevel", "kCompactionStyleUniversal"
NO_COLLECTOR = "{sliding_window=0;trigger=0}"
HOUR, DAY = 3600, 86400
# Values as large as this are worth a file of their own (BlobDB's own advice is 1 KiB and up).
LARGE_VALUE_BYTES = 1024


class Effect(StrEnum):
    """What a replay must measure for an option's effect and its price to be seen."""

    WRITES = "writes"
    READS = "reads"
    STALLS = "stalls"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What decides which options can be tuned: the database, its workload and the engine that replays it.

    `ceph_version` is None for a database that is not Ceph's. `engine_version` is the RocksDB of the replays,
    `has_collectors` whether it takes collectors of deletions. `seconds` is how long the workload lasts,
    `record_bytes` the mean size of a record in the column family where it is largest. `measured` is what the replays
    measure.
    """

    ceph_version: str | None = None
    engine_version: str | None = None
    has_collectors: bool = True
    seconds: float = float("inf")
    record_bytes: float = 0.0
    has_deletes: bool = True
    has_own_device: bool = False
    measured: frozenset[Effect] = frozenset({Effect.WRITES})


@dataclass(frozen=True, slots=True)
class Tunable:
    """One option that a search may change, or one `part` of it.

    Its values are fixed ones, or the present one times powers of two (`doublings`). `beside` are options that a value
    needs beside itself. `unset` is the value of an option that nobody set and RocksDB writes nowhere. `of_columns`
    says whether single columns may have it, `of_ceph` whether an OSD may, `is_for_all` that no column can have it
    otherwise than the others. `price` says in words what a change takes. `unfit` says why it is not tuned for a
    database, or nothing.
    """

    option: str
    values: tuple[str, ...] = ()
    doublings: range | None = None
    part: str | None = None
    least: int = 1 << 16
    effect: Effect = Effect.WRITES
    price: str = ""
    source: str = "include/rocksdb/advanced_options.h"
    of_columns: bool = False
    of_ceph: bool = True
    is_for_all: bool = False
    unset: str | None = None
    beside: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unfit: Callable[[OptionSet, Surroundings], str | None] = lambda _, __: None

    @property
    def name(self) -> str:
        """What it is called: the option, and the part of it."""
        return self.option if self.part is None else f"{self.option}.{self.part}"

    def value_in(self, options: OptionSet, family: str | None = None) -> str | None:
        """The value in force, as text; None where this RocksDB has no such option."""
        value = options.value_of(self.option, family)
        if value is None and self.is_for_all:
            own = (options.value_of(self.option, one) for one in options.overrides)
            value = next((one for one in own if one is not None), None)
        if value is None:
            return self.unset
        if self.part is not None:
            value = fields_of(value).get(self.part)
        return None if value is None else value.removesuffix(".000000")

    def set_in(self, options: OptionSet, value: str, family: str | None = None) -> OptionSet:
        """The options with this value."""
        if self.part is not None:
            whole = fields_of(options.value_of(self.option, family) or "{}")
            value = fields_text({**whole, self.part: value})
        return options.changed(self.option, value, family, is_for_all=self.is_for_all)

    def with_beside(self, options: OptionSet, value: str) -> OptionSet:
        """The options with what the value needs beside itself."""
        for option, wanted in self.beside.get(value, {}).items():
            options = options.changed(option, wanted)
        return options

    def left_out(self, options: OptionSet, where: Surroundings) -> str | None:
        """Why a search does not change it; None where it does."""
        known = find_option(self.option)
        version = options.rocksdb_version
        if known is None or not known.is_in(version) or self.value_in(options) is None:
            return f"RocksDB {version} has no such option" if version else "RocksDB has no such option"
        if where.engine_version is not None and not known.is_in(where.engine_version):
            return f"the RocksDB {where.engine_version} of the replays has no such option"
        if self.option == COMPACT_ON_DELETION and not where.has_collectors:
            return "the RocksDB of the replays has no way to set it"
        if where.ceph_version is not None:
            if not self.of_ceph:
                return "BlueStore is not made for it"
            if ceph_option_of(self.option, where.ceph_version) is None:
                return f"Ceph {where.ceph_version} has no option for it"
        if self.effect is Effect.READS and Effect.READS not in where.measured:
            return "reads pay for it, and the replays of a search measure none"
        return self.unfit(options, where)


def _only_style(style: str, *others: str) -> Callable[[OptionSet, Surroundings], str | None]:
    def unfit(options: OptionSet, _: Surroundings) -> str | None:
        present = options.value_of("compaction_style") or LEVEL
        return None if present in (style, *others) else f"it says nothing to {present}"

    return unfit


def _style(options: OptionSet, where: Surroundings) -> str | None:
    if options.value_of("compaction_style") not in (None, LEVEL, UNIVERSAL):
        return "what FIFO holds is bounded by its deleting data"
    if where.has_own_device:
        return "BlueFS reckons the database's device by levels"
    return None


def _ages(least: int) -> Callable[[OptionSet, Surroundings], str | None]:
    def unfit(options: OptionSet, where: Surroundings) -> str | None:
        if options.value_of("compaction_style") == FIFO:
            return "FIFO deletes data of that age"
        return None if where.seconds > least else "the log is shorter than the least age tried"

    return unfit


def _large_values(_: OptionSet, where: Surroundings) -> str | None:
    large = where.record_bytes >= LARGE_VALUE_BYTES
    return None if large else f"no column family's records are {LARGE_VALUE_BYTES} bytes in the mean"


def _deletes(_: OptionSet, where: Surroundings) -> str | None:
    return None if where.has_deletes else "the workload deletes nothing"


_TABLE, _OPTIONS = "include/rocksdb/table.h", "include/rocksdb/options.h"
_UNIVERSAL = "include/rocksdb/universal_compaction.h"
TUNABLES = (
    Tunable(
        "write_buffer_size",
        doublings=range(-3, 3),
        least=1 << 20,  # no memory is worth saving with smaller ones, unless the present ones are
        price="memory: times max_write_buffer_number, in every column family",
        source=_OPTIONS,
        of_columns=True,
    ),
    Tunable(
        "max_bytes_for_level_base",
        doublings=range(-2, 5),
        price="larger compactions of level 0",
        source=_OPTIONS,
    ),
    Tunable("target_file_size_base", doublings=range(-2, 3), price="larger files are larger compactions"),
    Tunable(
        "max_total_wal_size",
        doublings=range(-2, 3),
        price="as much memory in memtables, space for the WAL, and time for its recovery",
        source=_OPTIONS,
    ),
    Tunable(
        "max_write_buffer_number",
        ("2", "4", "8", "16", "32", "64"),
        price="memory: as many write buffers in every column family",
    ),
    Tunable(
        "min_write_buffer_number_to_merge",
        ("1", "2", "3", "4", "6", "8", "12", "16", "32"),
        price="memory until so many are full; reads look through each",
        of_columns=True,
    ),
    Tunable(
        "level0_file_num_compaction_trigger",
        ("2", "4", "6", "8", "12", "16"),
        price="reads look into as many files; nearer to the slowdown",
        source=_OPTIONS,
    ),
    Tunable("max_bytes_for_level_multiplier", ("4", "6", "8", "10", "12", "16"), source=_OPTIONS),
    Tunable(
        "level_compaction_dynamic_level_bytes",
        ("false", "true"),
        price="less space for old records; before 8.2 an existing database must be compacted as a whole first",
        unfit=_only_style(LEVEL),
    ),
    Tunable(
        "compaction_pri",
        ("kByCompensatedSize", "kOldestLargestSeqFirst", "kOldestSmallestSeqFirst", "kMinOverlappingRatio"),
        unfit=_only_style(LEVEL),
    ),
    Tunable(
        "compaction_style",
        (LEVEL, UNIVERSAL),
        price="universal: up to twice the database's size while all of it is compacted; more sorted runs for reads",
        beside={UNIVERSAL: {"level_compaction_dynamic_level_bytes": "false"}},
        unfit=_style,
    ),
    Tunable(
        "compaction_options_universal",
        ("25", "50", "100", "200", "400"),
        part="max_size_amplification_percent",
        price="space: old records may come to as many per cent of the live ones",
        source=_UNIVERSAL,
        unfit=_only_style(UNIVERSAL),
    ),
    Tunable(
        "compaction_options_universal",
        ("1", "10", "25", "50"),
        part="size_ratio",
        source=_UNIVERSAL,
        unfit=_only_style(UNIVERSAL),
    ),
    Tunable(
        "compaction_options_fifo",
        ("false", "true"),
        part="allow_compaction",
        price="files are merged, but no sooner deleted",
        unfit=_only_style(FIFO),
    ),
    Tunable(
        COMPACT_ON_DELETION,
        (
            NO_COLLECTOR,
            "{sliding_window=32768;trigger=16384}",
            "{sliding_window=32768;trigger=4096}",
            "{sliding_window=4096;trigger=1024}",
        ),
        price="compactions of files that are full of deletions, which listings would step over",
        source="include/rocksdb/utilities/table_properties_collectors.h",
        is_for_all=True,
        unset=NO_COLLECTOR,
        unfit=_deletes,
    ),
    Tunable("ttl", ("0", str(6 * HOUR), str(DAY), str(30 * DAY)), unfit=_ages(6 * HOUR)),
    Tunable(
        "periodic_compaction_seconds",
        ("0", str(DAY), str(7 * DAY), str(30 * DAY)),
        price="every file is written again at that age",
        unfit=_ages(DAY),
    ),
    Tunable(
        "max_background_jobs",
        ("2", "4", "6", "8"),
        effect=Effect.STALLS,
        price="as many threads",
        source=_OPTIONS,
    ),
    Tunable(
        "max_subcompactions",
        ("1", "2", "4"),
        effect=Effect.STALLS,
        price="as many threads for each compaction",
        source=_OPTIONS,
    ),
    Tunable("compression", ("kNoCompression", "kLZ4Compression"), price="CPU of every compaction", source=_OPTIONS),
    Tunable(
        "compression_per_level",
        ("", "kNoCompression:kNoCompression:kLZ4Compression"),
        price="levels 0 and 1 take the space that their values have",
        unset="",
        unfit=_only_style(LEVEL),
    ),
    Tunable(
        "block_size",
        ("4096", "8192", "16384", "32768"),
        effect=Effect.READS,
        price="a read takes a whole block; smaller ones need a larger index",
        source=_TABLE,
    ),
    Tunable(
        "filter_policy",
        ("nullptr", "bloomfilter:6:false", "bloomfilter:10:false", "bloomfilter:14:false", "bloomfilter:20:false"),
        effect=Effect.READS,
        price="memory and space: as many bits a key",
        source="include/rocksdb/filter_policy.h",
    ),
    Tunable(
        "index_type",
        ("kBinarySearch", "kTwoLevelIndexSearch"),
        effect=Effect.READS,
        price="one more block to read where the partition is not cached; less memory",
        source=_TABLE,
        beside={"kTwoLevelIndexSearch": {"partition_filters": "true"}, "kBinarySearch": {"partition_filters": "false"}},
    ),
    Tunable(
        "optimize_filters_for_hits",
        ("false", "true"),
        effect=Effect.READS,
        price="the last level has no filters: reads of absent keys look into it",
    ),
    Tunable(
        "enable_blob_files",
        ("false", "true"),
        price="space: old values stay until their blob file is collected; one more read for a value",
        of_ceph=False,
        beside={"true": {"enable_blob_garbage_collection": "true"}},
        unfit=_large_values,
    ),
    Tunable("min_blob_size", ("0", "512", "1024", "4096", "16384"), of_ceph=False, unfit=_large_values),
    Tunable(
        "blob_garbage_collection_age_cutoff",
        ("0.250000", "0.500000", "1"),
        price="more of the blob files is written again, and less space taken",
        of_ceph=False,
        unfit=_large_values,
    ),
)
_BY_NAME = {one.name: one for one in TUNABLES}


def find_tunable(name: str) -> Tunable | None:
    """The declaration of that name; None where nothing of it is tuned."""
    return _BY_NAME.get(name)


def tunables_of(option: str) -> tuple[Tunable, ...]:
    """The declarations of an option: one for each of its parts that is tuned."""
    return tuple(one for one in TUNABLES if one.option == option)


def durability_changed(options: OptionSet, present: OptionSet) -> str | None:
    """What in these options changes which data survives; None where nothing does.

    Defaults are those of the present options' version, for another version's are not asked for.
    """
    version = present.rocksdb_version
    for name in DURABILITY:
        for family in (None, *{**options.overrides, **present.overrides}):
            mine, theirs = options.value_of(name, family, version), present.value_of(name, family, version)
            if mine != theirs:
                return f"{name}={mine}, now {theirs}: it decides which data survives, and stays as it is"
    for name in CEPH_DURABILITY:
        if options.ceph_options.get(name) != present.ceph_options.get(name):
            return f"{name}={options.ceph_options.get(name)}: it decides which data survives, and stays as it is"
    style, now = options.value_of("compaction_style"), present.value_of("compaction_style")
    if FIFO in (style, now) and _deleted_by(options) != _deleted_by(present):
        return "FIFO deletes data by size and age: these stay as they are"
    return None


def _deleted_by(options: OptionSet) -> tuple[str | None, ...]:
    """What FIFO deletes by."""
    fields = fields_of(options.value_of("compaction_options_fifo") or "{}")
    limits = (fields.get("max_table_files_size"), fields.get("max_data_files_size"))
    return options.value_of("compaction_style"), options.value_of("ttl"), *limits
