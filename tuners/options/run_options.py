"""The options of a run: the option set that a log shows, family by family, so that it can be replayed under its own.

What the log printed, or else what its bundle gives (`analyzer/options/options_in_force.py`), in the spelling of an
OPTIONS file. What all families share is what the default family has; the others have what differs. A log as it prints
options, and an OPTIONS file:

    Options.compression: LZ4                                    compression=kLZ4Compression
    Options.wal_recovery_mode: 2                                wal_recovery_mode=kPointInTimeRecovery
    Options.compression_opts.level: 32767, …strategy: 0, …      compression_opts={level=32767;strategy=0;…}
    Options.max_bytes_for_level_multiplier_addtl[0]: 1, …       max_bytes_for_level_multiplier_additional=1:1:1:1:1:1:1
    Options.compression[2]: ZSTD                                compression_per_level=kNoCompression:…:kZSTD
    block_cache_options: capacity : 1449551462                  block_cache=1449551462
    Options.table_properties_collectors: CompactOnDeletion…     compact_on_deletion={sliding_window=32768;trigger=16384}

Names and fields are put together here; how a value is spelled is for `option_values`. Where the log holds no open (an
OSD's that was rotated since it started), the options are what its configuration says, `config show` over ceph.conf over
the release's, and what its flushes give away.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.options.ceph_conf import parse_ceph_conf
from lsmlens.analyzer.options.option_defaults import ceph_defaults
from lsmlens.analyzer.options.option_evidence import Source
from lsmlens.analyzer.options.option_strings import CEPH_NAMES
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.options.sharding import DEFAULT_FAMILY, Sharding, parse_sharding, parse_show_sharding
from lsmlens.tuners.options.assignments import read_assignments
from lsmlens.tuners.options.ceph_configuration import BLOOM_BITS, COLUMNS, USUAL_CACHE, ceph_options, with_sharding
from lsmlens.tuners.options.option_catalogue import COMPACT_ON_DELETION, KnownOption, find_option
from lsmlens.tuners.options.option_set import DERIVED, PLACES, OptionSet, Setting, Settings, derived
from lsmlens.tuners.options.option_values import canonical_value, fields_text, spelled_for
from lsmlens.tuners.options.presets import bundled_version, release_of

if TYPE_CHECKING:
    from lsmlens.analyzer.analysis import RunAnalysis
    from lsmlens.analyzer.options.options_in_force import OptionInForce

NOTHING = frozenset({"none", "nullptr", "unknown", ""})
# What a log prints of RocksDB's own filter, without its bits.
FILTERS = frozenset({"rocksdb.BuiltinBloomFilter", "bloomfilter", "rocksdb.BloomFilter"})
USUAL_BITS = "10"
# What code gives a database and no option string can.
BY_CODE = frozenset(
    {
        "compaction_filter",
        "compaction_filter_factory",
        "comparator",
        "file_checksum_gen_factory",
        "memtable_insert_with_hint_prefix_extractor",
        "prefix_extractor",
        "rate_limiter",
        "sst_partitioner_factory",
        "wal_filter",
    }
)
# Of what no OPTIONS file holds, this matters to a replay.
UNWRITTEN = frozenset({"block_cache", "compression_per_level", COMPACT_ON_DELETION})
OF_ONE_FAMILY = frozenset({Source.FLUSHES, Source.SHARDING})
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
# RocksDB's defaults of these are in no OPTIONS file.
UNSET = {
    COMPACT_ON_DELETION: "{sliding_window=0;trigger=0}",
    "block_cache": "8388608",
    "compression_per_level": "",
}


def options_of_run(run: "RunAnalysis") -> OptionSet:
    """The options a run was in force with, every family's.

    `notes` say of which families the log printed none and what was taken for them, and what no replay can set. Raises
    InputError for a run that tells no options.
    """
    if {one.source for one in run.options}.isdisjoint((Source.LOG, Source.SET_OPTIONS)):
        configured = unprinted_options(run)
        if configured is not None:
            return configured
        raise InputError(
            run.name,
            "the log tells no options",
            "give a log that holds an open, or the options: --options ceph:reef",
        )
    by_family: dict[str | None, list[OptionInForce]] = defaultdict(list)
    for one in run.options:
        by_family[one.family].append(one)
    reader = _SettingsReader(run.rocksdb_version, _bloom_bits(run))
    database = reader.settings(by_family.pop(None, []))
    families = {family: reader.settings(ones) for family, ones in by_family.items() if family is not None}
    sharding = _sharding(run, families)
    named = dict.fromkeys(family for family in (DEFAULT_FAMILY, *sharding.families, *families) if family in families)
    shared, overrides = shared_and_own({family: families[family] for family in named}, run.rocksdb_version)
    return OptionSet(
        run.name,
        {**database, **shared},
        overrides,
        tuple(named),
        sharding,
        run.rocksdb_version,
        run.ceph_version,
        {one.name: one.value for one in run.options if one.name in CEPH_NAMES},
        notes=(*_inferred(by_family), *reader.notes),
    )


class _SettingsReader:
    """Takes the options of one family after the other, in the words of a log."""

    def __init__(self, version: str | None, bloom_bits: str | None) -> None:
        self._notes: list[str] = []
        self._by_code: dict[str, list[str]] = {}
        self._version = version
        self._bloom_bits = bloom_bits

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be taken as it was in force."""
        by_code = []
        for name, values in self._by_code.items():
            more = f" and {len(values) - 1} more" if len(values) > 1 else ""
            by_code.append(f"{name} {values[0]}{more}: set by code, a replay goes without")
        return (*dict.fromkeys(self._notes), *by_code)

    def settings(self, ones: "Iterable[OptionInForce]") -> dict[str, Setting]:
        """The settings of one family, or of the database, without what RocksDB derives by itself."""
        found: dict[str, Setting] = {}
        for name, value, origin in in_option_words(ones):
            option = find_option(name)
            if option is None or not self._can_be_set(option, value):
                continue
            value = self._filter(value) if name == "filter_policy" else value
            try:
                found[name] = Setting(self._whole(option, canonical_value(name, value)), origin, is_asked=False)
            except ValueError as error:
                self._notes.append(f"{error}; left out")
        return without_derived(found, self._version)

    def _can_be_set(self, option: KnownOption, value: str) -> bool:
        """Whether a replay can set it; what Ceph or an application set by code is noted and left out."""
        if option.name in PLACES or option.name == "merge_operator":
            return False
        if option.name in BY_CODE:
            if option.example.removeprefix("leveldb.") not in value and value.lower() not in NOTHING:
                self._by_code.setdefault(option.name, []).append(value)
            return False
        if option.name == "table_factory":
            if value != "BlockBasedTable":
                self._notes.append(f"table_factory {value}: a replay has block-based tables only")
            return False
        if option.is_unwritten(self._version):
            return option.name in UNWRITTEN
        return option.is_in(self._version)

    def _whole(self, option: KnownOption, value: str) -> str:
        """A value in braces with the fields that were not printed."""
        default = option.default(self._version)
        return value if default is None or not value.startswith("{") else spelled_for(value, default)

    def _filter(self, value: str) -> str:
        """A filter with its bits, which the log does not print."""
        if value not in FILTERS:
            return value
        if self._bloom_bits is None:
            self._notes.append(f"filter_policy {value}: the log prints no bits, {USUAL_BITS} a key are taken")
        return f"bloomfilter:{self._bloom_bits or USUAL_BITS}:false"


def _inferred(by_family: "Mapping[str | None, Iterable[OptionInForce]]") -> Iterator[str]:
    """Which families' options the log does not print, and where what is taken for them came from."""
    families: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for family, ones in by_family.items():
        sources = {one.source for one in ones}
        if family is None or not sources.isdisjoint((Source.LOG, Source.SET_OPTIONS)):
            continue
        own = [f"{one.name}={one.value}: {_briefly(one)}" for one in ones if _is_of_one_family(one)]
        rest = sorted({one.source.value for one in ones if not _is_of_one_family(one)})
        families[(*rest, *own)].append(family)
    for told, names in families.items():
        whose = f"{'family' if len(names) == 1 else 'families'} {', '.join(sorted(names))}"
        yield f"the log prints no options of {whose}; taken: {'; '.join(told)}"


def _briefly(one: "OptionInForce") -> str:
    """Where a value came from, without how many flushes gave it away, which differs from family to family."""
    return one.source.value if one.source is Source.FLUSHES else origin_of(one)


def _is_of_one_family(one: "OptionInForce") -> bool:
    return one.source in OF_ONE_FAMILY or one.detail.startswith(COLUMNS)


def _bloom_bits(run: "RunAnalysis") -> str | None:
    known = value_of(run.ceph_options, None, BLOOM_BITS)
    release = ceph_defaults(run.ceph_version)
    return known or (release.options.get(BLOOM_BITS) if release is not None else None)


def _sharding(run: "RunAnalysis", families: Iterable[str]) -> Sharding:
    """The columns these families are shards of, by the nearest text that speaks of just these families."""
    named = set(families)
    release = release_of(run.ceph_version)
    stored = parse_show_sharding(run.beside.sharding_output or "")
    configured = run.beside.config_show.get(COLUMNS)
    for sharding in (
        stored or Sharding(),
        parse_sharding(configured) if isinstance(configured, str) else Sharding(),
        release.sharding if release is not None else Sharding(),
    ):
        if sharding.columns and not sharding.rejected and set(sharding.families) == named:
            return Sharding(tuple(replace(column, options={}) for column in sharding.columns))
    return Sharding()


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


def unprinted_options(run: "RunAnalysis") -> OptionSet | None:
    """The option set of a Ceph daemon by its configuration; None where no configuration is known.

    Raises InputError for a configuration that Ceph would refuse.
    """
    name, beside = run.name, run.beside
    release = ceph_defaults(run.ceph_version)
    shown = {option: value for option, value in beside.config_show.items() if isinstance(value, str)}
    filed = parse_ceph_conf(beside.ceph_conf or "").options_of(name.rsplit("/", 1)[-1])
    if not (shown or filed) and release is None:
        return None
    configuration = {**(release.options if release is not None else {}), **filed, **shown}
    options = ceph_options(name, configuration, name, run.is_monitor)
    stored = parse_show_sharding(beside.sharding_output or "")
    if stored is not None:
        options = with_sharding(options, stored, int(USUAL_CACHE), name, Source.SHARDING.value)
    sources = [Source.CONFIG_SHOW.value] if shown else [Source.CEPH_CONF.value] if filed else []
    sources += [f"default of {release.name}"] if release is not None and not shown else []
    sources += [Source.SHARDING.value] if stored is not None else []
    for one in run.options:
        if one.source is Source.FLUSHES and one.family is not None:
            seen = read_assignments({one.name: one.value}, f"{one.source.value}, {one.detail}", name)
            own = {**options.overrides.get(one.family, {}), **seen}
            options = replace(options, overrides={**options.overrides, one.family: own})
    return replace(
        options,
        rocksdb_version=run.rocksdb_version or bundled_version(run.ceph_version),
        ceph_version=run.ceph_version,
        notes=(f"the log prints no options; taken: {', '.join(sources)}", *options.notes),
    )


def shared_and_own(
    families: Mapping[str, Settings], version: str | None
) -> tuple[dict[str, Setting], dict[str, dict[str, Setting]]]:
    """The settings of the first family, which all share, and what each other has that these do not say.

    A family without an option that the first one has, has RocksDB's default.
    """
    if not families:
        return {}, {}
    shared = dict(next(iter(families.values())))
    own = {family: _differing(settings, shared, version) for family, settings in families.items()}
    return shared, {family: settings for family, settings in own.items() if settings}


def without_derived(settings: Settings, version: str | None) -> dict[str, Setting]:
    """These settings but those that RocksDB would derive from the others, where they are what it would derive."""
    values = {name: setting.value for name, setting in settings.items()}
    worked_out = derived({**values, **dict.fromkeys(DERIVED, "0")}, version)
    if values.get("compaction_readahead_size", "0") != "0":
        worked_out["new_table_reader_for_compaction_inputs"] = "true"
    return {name: setting for name, setting in settings.items() if worked_out.get(name) != setting.value}


def _differing(own: Settings, shared: Settings, version: str | None) -> dict[str, Setting]:
    differing = {}
    for name, setting in own.items():
        without = shared[name].value if name in shared else _unset(name, version)
        if setting.value != without:
            differing[name] = setting
    for name in shared.keys() - own.keys():
        default = _unset(name, version)
        if default is not None and default != shared[name].value:
            differing[name] = Setting(default, "default of RocksDB", is_asked=False)
    return differing


def _unset(name: str, version: str | None) -> str | None:
    """What a family has of an option that nobody set."""
    option = find_option(name)
    return UNSET.get(name, option.default(version) if option is not None else None)
