"""The options that RocksDB runs with, held against those it was given: nothing is changed or dropped in silence.

However its version spells an option: what is one value to `canonical_value` is one here. Beside that, RocksDB writes
more than it was asked for, and less:

    compression_opts                 {level=3}               {window_bits=-14;level=3;strategy=0;…}
    block_cache                      {capacity=8388608;…}    8388608
    filter_policy                    bloomfilter:20:false    rocksdb.BuiltinBloomFilter
    comparator                       leveldb.Bytewise…       {id=leveldb.Bytewise…;…}
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path

from lsmlens.analyzer.options import option_strings
from lsmlens.tuners.engines.errors import EngineError, OptionMismatch
from lsmlens.tuners.options.option_values import ValueKind, canonical_value, fields_of, kind_of
from lsmlens.tuners.options.resolved_options import ResolvedOptions

# Where RocksDB itself chooses what fits: db/column_family.cc and db/db_impl/db_impl_open.cc, SanitizeOptions.
AUTOMATIC = {
    "delayed_write_rate": ("0",),
    "arena_block_size": ("0",),
    "max_compaction_bytes": ("0",),
    "ttl": ("18446744073709551614",),
    "periodic_compaction_seconds": ("18446744073709551614",),
    "compression": ("kDisableCompressionOption",),
    "soft_pending_compaction_bytes_limit": ("0",),
}
SHOWN = 3  # of several differences, or places
# Options that cannot change what is written, flushed or compacted, only where or how it is kept.
HARMLESS = frozenset(
    {
        "allow_fallocate",
        "allow_mmap_reads",
        "allow_mmap_writes",
        "avoid_unnecessary_blocking_io",
        "block_cache",
        "bytes_per_sync",
        "compaction_readahead_size",
        "dump_malloc_stats",
        "fail_if_options_file_error",
        "manifest_preallocation_size",
        "max_file_opening_threads",
        "max_open_files",
        "new_table_reader_for_compaction_inputs",
        "paranoid_checks",
        "preserve_deletes",
        "random_access_max_buffer_size",
        "read_amp_bytes_per_bit",  # up to 6.22 more bytes are written of it than it has
        "recycle_log_file_num",
        "skip_log_error_on_recovery",
        "stats_dump_period_sec",
        "stats_persist_period_sec",
        "table_cache_numshardbits",
        "use_direct_io_for_flush_and_compaction",
        "use_direct_reads",
        "wal_bytes_per_sync",
        "wal_recovery_mode",
    }
)
# Objects are named, or stand in braces. In a list of compressions `:` does not begin how something is set.
OBJECT_KINDS = (ValueKind.TEXT, ValueKind.FIELDS)
# What an object calls itself, by what an option string calls it: policies' names in filter_policy.cc,
# skiplistrep.cc, utilities/merge_operators.
OBJECTS = {
    "bloomfilter": "builtinbloomfilter",
    "bloom": "builtinbloomfilter",
    "skip_list": "skiplistfactory",
    "blockbasedtablefactory": "blockbasedtable",
    "block-based": "blockbasedtable",
}


def latest_options_file(folder: Path) -> Path:
    """The newest OPTIONS file of a database. Raises EngineError if there is none."""
    files = [path for path in folder.glob("OPTIONS-*") if path.name.removeprefix("OPTIONS-").isdecimal()]
    if not files:
        raise EngineError(f"{folder}: RocksDB wrote no OPTIONS file")
    return max(files, key=lambda path: int(path.name.removeprefix("OPTIONS-")))


@dataclass(frozen=True, slots=True)
class ReadbackDifference:
    """One option that RocksDB did not take as asked, everywhere it was; `found` is None where it has none such."""

    option: str
    asked: str
    found: str | None
    places: tuple[str, ...]

    @property
    def is_grave(self) -> bool:
        """Whether the outcome of a replay is not what it would be."""
        return self.found is not None and self.option not in HARMLESS

    def __str__(self) -> str:
        shown = ", ".join(self.places[:SHOWN])
        more = f" and {len(self.places) - SHOWN} more" if len(self.places) > SHOWN else ""
        return f"{self.option}={self.asked} of {shown}{more}: it runs with {self.found or 'nothing'}"


def read_back(asked: ResolvedOptions, effective: ResolvedOptions, taken: Set[str]) -> ResolvedOptions:
    """The options in force, with every difference from those asked for among their warnings.

    `taken` are the names of options that this version has, though it may write them into no OPTIONS file. Raises
    OptionMismatch if RocksDB changed an option that shapes what it writes.
    """
    version = effective.rocksdb_version
    differences = _differences(asked, effective)
    grave = tuple(str(one) for one in differences if one.is_grave)
    if grave:
        more = f"; and {len(grave) - SHOWN} more" if len(grave) > SHOWN else ""
        raise OptionMismatch(
            f"RocksDB {version} does not take the options {asked.name}: {'; '.join(grave[:SHOWN])}{more}",
            grave,
            "ask for values that can stand together, or for those it runs with",
        )
    absent = dict.fromkeys(one.option for one in differences if one.found is None)
    unknown = ", ".join(name for name in absent if name not in taken)
    unwritten = ", ".join(name for name in absent if name in taken)
    warnings = (
        *asked.warnings,
        *([f"RocksDB {version} has no options of these names, left out: {unknown}"] if unknown else ()),
        *([f"RocksDB {version} writes no such options down, set unchecked: {unwritten}"] if unwritten else ()),
        *(f"RocksDB {version}: {one}" for one in differences if one.found is not None),
    )
    families = {name: effective.families[name] for name in asked.families}
    return replace(effective, name=asked.name, families=families, warnings=warnings)


def _differences(asked: ResolvedOptions, effective: ResolvedOptions) -> list[ReadbackDifference]:
    """Every difference, those of several families as one."""
    places: dict[tuple[str, str, str | None], list[str]] = {}
    for place, wanted, found in _sections(asked, effective):
        for option, value in wanted.items():
            took = found.get(option)
            if took is None or not (is_taken(option, value, took) or value in AUTOMATIC.get(option, ())):
                places.setdefault((option, value, took), []).append(place)
    return [ReadbackDifference(*what, tuple(where)) for what, where in places.items()]


def _sections(
    asked: ResolvedOptions, effective: ResolvedOptions
) -> Iterator[tuple[str, Mapping[str, str], Mapping[str, str]]]:
    yield "the database", asked.database, effective.database
    for family, values in asked.families.items():
        yield f"family {family}", values, effective.families.get(family, {})
        yield f"family {family}'s tables", asked.tables.get(family, {}), effective.tables.get(family, {})


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
