"""The options of a run: the option set that a log shows, family by family, so that it can be replayed under its own.

What the log printed, or else what its bundle gives (`analyzer/options/options_in_force.py`), in the spelling of an
OPTIONS file. What all families share is what the default family has; the others have what differs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.options.option_defaults import ceph_defaults
from lsmlens.analyzer.options.option_evidence import Source
from lsmlens.analyzer.options.option_strings import CEPH_NAMES
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.options.sharding import DEFAULT_FAMILY, Sharding, parse_sharding, parse_show_sharding
from lsmlens.tuners.options import resolution
from lsmlens.tuners.options.ceph_configuration import BLOOM_BITS, COLUMNS
from lsmlens.tuners.options.family_settings import shared_and_own, without_derived
from lsmlens.tuners.options.option_catalogue import COMPACT_ON_DELETION, Option, find_option
from lsmlens.tuners.options.option_set import OptionSet, Setting
from lsmlens.tuners.options.option_values import canonical_value, spelled_for
from lsmlens.tuners.options.presets import release_of
from lsmlens.tuners.options.printed_options import in_option_words, origin_of
from lsmlens.tuners.options.unprinted_options import unprinted_options

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
            run.run.name,
            "the log tells no options",
            "give a log that holds an open, or the options: --options ceph:reef",
        )
    by_family: dict[str | None, list[OptionInForce]] = defaultdict(list)
    for one in run.options:
        by_family[one.family].append(one)
    reader = _Reader(run.run.rocksdb_version, _bloom_bits(run))
    database = reader.settings(by_family.pop(None, []))
    families = {family: reader.settings(ones) for family, ones in by_family.items() if family is not None}
    sharding = _sharding(run, families)
    named = dict.fromkeys(family for family in (DEFAULT_FAMILY, *sharding.families, *families) if family in families)
    shared, overrides = shared_and_own({family: families[family] for family in named}, run.run.rocksdb_version)
    return OptionSet(
        run.run.name,
        {**database, **shared},
        overrides,
        tuple(named),
        sharding,
        run.run.rocksdb_version,
        run.run.ceph_version,
        {one.name: one.value for one in run.options if one.name in CEPH_NAMES},
        notes=(*_inferred(by_family), *reader.notes),
    )


class _Reader:
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

    def _can_be_set(self, option: Option, value: str) -> bool:
        """Whether a replay can set it; what Ceph or an application set by code is noted and left out."""
        if option.name in resolution.PLACES or option.name == "merge_operator":
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

    def _whole(self, option: Option, value: str) -> str:
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
    release = ceph_defaults(run.run.ceph_version)
    return known or (release.options.get(BLOOM_BITS) if release is not None else None)


def _sharding(run: "RunAnalysis", families: Iterable[str]) -> Sharding:
    """The columns these families are shards of, by the nearest text that speaks of just these families."""
    named = set(families)
    release = release_of(run.run.ceph_version)
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
