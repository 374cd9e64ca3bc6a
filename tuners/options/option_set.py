"""An option set: what someone asks a database to run with, and where each value came from.

It holds just what is set. What is not set is RocksDB's default of the version the set is resolved for.

Resolved, it is all options of one database: defaults first, then what all families share, then a column's own, then a
family's own. Defaults are those of the version asked for, unless the set was made for an older one: Pacific's options
mean the defaults of its RocksDB, also where only a newer one is there, with other defaults. What a log of a newer
version printed and is no more than its default counts as not set. What RocksDB derives from other options where nothing
is set (`DERIVED`) is derived here as well, so that nothing is left to it; what it would not let stand (recycled logs)
is said. Checked by opening databases of the versions in the catalogue and reading their OPTIONS files.

Scaled, a replay has the shape of a larger one in 1/k of its size: write amplification depends on ratios, of buffers to
lifetimes, of level 0 to the next, of the database to its levels. So sizes are divided by k, and so is the amount of
work. The clock keeps its length, and with it all times.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.options.option_defaults import opened_value
from lsmlens.analyzer.options.sharding import DEFAULT_FAMILY, Sharding
from lsmlens.tuners.options import validity
from lsmlens.tuners.options.option_catalogue import (
    COMPACT_ON_DELETION,
    VALUES_HINT,
    Scope,
    defaults,
    find_option,
    nearest_version,
    numbers,
    unknown_option,
)
from lsmlens.tuners.options.option_values import (
    ENUMERATIONS,
    canonical_value,
    compression_list,
    fields_of,
    fields_text,
    spelled_for,
)
from lsmlens.tuners.options.options_file import options_file
from lsmlens.tuners.options.resolved_options import Effective, ResolvedOptions

# Origins that are no source: what was changed in a set, and what an options string asks for as a whole.
CHANGED, ASKED = "changed", "options string"
# What RocksDB works out from other options of a family where it is not set, or 0.
DERIVED = ("arena_block_size", "max_compaction_bytes")
ARENA_ALIGNMENT = 4096
LARGEST_ARENA = 1 << 20
# RocksDB's defaults of these are other ones for universal and FIFO compaction; there they are left to it.
DEFAULTS_OF_LEVEL_STYLE = frozenset(
    {
        "level0_slowdown_writes_trigger",
        "level0_stop_writes_trigger",
        "level_compaction_dynamic_level_bytes",
        "num_levels",
        "periodic_compaction_seconds",
        "ttl",
    }
)
# Where a database lives is up to who opens it.
PLACES = frozenset({"wal_dir", "db_log_dir"})
# What is divided. Blocks, filters, ratios, counts and times are not; rates are, since the same time holds less work.
SCALED = frozenset(
    {
        "arena_block_size",
        "blob_file_size",
        "block_cache",
        "block_cache_compressed",
        "db_write_buffer_size",
        "delayed_write_rate",
        "hard_pending_compaction_bytes_limit",
        "max_bytes_for_level_base",
        "max_compaction_bytes",
        "max_total_wal_size",
        "max_write_buffer_size_to_maintain",
        "soft_pending_compaction_bytes_limit",
        "target_file_size_base",
        "write_buffer_size",
    }
)
# Inside compaction_options_fifo; and those of compact_on_deletion, which count a table's entries.
SCALED_FIELDS = frozenset({"max_table_files_size", "max_data_files_size", "sliding_window", "trigger"})
UNLIMITED = 1 << 62
OF_THE_WAL = ("recycle_log_file_num", "wal_recovery_mode")
# SanitizeOptions in db/column_family.cc: smaller buffers are made this large.
LEAST_WRITE_BUFFER = 64 << 10


@dataclass(frozen=True, slots=True)
class Setting:
    """A value, in the spelling of an OPTIONS file, and where it came from: the name of a Ceph option, a file, a log.

    Nobody need have asked for what was only found in force: it may be no more than a default.
    """

    value: str
    origin: str
    is_asked: bool = True


Settings = Mapping[str, Setting]


@dataclass(frozen=True, slots=True)
class Difference:
    """An option that two sets do not agree on; `family` is None for the database and what all families share.

    Values are as in an OPTIONS file, defaults included; None where the version compared has no such option.
    """

    family: str | None
    option: str
    value: str | None
    other: str | None


@dataclass(frozen=True, slots=True)
class OptionSet:
    """The options of a database.

    `values` are those of the database, and those of all families and their tables alike. `overrides` are what single
    families have over these, under the family's name or, for all shards of a column (`O` for O-0, O-1, O-2), under its
    prefix. `families` are those the set speaks of, in order of their ids, none where it fits any. `sharding` is how
    BlueStore spreads its keys over them; options written there are in `overrides`. `rocksdb_version` and
    `ceph_version` are those the set was made for. `ceph_options` are what Ceph takes out of its option string for
    itself. Every size is divided by `scale` when the set is resolved. `notes` say what could not be known.
    """

    name: str
    values: Settings = field(default_factory=dict)
    overrides: Mapping[str, Settings] = field(default_factory=dict)
    families: tuple[str, ...] = ()
    sharding: Sharding = field(default_factory=Sharding)
    rocksdb_version: str | None = None
    ceph_version: str | None = None
    ceph_options: Mapping[str, str] = field(default_factory=dict)
    scale: float = 1.0
    notes: tuple[str, ...] = ()

    def resolve(self, families: Sequence[str], rocksdb_version: str) -> ResolvedOptions:
        """Every option of that version of RocksDB, for these families in order of their ids, "default" first.

        Raises InputError for options that cannot stand together.
        """
        return resolved(self, _with_default(families), rocksdb_version)

    def validate(self, families: Sequence[str] = (), rocksdb_version: str | None = None) -> None:
        """Raises InputError, with the reason, if RocksDB would refuse these options or change them by itself."""
        version = rocksdb_version or self.rocksdb_version
        problems = validity.problems(effective(self, _with_default(families or self.families), version))
        if problems:
            raise validity.refusal(self.name, problems)

    def scaled(self, k: float) -> "OptionSet":
        """The same shape in 1/k of the size: buffers, levels, files, their limits and caches are divided by k.

        The names are in `SCALED`. Blocks, filters, ratios, counts and times stay. Raises ValueError for a
        k that is not positive.
        """
        if not k > 0:
            raise ValueError(f"a scale is positive, not {k}")
        return replace(self, scale=self.scale * k)

    def named(self, name: str) -> "OptionSet":
        """The same set under another name."""
        return replace(self, name=name)

    def changed(
        self, option: str, value: str, family: str | None = None, origin: str = CHANGED, is_for_all: bool = False
    ) -> "OptionSet":
        """The set with one option changed: of the database or all families, or of one family or column.

        What single families have over all stays over it, unless it `is_for_all`. Raises InputError for an option no
        version has, for a value it cannot have, and for the database's option in a family.
        """
        setting = Setting(self._canonical(option, value), origin)
        if family is None:
            overrides = self.overrides
            if is_for_all:
                overrides = {name: _without(settings, option) for name, settings in overrides.items()}
            return replace(self, values={**self.values, option: setting}, overrides=overrides)
        found = find_option(option)
        if found is not None and found.scope is Scope.DATABASE:
            raise InputError(self.name, f"{option} is of the whole database, not of family {family}", "set it for all")
        own = {**self.overrides.get(family, {}), option: setting}
        return replace(self, overrides={**self.overrides, family: own})

    def settings_of(self, family: str) -> dict[str, Setting]:
        """What is set for a family and its tables: what all share, then its column's own, then its own."""
        shared = {name: one for name, one in self.values.items() if scope_of(name) is not Scope.DATABASE}
        column = self.overrides.get(column_of(family), {}) if column_of(family) != family else {}
        return {**shared, **column, **self.overrides.get(family, {})}

    def value_of(self, option: str, family: str | None = None, rocksdb_version: str | None = None) -> str | None:
        """The value in force, defaults included; sizes are not divided. None if that version has no such option.

        `family` is needed for a family's option, else the one all families share is meant.
        """
        found = find_option(option)
        if found is None:
            return None
        version = rocksdb_version or self.rocksdb_version
        setting, default = self._setting(option, family), found.default(version)
        if setting is None:
            return default
        return setting.value if default is None else spelled_for(setting.value, default)

    def origin_of(self, option: str, family: str | None = None) -> str | None:
        """Where an option's value came from; None for RocksDB's default."""
        setting = self._setting(option, family)
        return None if setting is None else setting.origin

    def _setting(self, option: str, family: str | None) -> Setting | None:
        """What is set of an option: by the family itself, else its column, else for all."""
        places = () if family is None else (self.overrides.get(family), self.overrides.get(column_of(family)))
        for one in places:
            if one and option in one:
                return one[option]
        return self.values.get(option)

    def to_options_file(self, families: Sequence[str] = (), rocksdb_version: str | None = None) -> str:
        """The text of an OPTIONS file of a version, of the set's own or the newest where none is given.

        Raises InputError as `resolve` does.
        """
        version = rocksdb_version or self.rocksdb_version or nearest_version(None)
        resolved = self.resolve(families or self.families, version)
        whole = {name: {**values, "table_factory": "BlockBasedTable"} for name, values in resolved.families.items()}
        return options_file(replace(resolved, families=whole))

    def differences(self, other: "OptionSet", rocksdb_version: str | None = None) -> tuple[Difference, ...]:
        """What is not the same in the other set: of the database and all families, then family by family.

        A family is named where the difference is its own. Values are those of a version; of that of the sets, if none
        is given.
        """
        version = rocksdb_version or self.rocksdb_version or other.rocksdb_version
        return tuple(self._differences(other, version))

    def _differences(self, other: "OptionSet", version: str | None) -> Iterator[Difference]:
        shared = {}
        for option in sorted({*self.values, *other.values}):
            mine, theirs = self.value_of(option, None, version), other.value_of(option, None, version)
            shared[option] = (mine, theirs)
            if mine != theirs:
                yield Difference(None, option, mine, theirs)
        for family in self._compared_families(other):
            options = {*self.settings_of(family), *other.settings_of(family)}
            for option in sorted(options):
                mine, theirs = self.value_of(option, family, version), other.value_of(option, family, version)
                if mine != theirs and shared.get(option) != (mine, theirs):
                    yield Difference(family, option, mine, theirs)

    def _compared_families(self, other: "OptionSet") -> list[str]:
        """The families of both sets, and those that only options are known of."""
        families = dict.fromkeys((*self.families, *other.families))
        columns = {column_of(family) for family in families}
        named = [name for name in sorted({*self.overrides, *other.overrides}) if name not in columns]
        return [*dict.fromkeys((*families, *named))]

    def _canonical(self, option: str, value: str) -> str:
        if find_option(option) is None:
            raise InputError(self.name, *unknown_option(option))
        try:
            return canonical_value(option, value)
        except ValueError as error:
            raise InputError(self.name, str(error), VALUES_HINT) from error


def _without(settings: Settings, option: str) -> Settings:
    return {name: one for name, one in settings.items() if name != option}


def column_of(family: str) -> str:
    """The column a family is a shard of by its name: `O` for `O-1`, itself for any other."""
    column, _, shard = family.rpartition("-")
    return column if column and shard.isdecimal() else family


def scope_of(option: str) -> Scope | None:
    """The scope of an option; None if no version has it."""
    found = find_option(option)
    return None if found is None else found.scope


def _with_default(families: Sequence[str]) -> tuple[str, ...]:
    return (DEFAULT_FAMILY, *dict.fromkeys(family for family in families if family != DEFAULT_FAMILY))


def effective(options: OptionSet, families: Sequence[str], version: str | None) -> Effective:
    """The options of these families at a version, without regard to whether they can stand together."""
    left_out: dict[str, str] = {}
    shared = {name: one for name, one in options.values.items() if scope_of(name) is Scope.DATABASE}
    made_for = _made_for(options, version)
    database = _over(_defaults(Scope.DATABASE, version, made_for), _taken(options, shared, version, left_out))
    asked: dict[str | None, frozenset[str]] = {None: frozenset(shared)}
    of_families: dict[str, dict[str, str]] = {}
    of_tables: dict[str, dict[str, str]] = {}
    for family in families:
        settings = options.settings_of(family)
        taken = _taken(options, settings, version, left_out)
        asked[family] = frozenset(settings)
        for scope, into in ((Scope.FAMILY, of_families), (Scope.TABLE, of_tables)):
            own = {name: value for name, value in taken.items() if scope_of(name) is scope}
            into[family] = _over(_defaults(scope, version, made_for), own)
        if of_families[family].get("compaction_style") != "kCompactionStyleLevel":
            for name in DEFAULTS_OF_LEVEL_STYLE - settings.keys():
                of_families[family].pop(name, None)
    warnings = [f"{name}={value}: RocksDB {version} has no such option, left out" for name, value in left_out.items()]
    return Effective(version, database, of_families, of_tables, asked, (*options.notes, *warnings))


def resolved(options: OptionSet, families: Sequence[str], version: str) -> ResolvedOptions:
    """All options for one database, families in that order. Raises InputError if they cannot stand together."""
    found = effective(options, families, version)
    problems = validity.problems(found)
    if problems:
        raise validity.refusal(options.name, problems)
    warnings = [*found.warnings]
    database = dict(divided(_opened(found, warnings), options.scale, warnings))
    of_families = {}
    for family, values in found.families.items():
        own = dict(divided(values, options.scale, warnings))
        own |= derived(own, _made_for(options, version))
        if _whole(fields_of(own.get(COMPACT_ON_DELETION, "{}")).get("trigger")) == 0:
            own.pop(COMPACT_ON_DELETION, None)
        # Newer versions take this, beside options of tables, for the default of all of these.
        own.pop("table_factory", None)
        of_families[family] = dict(sorted(own.items()))
    return ResolvedOptions(
        options.name,
        version,
        {name: value for name, value in sorted(database.items()) if name not in PLACES},
        of_families,
        {family: dict(divided(values, options.scale, warnings)) for family, values in found.tables.items()},
        tuple(dict.fromkeys(warnings)),
    )


def derived(values: Mapping[str, str], version: str | None) -> dict[str, str]:
    """What RocksDB makes of the options `DERIVED` where a family's options leave them at 0, or unset, and of ages.

    arena_block_size is an eighth of the write buffer, at most 1 MiB in newer versions, to whole pages;
    max_compaction_bytes is 25 times the target file size. Universal compaction knows one age, so that `ttl` is its
    `periodic_compaction_seconds` where that is longer, or none. (Seen in the OPTIONS files of 6.8, 7.9 and 9.8.)
    """
    found = {}
    arena = find_option("arena_block_size")
    if _whole(values.get("arena_block_size")) == 0:
        eighth = _whole(values.get("write_buffer_size")) // 8
        if arena is not None and arena.default(version) == str(LARGEST_ARENA):
            eighth = min(eighth, LARGEST_ARENA)
        found["arena_block_size"] = str(-(-eighth // ARENA_ALIGNMENT) * ARENA_ALIGNMENT)
    ages = [age for age in (_whole(values.get(name)) for name in ("ttl", "periodic_compaction_seconds")) if age]
    if values.get("compaction_style") == "kCompactionStyleUniversal" and _whole(values.get("ttl")):
        found["periodic_compaction_seconds"] = str(min(ages))
    if "max_compaction_bytes" in values and _whole(values["max_compaction_bytes"]) == 0:
        found["max_compaction_bytes"] = str(25 * _whole(values.get("target_file_size_base")))
    return found


def _made_for(options: OptionSet, version: str | None) -> str | None:
    """The version whose defaults are meant: the one a set was made for, if the one asked for is newer.

    A newer version takes the defaults of an older one, but not always the other way round.
    """
    own = options.rocksdb_version
    if own is None or (version is not None and numbers(version) <= numbers(own)):
        return version
    return own


def _defaults(scope: Scope, version: str | None, made_for: str | None) -> dict[str, str]:
    """The options of a version, with their defaults in the version meant where it has them."""
    meant = defaults(scope, made_for)
    return {name: spelled_for(meant.get(name, default), default) for name, default in defaults(scope, version).items()}


def _over(default: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """A version's defaults with these over them, spelled as it spells them; what is derived is left at 0."""
    values = {name: "0" if name in DERIVED else value for name, value in default.items()}
    for name, value in own.items():
        if name in default:
            values[name] = spelled_for(value, default[name])
        else:
            values[name] = compression_list(value) if name.endswith("compression_opts") else value
    return values


def _taken(
    options: OptionSet, settings: Mapping[str, Setting], version: str | None, left_out: dict[str, str]
) -> dict[str, str]:
    """The values of those options that a version has, as far as they are not just defaults of a newer one.

    Of the others those go into `left_out` that were asked for.
    """
    own = options.rocksdb_version
    is_older = own is not None and version is not None and numbers(version) < numbers(own)
    taken = {}
    for name, setting in settings.items():
        option = find_option(name)
        is_default = option is not None and not setting.is_asked and setting.value == option.default(own)
        if option is None or not option.is_in(version):
            if not is_default:
                left_out[name] = setting.value
            continue
        if setting.is_asked and setting.value.startswith("{") and (default := option.default(version)):
            unknown = fields_of(setting.value).items() - fields_of(default).items()
            left_out |= {f"{name}.{key}": one for key, one in unknown if key not in fields_of(default)}
        if not (is_older and is_default) and (setting.value or not option.is_unwritten(version)):
            taken[name] = setting.value
    return taken


def _opened(found: Effective, warnings: list[str]) -> dict[str, str]:
    """The database's options as RocksDB lets them stand, with a warning for each it changes."""
    database = dict(found.database)
    modes = {name: str(number) for number, name in ENUMERATIONS["wal_recovery_mode"].items()}
    asked = {name: modes.get(database[name], database[name]) for name in OF_THE_WAL if name in database}
    for name, value in asked.items():
        opened = opened_value(name, asked, found.version)
        if opened is not None and opened != value:
            opened = ENUMERATIONS[name][int(opened)] if name in ENUMERATIONS else opened
            if name in found.asked[None]:
                warnings.append(f"{name}={database[name]}: RocksDB {found.version} runs with {opened}")
            database[name] = opened
    if database.get("new_table_reader_for_compaction_inputs") and _whole(database.get("compaction_readahead_size")):
        database["new_table_reader_for_compaction_inputs"] = "true"
    return database


def _whole(text: str | None) -> int:
    return int(text) if text is not None and text.lstrip("-").isdecimal() else 0


def divided(values: Mapping[str, str], scale: float, warnings: list[str]) -> Iterator[tuple[str, str]]:
    """Options with their sizes divided; what cannot be divided as far is said among the warnings."""
    for name, value in values.items():
        if scale == 1:
            yield name, value
        elif name in SCALED:
            yield name, _least(name, _division(value, scale), warnings)
        elif value.startswith("{") and SCALED_FIELDS & (fields := fields_of(value)).keys():
            own = {key: _division(one, scale) if key in SCALED_FIELDS else one for key, one in fields.items()}
            yield name, fields_text(own)
        else:
            yield name, value


def _division(value: str, scale: float) -> str:
    number = _whole(value)
    return str(max(1, round(number / scale))) if 0 < number < UNLIMITED else value


def _least(name: str, value: str, warnings: list[str]) -> str:
    if name == "write_buffer_size" and _whole(value) < LEAST_WRITE_BUFFER:
        warnings.append(
            f"write_buffer_size is divided down to {value} bytes, and RocksDB has none under {LEAST_WRITE_BUFFER}:"
            " the shape is not kept at this scale"
        )
        return str(LEAST_WRITE_BUFFER)
    return value
