"""An option set: what someone asks a database to run with, and where each value came from.

It holds just what is set. What is not set is RocksDB's default of the version the set is resolved for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.options.sharding import DEFAULT_FAMILY, Sharding
from lsmlens.tuners.options import resolution, validity
from lsmlens.tuners.options.option_catalogue import Scope, find_option, nearest_version, unknown_option
from lsmlens.tuners.options.option_values import canonical_value, spelled_for
from lsmlens.tuners.options.resolved_options import ResolvedOptions

if TYPE_CHECKING:
    from lsmlens.tuners.options.ceph_configuration import CephConfiguration

# Origins that are no source: what was changed in a set, and what an options string asks for as a whole.
CHANGED, ASKED = "changed", "options string"


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
        return resolution.resolve(self, _with_default(families), rocksdb_version)

    def validate(self, families: Sequence[str] = (), rocksdb_version: str | None = None) -> None:
        """Raises InputError, with the reason, if RocksDB would refuse these options or change them by itself."""
        version = rocksdb_version or self.rocksdb_version
        problems = validity.problems(resolution.effective(self, _with_default(families or self.families), version))
        if problems:
            raise validity.refusal(self.name, problems)

    def scaled(self, k: float) -> "OptionSet":
        """The same shape in 1/k of the size: buffers, levels, files, their limits and caches are divided by k.

        The names are in `scaling.SCALED`. Blocks, filters, ratios, counts and times stay. Raises ValueError for a
        k that is not positive.
        """
        if not k > 0:
            raise ValueError(f"a scale is positive, not {k}")
        return replace(self, scale=self.scale * k)

    def named(self, name: str) -> "OptionSet":
        """The same set under another name."""
        return replace(self, name=name)

    def changed(self, option: str, value: str, family: str | None = None, origin: str = CHANGED) -> "OptionSet":
        """The set with one option changed: of the database or all families, or of one family or column.

        What single families have over all stays over it. Raises InputError for an option no version has, for a value
        it cannot have, and for the database's option in a family.
        """
        setting = Setting(self._canonical(option, value), origin)
        if family is None:
            return replace(self, values={**self.values, option: setting})
        found = find_option(option)
        if found is not None and found.scope is Scope.DATABASE:
            raise InputError(self.name, f"{option} is of the whole database, not of family {family}")
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

    def to_ceph(self) -> "CephConfiguration":
        """The set as what to write into Ceph's configuration."""
        from lsmlens.tuners.options.ceph_configuration import to_ceph

        return to_ceph(self)

    def to_options_file(self, families: Sequence[str] = (), rocksdb_version: str | None = None) -> str:
        """The text of an OPTIONS file of a version, of the set's own or the newest where none is given.

        Raises InputError as `resolve` does.
        """
        from lsmlens.tuners.engines.options_file import options_file

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
            raise InputError(self.name, str(error)) from error


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
