"""Files that hold options: Ceph's configuration, RocksDB's OPTIONS files, and logs that print them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import orjson
from lsmlens.analyzer.analysis import analyze
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.options.ceph_conf import parse_ceph_conf
from lsmlens.analyzer.options.option_defaults import ceph_defaults
from lsmlens.tuners.engines.options_file import read_options_file
from lsmlens.tuners.options.ceph_configuration import COLUMNS, NEWEST_RELEASE, STRING, ceph_options
from lsmlens.tuners.options.family_settings import shared_and_own, without_derived
from lsmlens.tuners.options.option_catalogue import Scope
from lsmlens.tuners.options.option_set import OptionSet, Setting, scope_of
from lsmlens.tuners.options.option_values import canonical_value
from lsmlens.tuners.options.presets import bundled_version
from lsmlens.tuners.options.resolution import PLACES
from lsmlens.tuners.options.run_options import BY_CODE, options_of_run

OPTIONS_FILE = re.compile(rb"^\s*\[(?:DBOptions|CFOptions \")", re.MULTILINE)
CEPH_CONF = re.compile(rb"^\s*(?:\[(?:global|osd|mon)(?:\.[^\]\s]+)?\]|bluestore[ _]rocksdb[ _]\w+\s*=)", re.MULTILINE)
# What is looked at of a file to tell what it is; more than any OPTIONS file has before its first section.
HEAD_BYTES = 1 << 16


def read_file(path: Path, base: OptionSet | None) -> OptionSet:
    """The option set in a file or folder, told by its content; a log or bundle is what is none of the other kinds.

    `base` is that of the log at hand: it has the versions that a configuration does not name. Raises InputError.
    """
    if path.is_dir():
        return _of_bundle(path)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        if OPTIONS_FILE.search(head):
            return _of_options_file(path)
        if head.lstrip()[:1] == b"{" and (configuration := _json(path.read_bytes())):
            return _of_config_show(path, configuration, base)
        if CEPH_CONF.search(head):
            return _of_ceph_conf(path, base)
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error
    return _of_bundle(path)


def _of_bundle(path: Path) -> OptionSet:
    runs = analyze([str(path)]).runs
    told = [run for run in runs if run.options and not run.run.is_monitor] or [run for run in runs if run.options]
    if not told:
        raise InputError(str(path), "tells no options", "give a log that holds an open, or a preset such as ceph:reef")
    sets = [options_of_run(run) for run in told]
    if any(one.values != sets[0].values or one.overrides != sets[0].overrides for one in sets[1:]):
        names = ", ".join(one.name for one in sets)
        raise InputError(str(path), f"holds {len(sets)} databases with other options each: {names}", "give one's log")
    return sets[0]


def _of_options_file(path: Path) -> OptionSet:
    """An OPTIONS file: what its families do not have from the default family is their own."""
    found = read_options_file(path)
    notes: list[str] = []
    database = _of_section(found.database, path, notes)
    families = {
        family: without_derived(
            _of_section({**values, **found.tables.get(family, {})}, path, notes), found.rocksdb_version
        )
        for family, values in found.families.items()
    }
    shared, overrides = shared_and_own(families, found.rocksdb_version)
    return OptionSet(
        str(path),
        {**database, **shared},
        overrides,
        tuple(found.families),
        rocksdb_version=found.rocksdb_version or None,
        notes=tuple(dict.fromkeys(notes)),
    )


def _of_section(values: Mapping[str, str], path: Path, notes: list[str]) -> dict[str, Setting]:
    settings = {}
    for name, value in values.items():
        if name in PLACES or name in BY_CODE or name == "merge_operator":
            continue
        if name == "table_factory":
            if value not in ("BlockBasedTable", "{id=BlockBasedTable;}"):
                notes.append(f"table_factory {value}: a replay has block-based tables only")
        elif scope_of(name) is None:
            notes.append(f"{name}={value}: not known, left out")
        else:
            try:
                settings[name] = Setting(canonical_value(name, value), path.name, is_asked=False)
            except ValueError as error:
                raise InputError(str(path), str(error)) from error
    return settings


def _json(data: bytes) -> dict[str, str]:
    """The configuration in a JSON document; empty where it is none, or holds no options."""
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(document, dict):
        return {}
    found = {str(name): value for name, value in document.items() if isinstance(value, str)}
    return found if any("rocksdb" in name for name in found) else {}


def _of_config_show(path: Path, configuration: Mapping[str, str], base: OptionSet | None) -> OptionSet:
    is_monitor = configuration.get("name", "").startswith("mon.")
    options = ceph_options(str(path), configuration, str(path), is_monitor)
    return replace(
        options,
        rocksdb_version=base.rocksdb_version if base is not None else None,
        ceph_version=base.ceph_version if base is not None else None,
    )


def _of_ceph_conf(path: Path, base: OptionSet | None) -> OptionSet:
    """A ceph.conf over the defaults of the release of the log at hand, or of the newest one.

    What columns have for themselves was said when the OSD was made. So where the file gives the options and no
    columns, the log's stay, or none have any.
    """
    conf = parse_ceph_conf(path.read_bytes())
    own = [name for name in conf.sections if name.startswith("osd.")]
    configured = conf.options_of(own[0] if len(own) == 1 else "osd")
    ceph_version = base.ceph_version if base is not None else None
    release = ceph_defaults(ceph_version) or ceph_defaults(NEWEST_RELEASE)
    assert release is not None
    options = ceph_options(str(path), {**release.options, **configured}, str(path))
    notes = list(options.notes)
    if ceph_version is None:
        notes.append(f"{path.name} names no release: what it does not set is as in {release.name}")
    if STRING in configured and COLUMNS not in configured:
        if base is not None and base.sharding.columns:
            kept, sharding, families = base.overrides, base.sharding, base.families
        else:
            tables = {column: _of_tables(settings) for column, settings in options.overrides.items()}
            kept = {column: settings for column, settings in tables.items() if settings}
            sharding, families = options.sharding, options.families
            notes.append(f"{path.name} has no {COLUMNS}: no column has options of its own but its cache")
        options = replace(options, overrides=kept, sharding=sharding, families=families)
    return replace(
        options,
        rocksdb_version=base.rocksdb_version if base is not None else bundled_version(release.name.split()[1]),
        ceph_version=ceph_version,
        notes=tuple(notes),
    )


def _of_tables(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    return {name: setting for name, setting in settings.items() if scope_of(name) is Scope.TABLE}
