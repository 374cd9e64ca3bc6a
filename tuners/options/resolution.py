"""Resolving: an option set, with the defaults of a RocksDB version, as all options of one database.

Defaults first, then what all families share, then a column's own, then a family's own. Defaults are those of the
version asked for, unless the set was made for an older one: Pacific's options mean the defaults of its RocksDB, also
where only a newer one is there, with other defaults. What a log of a newer version printed and is no more than its
default counts as not set.

What RocksDB derives from other options where nothing is set (`DERIVED`) is derived here as well, so that nothing is
left to it; what it would not let stand (recycled logs) is said. Checked by opening databases of the versions in the
catalogue and reading their OPTIONS files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsmlens.analyzer.options.option_defaults import opened_value
from lsmlens.tuners.options import validity
from lsmlens.tuners.options.enumerations import ENUMERATIONS
from lsmlens.tuners.options.option_catalogue import COMPACT_ON_DELETION, Scope, defaults, find_option, numbers
from lsmlens.tuners.options.option_values import (
    compression_list,
    fields_of,
    spelled_for,
)
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.options.scaling import divided

if TYPE_CHECKING:
    from lsmlens.tuners.options.option_set import OptionSet, Setting

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


@dataclass(frozen=True, slots=True)
class Effective:
    """The options of a database as RocksDB would see them: defaults of a version and a set over them, not divided.

    `asked` are the options of each family (None: the database's) that the set itself has.
    """

    version: str | None
    database: dict[str, str]
    families: dict[str, dict[str, str]]
    tables: dict[str, dict[str, str]]
    asked: Mapping[str | None, frozenset[str]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def effective(options: "OptionSet", families: Sequence[str], version: str | None) -> Effective:
    """The options of these families at a version, without regard to whether they can stand together."""
    left_out: dict[str, str] = {}
    shared = {name: one for name, one in options.values.items() if _scope(name) is Scope.DATABASE}
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
            own = {name: value for name, value in taken.items() if _scope(name) is scope}
            into[family] = _over(_defaults(scope, version, made_for), own)
        if of_families[family].get("compaction_style") != "kCompactionStyleLevel":
            for name in DEFAULTS_OF_LEVEL_STYLE - settings.keys():
                of_families[family].pop(name, None)
    warnings = [f"{name}={value}: RocksDB {version} has no such option, left out" for name, value in left_out.items()]
    return Effective(version, database, of_families, of_tables, asked, (*options.notes, *warnings))


def resolve(options: "OptionSet", families: Sequence[str], version: str) -> ResolvedOptions:
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
    """What RocksDB makes of the options `DERIVED` where a family's options leave them at 0, or unset.

    arena_block_size is an eighth of the write buffer, at most 1 MiB in newer versions, to whole pages;
    max_compaction_bytes is 25 times the target file size.
    """
    found = {}
    arena = find_option("arena_block_size")
    if _whole(values.get("arena_block_size")) == 0:
        eighth = _whole(values.get("write_buffer_size")) // 8
        if arena is not None and arena.default(version) == str(LARGEST_ARENA):
            eighth = min(eighth, LARGEST_ARENA)
        found["arena_block_size"] = str(-(-eighth // ARENA_ALIGNMENT) * ARENA_ALIGNMENT)
    if "max_compaction_bytes" in values and _whole(values["max_compaction_bytes"]) == 0:
        found["max_compaction_bytes"] = str(25 * _whole(values.get("target_file_size_base")))
    return found


def _made_for(options: "OptionSet", version: str | None) -> str | None:
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
    options: "OptionSet", settings: Mapping[str, "Setting"], version: str | None, left_out: dict[str, str]
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
    asked = {name: modes.get(database[name], database[name]) for name in _WAL if name in database}
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


_WAL = ("recycle_log_file_num", "wal_recovery_mode")


def _whole(text: str | None) -> int:
    return int(text) if text is not None and text.lstrip("-").isdecimal() else 0


def _scope(name: str) -> Scope | None:
    option = find_option(name)
    return None if option is None else option.scope
