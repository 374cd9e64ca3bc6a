"""The settings of families that each list all of theirs: what all share, and what some have over it."""

from collections.abc import Mapping

from lsmlens.tuners.options import resolution
from lsmlens.tuners.options.option_catalogue import COMPACT_ON_DELETION, find_option
from lsmlens.tuners.options.option_set import Setting, Settings

# RocksDB's defaults of these are in no OPTIONS file.
UNSET = {
    COMPACT_ON_DELETION: "{sliding_window=0;trigger=0}",
    "block_cache": "8388608",
    "compression_per_level": "",
}


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
    derived = resolution.derived({**values, **dict.fromkeys(resolution.DERIVED, "0")}, version)
    if values.get("compaction_readahead_size", "0") != "0":
        derived["new_table_reader_for_compaction_inputs"] = "true"
    return {name: setting for name, setting in settings.items() if derived.get(name) != setting.value}


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
