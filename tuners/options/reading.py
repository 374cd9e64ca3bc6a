"""Reading options: whatever a user gives for OPTIONS, as an option set.

    ceph:reef, rocksdb:default            a preset
    ceph.conf, config_show.json           Ceph's configuration: a file, or what `ceph daemon osd.N config show` printed
    OPTIONS-000123                        the file RocksDB writes beside its tables, of any version
    bundle/, ceph-osd.0.log.gz, LOG       the options a log says were in force
    write_buffer_size=64M,ttl=0           an options string, `,` or `;` between
    m(3) p(3,0-12) O(3,0-13) L P          a sharding, as in bluestore_rocksdb_cfs
    BASE+write_buffer_size=64M            a preset, file or bundle, with these over it
    +write_buffer_size=64M                the same over the options of the log at hand
    fast=write_buffer_size=64M            any of these under a name

What stands before the first `=` is a name unless it is an option's name, or all of it the path of a file. So an option
set cannot be named after an option.

An options string is to a database what `bluestore_rocksdb_options` is to an OSD: all options of the database and its
families; none of the options it had stay. What Ceph sets elsewhere does: options of tables, and those that its columns
have for themselves. With `+` it is to it what the annex is: what it does not say stays.

Several sets of options, each under a name of its own: as given one by one, or one a line of a file.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import orjson
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.options.ceph_conf import parse_ceph_conf
from lsmlens.analyzer.options.option_defaults import ceph_defaults
from lsmlens.analyzer.options.option_strings import CEPH_NAMES, OptionString, parse_option_string
from lsmlens.tuners.options.assignments import is_option_name, read_assignments, read_columns, refuse_rejected
from lsmlens.tuners.options.ceph_configuration import (
    CACHE_SIZE,
    COLUMNS,
    NEWEST_RELEASE,
    STRING,
    ceph_options,
    with_sharding,
)
from lsmlens.tuners.options.option_catalogue import COMPACT_ON_DELETION, VALUES_HINT, Scope, unknown_option
from lsmlens.tuners.options.option_set import ASKED, CHANGED, PLACES, OptionSet, Setting, scope_of
from lsmlens.tuners.options.option_values import canonical_value
from lsmlens.tuners.options.options_file import read_options_file
from lsmlens.tuners.options.presets import bundled_version, preset, preset_names
from lsmlens.tuners.options.run_options import BY_CODE, options_of_run, shared_and_own, without_derived

NAME = re.compile(r"[^=,;+{}()/]+")
PRESET = re.compile(r"(?:ceph|rocksdb):[^+=]*")
SHARDING = re.compile(r"[A-Za-z]\w*\(\s*\d")
PLACE = "options"
EXAMPLE = "write_buffer_size=64M,max_background_jobs=4"
OPTIONS_FILE = re.compile(rb"^\s*\[(?:DBOptions|CFOptions \")", re.MULTILINE)
CEPH_CONF = re.compile(rb"^\s*(?:\[(?:global|osd|mon)(?:\.[^\]\s]+)?\]|bluestore[ _]rocksdb[ _]\w+\s*=)", re.MULTILINE)
# What is looked at of a file to tell what it is; more than any OPTIONS file has before its first section.
HEAD_BYTES = 1 << 16
CANDIDATES_HINT = "one set of options a line, as for predict"


def read_options(text: str, base: OptionSet | None = None) -> OptionSet:
    """The option set that `text` stands for; `base` is that of the log at hand, if there is one.

    Raises InputError, with a way out, for text that is none, a file that cannot be read, and options that no version
    of RocksDB has.
    """
    name, given = _named(text.strip())
    try:
        return _read(given, base).named(name or given)
    except InputError as error:
        hint = unknown_option(name or "")[1]
        if hint.startswith("did you mean") and not error.hint.startswith("did you mean"):
            raise InputError(error.path, error.reason, f"{name} is no option: {hint}") from error
        raise


def _named(text: str) -> tuple[str | None, str]:
    head, equals, rest = text.partition("=")
    is_option = is_option_name(head.strip()) or head.strip() in CEPH_NAMES
    if not equals or not rest or is_option or not NAME.fullmatch(head) or _exists(text):
        return None, text
    return head.strip(), rest.strip()


def _read(text: str, base: OptionSet | None) -> OptionSet:
    if _exists(text):
        return read_file(Path(text), base)
    if PRESET.fullmatch(text):
        return preset(text)
    left, added = _split(text)
    if added is not None:
        if left:
            return _with_annex(_read(left, base), added)
        if base is None:
            raise InputError(PLACE, f"{text}: there is no log whose options these could stand on", "write BASE+options")
        return _with_annex(base, added)
    if SHARDING.match(text):
        return _with_columns(base or OptionSet(text), text)
    if "=" in text:
        return _with_string(base or OptionSet(text), text)
    if "/" in text:
        raise InputError(text, "no such file or folder", "check the path, or give a preset such as ceph:reef")
    raise InputError(
        PLACE,
        f"{text or 'nothing given'}: no preset, no file and no options",
        f"presets are {', '.join(preset_names())}; options are {EXAMPLE}",
    )


def _split(text: str) -> tuple[str, str | None]:
    """What stands before the `+` and behind it; None where no `+` has a preset, a path or nothing before it."""
    for match in re.finditer(re.escape("+"), text):
        left = text[: match.start()]
        if not left or PRESET.fullmatch(left) or _exists(left):
            return left, text[match.end() :]
    return text, None


def _exists(text: str) -> bool:
    try:
        return bool(text) and Path(text).exists()
    except (OSError, ValueError):  # longer than a path may be, or with a zero byte
        return False


def _assigned(text: str, origin: str) -> tuple[dict[str, Setting], OptionString]:
    """The settings in an options string, and the string as it was parsed."""
    parsed = refuse_rejected(parse_option_string(text), PLACE)
    if not (parsed.options or parsed.ceph_options):
        raise InputError(PLACE, f"{text or 'nothing'}: sets no option", f"options are {EXAMPLE}")
    return read_assignments(parsed.options, origin, PLACE), parsed


def _notes(base: OptionSet, parsed: OptionString) -> tuple[str, ...]:
    own = (f"{name}={value}: Ceph's own, not part of a replay" for name, value in parsed.ceph_options.items())
    return (*base.notes, *own)


def _is_of_ceph(options: OptionSet) -> bool:
    return options.ceph_version is not None or bool(options.sharding.columns)


def _with_annex(base: OptionSet, text: str) -> OptionSet:
    """The base with these over what all families share, and over families' own unless Ceph would put those over it."""
    added, parsed = _assigned(text, CHANGED)
    overrides = base.overrides
    if not _is_of_ceph(base):
        kept = {
            family: {name: setting for name, setting in settings.items() if name not in added}
            for family, settings in overrides.items()
        }
        overrides = {family: settings for family, settings in kept.items() if settings}
    return replace(
        base,
        values={**base.values, **added},
        overrides=overrides,
        ceph_options={**base.ceph_options, **parsed.ceph_options},
        notes=_notes(base, parsed),
    )


def _with_string(base: OptionSet, text: str) -> OptionSet:
    """The base with these in place of all options of the database and of all families."""
    added, parsed = _assigned(text, ASKED)
    by_code = {
        name: setting
        for name, setting in base.values.items()
        if scope_of(name) is Scope.TABLE or name == COMPACT_ON_DELETION
    }
    overrides = base.overrides if _is_of_ceph(base) else {}
    return replace(
        base,
        values={**by_code, **added},
        overrides=overrides,
        ceph_options=parsed.ceph_options,
        notes=_notes(base, parsed),
    )


def _with_columns(base: OptionSet, text: str) -> OptionSet:
    sharding = read_columns(text, PLACE)
    cache = ceph_defaults(base.ceph_version or NEWEST_RELEASE)
    cache_bytes = int(cache.options[CACHE_SIZE]) if cache is not None else None
    return with_sharding(base, sharding, cache_bytes, PLACE, ASKED)


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
        raise InputError(str(path), f"cannot be read: {error.strerror}", "check that it may be read") from error
    return _of_bundle(path)


def _of_bundle(path: Path) -> OptionSet:
    runs = analyze([str(path)]).runs
    told = [run for run in runs if run.options and not run.is_monitor] or [run for run in runs if run.options]
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
                raise InputError(str(path), str(error), VALUES_HINT) from error
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


def read_option_set(text: str | OptionSet, own: OptionSet | None) -> OptionSet:
    """The set that `text` stands for, over a log's `own` options if there is one; or the set itself.

    Raises InputError for text that stands for none, and where the log's database cannot have the set.
    """
    one = read_options(text, own) if isinstance(text, str) else text
    if own is not None:
        one.validate(own.families, own.rocksdb_version)
    return one


def read_option_sets(texts: Sequence[str | OptionSet], own: OptionSet | None = None) -> list[OptionSet]:
    """The sets, in their order; one whose name is taken becomes `NAME#2` and so on.

    Raises InputError as `read_option_set` does.
    """
    sets: list[OptionSet] = []
    for text in texts:
        one = read_option_set(text, own)
        taken = {other.name for other in sets}
        name, number = one.name, 1
        while name in taken:
            number += 1
            name = f"{one.name}#{number}"
        sets.append(one.named(name))
    return sets


def read_candidates(path: str, own: OptionSet) -> list[OptionSet]:
    """The sets of a file, one a line, over a log's `own` options; empty lines and those that begin with # are none.

    A set whose name is taken, or is `current`, becomes `NAME (line N)`. Raises InputError, with the line's number.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"cannot be read: {error}", CANDIDATES_HINT) from error
    sets: list[OptionSet] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            one = read_option_set(text, own)
        except InputError as error:
            raise InputError(f"{path}:{number}", str(error), CANDIDATES_HINT) from error
        if one.name in {other.name for other in sets} | {"current"}:
            one = one.named(f"{one.name} (line {number})")
        sets.append(one)
    return sets
