"""Ceph's configuration as an option set: what BlueStore and RocksDBStore make of it when they open a database.

In the order in which Ceph sets them, the later over the earlier:

1. `bluestore_rocksdb_options`, then its annex behind it. What it says of tables is lost: Ceph sets these by code.
2. By code, from options of its own: the tables' (`TABLE_OPTIONS`), a Bloom filter, the block cache, from Quincy on a
   collector that has tables full of deletions compacted. These are options of all families.
3. `bluestore_rocksdb_cfs`: the families, and what each column has for itself. `block_cache={…}` is Ceph's: with `type`,
   `size` or `high_ratio` a cache of its own, and any option of tables.

Source: src/kv/RocksDBStore.cc and BlueStore::_open_db; checked against what OSDs of 16.2.15 and 18.2.7 log at an open.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.options.option_defaults import ceph_defaults
from lsmlens.analyzer.options.option_strings import parse_option_string, parse_size
from lsmlens.analyzer.options.sharding import ShardedColumn, Sharding
from lsmlens.tuners.options.assignments import read_assignments, read_columns, refuse_rejected
from lsmlens.tuners.options.option_catalogue import COMPACT_ON_DELETION, VALUES_HINT, Scope, find_option
from lsmlens.tuners.options.option_set import ASKED, CHANGED, Difference, OptionSet, Setting
from lsmlens.tuners.options.option_values import canonical_value, fields_of

STRING, ANNEX, COLUMNS = "bluestore_rocksdb_options", "bluestore_rocksdb_options_annex", "bluestore_rocksdb_cfs"
MONITOR_STRING = "mon_rocksdb_options"
# Options of tables that Ceph sets by code, and the options of its own that it takes them from.
TABLE_OPTIONS = {
    "block_size": "rocksdb_block_size",
    "index_type": "rocksdb_index_type",
    "cache_index_and_filter_blocks": "rocksdb_cache_index_and_filter_blocks",
    "cache_index_and_filter_blocks_with_high_priority": "rocksdb_cache_index_and_filter_blocks_with_high_priority",
    "partition_filters": "rocksdb_partition_filters",
    "metadata_block_size": "rocksdb_metadata_block_size",
    "pin_l0_filter_and_index_blocks_in_cache": "rocksdb_pin_l0_filter_and_index_blocks_in_cache",
}
INDEX_TYPES = {"binary_search": "kBinarySearch", "hash_search": "kHashSearch", "two_level": "kTwoLevelIndexSearch"}
BLOOM_BITS = "rocksdb_bloom_bits_per_key"
CACHE_SIZE = "rocksdb_cache_size"
COLLECTOR = "rocksdb_cf_compact_on_deletion"
OWN_CACHE = frozenset({"type", "size", "high_ratio"})
# The default of rocksdb_cache_size, which a column's own cache has if it says no other size.
USUAL_CACHE = "536870912"
NEWEST_RELEASE = "20"
OF_FAMILIES = frozenset({Scope.FAMILY, Scope.TABLE})


@dataclass(frozen=True, slots=True)
class CephConfiguration:
    """An option set as what to write into Ceph's configuration.

    `options`, `annex` and `cfs` are the texts of the three options of these names, `others` Ceph's own options by
    name. `unsettable` are options that Ceph gives no way to set.
    """

    options: str
    annex: str
    cfs: str
    others: Mapping[str, str]
    unsettable: tuple[str, ...] = ()


def ceph_options(name: str, configuration: Mapping[str, str], place: str, is_monitor: bool = False) -> OptionSet:
    """The option set of a daemon with this configuration, in which every option of Ceph's stands that matters.

    `place` is what an error names. Raises InputError for a text that Ceph or RocksDB would refuse.
    """
    strings = (MONITOR_STRING,) if is_monitor else (STRING, ANNEX)
    values: dict[str, Setting] = {}
    own: dict[str, str] = {}
    notes: list[str] = []
    for string in strings:
        parsed = refuse_rejected(parse_option_string(configuration.get(string, "")), place)
        own |= parsed.ceph_options
        settings = read_assignments(parsed.options, string, place)
        lost = [option for option in settings if _is_of_tables(option)]
        if lost:
            notes.append(f"{', '.join(lost)} in {string}: Ceph sets the options of tables by itself")
        values |= {option: setting for option, setting in settings.items() if option not in lost}
    notes += [f"{option}={value}: Ceph's own, not part of a replay" for option, value in own.items()]
    values |= dict(_by_code(configuration, place, is_monitor))
    sharding = Sharding() if is_monitor else configured_sharding(configuration, place)
    return with_sharding(
        OptionSet(name, values, ceph_options=own, notes=tuple(notes)),
        sharding,
        _size(configuration, CACHE_SIZE, place),
        place,
    )


def configured_sharding(configuration: Mapping[str, str], place: str) -> Sharding:
    """The columns that an OSD is made with; none with `bluestore_rocksdb_cf` off. Raises InputError."""
    if configuration.get("bluestore_rocksdb_cf", "false") != "true":
        return Sharding()
    return read_columns(configuration.get(COLUMNS, ""), place)


def with_sharding(
    options: OptionSet, sharding: Sharding, cache_bytes: int | None, place: str, origin: str = COLUMNS
) -> OptionSet:
    """The set with these columns and their options in place of those it had. Raises InputError."""
    overrides = {}
    for column in sharding.columns:
        settings = dict(_of_column(column, cache_bytes, place, origin))
        if settings:
            overrides[column.prefix] = settings
    bare = Sharding(tuple(replace(column, options={}) for column in sharding.columns))
    return replace(options, overrides=overrides, sharding=bare, families=bare.families)


def to_ceph(options: OptionSet) -> CephConfiguration:
    """The set in Ceph's words: what was changed goes into the annex.

    `others` are those that are not as in the set's release, or the newest one where it has none.
    """
    strings: dict[str, dict[str, str]] = {STRING: {}, ANNEX: {}}
    others: dict[str, str] = {}
    unsettable: list[str] = []
    release = ceph_defaults(options.ceph_version) or ceph_defaults(NEWEST_RELEASE)
    usual = release.options if release is not None else {}
    for name, setting in options.values.items():
        option = find_option(name)
        if option is None or name == "block_cache":
            continue
        is_set = setting.origin in (STRING, MONITOR_STRING, ANNEX, ASKED, CHANGED)
        is_default = setting.value == option.default(options.rocksdb_version)
        if is_set_by_code(name):
            own = own_options(name, setting.value)
            others |= {known: value for known, value in own.items() if value != usual.get(known)}
            unsettable += [name] if not (own or is_default) else []
        elif is_set or not is_default:
            string = ANNEX if setting.origin in (ANNEX, CHANGED) else STRING
            strings[string][name] = setting.value.removesuffix(".000000")
    texts = {string: ",".join(f"{name}={value}" for name, value in given.items()) for string, given in strings.items()}
    sharding, not_in_columns = _sharding_of(options)
    return CephConfiguration(texts[STRING], texts[ANNEX], str(sharding), others, (*unsettable, *not_in_columns))


def ceph_option_of(name: str, ceph_version: str | None) -> str | None:
    """The option of Ceph's that sets an option of RocksDB for all families, in that release; None where none does."""
    release = ceph_defaults(ceph_version) or ceph_defaults(NEWEST_RELEASE)
    known = release.options if release is not None else {}
    if not is_set_by_code(name):
        return ANNEX if ANNEX in known else STRING
    if name == "block_cache":
        return CACHE_SIZE
    own = (
        COLLECTOR if name == COMPACT_ON_DELETION else BLOOM_BITS if name == "filter_policy" else TABLE_OPTIONS.get(name)
    )
    return own if own in known else None


def is_set_by_code(name: str) -> bool:
    """Whether Ceph sets the option by code, from options of its own, and takes it from no option string."""
    return name == COMPACT_ON_DELETION or _is_of_tables(name)


def needs_reshard(difference: Difference) -> bool:
    """Whether a difference stands in the text of the columns, which only a reshard changes."""
    return difference.family is not None and difference.option != COMPACT_ON_DELETION


def _is_of_tables(name: str) -> bool:
    option = find_option(name)
    return option is not None and option.scope is Scope.TABLE


def _by_code(configuration: Mapping[str, str], place: str, is_monitor: bool) -> Iterator[tuple[str, Setting]]:
    for option, name in TABLE_OPTIONS.items():
        value = configuration.get(name)
        if value is not None:
            yield option, Setting(_value(option, INDEX_TYPES.get(value, value), name, place), name)
    bits = _size(configuration, BLOOM_BITS, place) or 0
    yield "filter_policy", Setting(f"bloomfilter:{bits}:false" if bits > 0 else "nullptr", BLOOM_BITS)
    cache = _cache_bytes(configuration, place, is_monitor)
    if cache:
        yield "block_cache", Setting(str(cache), CACHE_SIZE)
    if configuration.get(COLLECTOR) == "true":
        window, trigger = (_size(configuration, f"{COLLECTOR}_{part}", place) for part in ("sliding_window", "trigger"))
        yield COMPACT_ON_DELETION, Setting(f"{{sliding_window={window or 0};trigger={trigger or 0}}}", COLLECTOR)


def _cache_bytes(configuration: Mapping[str, str], place: str, is_monitor: bool) -> int | None:
    """What the block cache has at the open; later it is sized anew every few seconds."""
    whole = _size(configuration, "bluestore_cache_size", place) or _size(
        configuration, "bluestore_cache_size_ssd", place
    )
    ratio = configuration.get("bluestore_cache_kv_ratio")
    if is_monitor or whole is None or ratio is None:
        return _size(configuration, CACHE_SIZE, place)
    return int(whole * float(_value("blob_garbage_collection_age_cutoff", ratio, "bluestore_cache_kv_ratio", place)))


def _size(configuration: Mapping[str, str], name: str, place: str) -> int | None:
    text = configuration.get(name)
    if text is None:
        return None
    number = parse_size(text.replace("_", "", 1))
    if number is None:
        raise InputError(place, f"{name} = {text}: expected a whole number or a size", VALUES_HINT)
    return number


def _value(option: str, value: str, name: str, place: str) -> str:
    try:
        return canonical_value(option, value)
    except ValueError as error:
        raise InputError(place, f"{name} = {value}: {error}", VALUES_HINT) from error


def _of_column(
    column: ShardedColumn, cache_bytes: int | None, place: str, origin: str
) -> Iterator[tuple[str, Setting]]:
    yield from read_assignments(column.rocksdb_options, origin, place, OF_FAMILIES).items()
    cache = column.block_cache
    if cache is None:
        return
    refuse_rejected(cache, place)
    tables = {name: value for name, value in cache.options.items() if name not in OWN_CACHE}
    yield from read_assignments(tables, origin, place, frozenset({Scope.TABLE})).items()
    if column.has_own_cache:
        own = cache.options.get("size", str(cache_bytes or 0))
        if own != "0":
            yield "block_cache", Setting(_value("block_cache", own, f"block_cache of {column.prefix}", place), origin)


def own_options(name: str, value: str) -> dict[str, str]:
    """An option that Ceph sets by code, as options of Ceph's own; none for one it does not set."""
    if name == "filter_policy":
        bits = value.split(":")[1] if value.startswith("bloomfilter:") else "0"
        return {BLOOM_BITS: str(round(float(bits)))}
    if name == COMPACT_ON_DELETION:
        fields = fields_of(value)
        window, trigger = fields.get("sliding_window", "0"), fields.get("trigger", "0")
        if trigger == "0":
            return {COLLECTOR: "false"}
        return {COLLECTOR: "true", f"{COLLECTOR}_sliding_window": window, f"{COLLECTOR}_trigger": trigger}
    if name in TABLE_OPTIONS:
        words = {known: word for word, known in INDEX_TYPES.items()}
        return {TABLE_OPTIONS[name]: words.get(value, value)}
    return {}


def _sharding_of(options: OptionSet) -> tuple[Sharding, list[str]]:
    """The columns with what they have for themselves, of tables inside `block_cache`; and what no column can have.

    All shards of a column have the same options, and no column has a collector of its own.
    """
    columns, unsettable = [], []
    for column in options.sharding.columns:
        shards = [_own_of(options, family) for family in column.families]
        same = {name: value for name, value in shards[0].items() if all(one.get(name) == value for one in shards)}
        unsettable += [name for shard in shards for name in shard if name not in same or name == COMPACT_ON_DELETION]
        plain = {name: value for name, value in same.items() if not _is_of_tables(name) and name != COMPACT_ON_DELETION}
        inside = {name: value for name, value in same.items() if _is_of_tables(name)}
        cache = inside.pop("block_cache", None)
        if cache is not None:
            inside = {"type": "binned_lru", **({} if cache == USUAL_CACHE else {"size": cache}), **inside}
        if inside:
            plain["block_cache"] = "{" + ";".join(f"{name}={value}" for name, value in inside.items()) + "}"
        columns.append(replace(column, options=plain))
    return Sharding(tuple(columns)), [*dict.fromkeys(unsettable)]


def _own_of(options: OptionSet, family: str) -> dict[str, str]:
    """What a family has that not all have."""
    return {
        name: setting.value.removesuffix(".000000")
        for name, setting in sorted(options.settings_of(family).items())
        if name not in options.values or options.values[name].value != setting.value
    }
