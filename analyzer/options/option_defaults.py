"""Default options: what Ceph's releases and RocksDB's versions use where nothing was configured.

The data and where it is from: `defaults/ceph.json`, `defaults/rocksdb.json`.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from lsmlens.analyzer.options.option_strings import canonical, parse_size

VERSION = re.compile(r"\D*(\d{1,6})(?:\.(\d{1,6}))?")


class CephRelease(NamedTuple):
    """A Ceph release (`reef 18.2.7`) and its defaults, of those options that matter here."""

    name: str
    options: Mapping[str, str]


def ceph_defaults(version: str | None) -> CephRelease | None:
    """The defaults of a Ceph version: those of the nearest release known up to it; None for none or an older one."""
    major = _numbers(version)[0]
    document = _document("ceph.json")
    known = [number for number in document["releases"] if int(number) <= major]
    if not known:
        return None
    release = max(known, key=int)
    return CephRelease(document["releases"][release], _values_at(document["options"], (int(release), 0)))


def options_of_ceph() -> frozenset[str]:
    """The names of Ceph's own options whose defaults are known."""
    return frozenset(_document("ceph.json")["options"])


@cache
def rocksdb_defaults(version: str | None) -> Mapping[str, str]:
    """The defaults of a RocksDB version, as its options dump prints them; empty for none or one before 4.9."""
    options = _document("rocksdb.json")["options"]
    return _values_at({name: option["values"] for name, option in options.items()}, _numbers(version))


def scope_of(name: str) -> str | None:
    """Whether an option is of a `family` or of the whole `database`; None for one not in the data."""
    option = _document("rocksdb.json")["options"].get(name)
    return None if option is None else str(option["scope"])


def opened_value(name: str, options: Mapping[str, str], rocksdb_version: str | None) -> str | None:
    """What RocksDB makes of an option at the open, where the others do not let it stand; None for one not set.

    At least one of the buffers stays out of a merge: `min_write_buffer_number_to_merge` is at most
    `max_write_buffer_number` - 1, and at least 1. Recycling logs does not go with the default
    `wal_recovery_mode`: up to 6.7 the recovery mode gives way, from 6.8 to 9.0 there is no recycling. (Seen in the
    OPTIONS files that twelve versions from 4.9 to 11.8 write.)
    """
    value = options.get(name)
    if value is None:
        return None
    if name == "min_write_buffer_number_to_merge":
        asked, buffers = parse_size(value), parse_size(options.get("max_write_buffer_number", ""))
        if asked is not None and buffers is not None:
            fitting = max(1, min(asked, max(2, buffers) - 1))
            return value if fitting == asked else str(fitting)
    elif name in ("recycle_log_file_num", "wal_recovery_mode"):
        is_recycling = canonical(options.get("recycle_log_file_num", "0")) != "0"
        version = _numbers(rocksdb_version)
        if is_recycling and canonical(options.get("wal_recovery_mode", "2")) in _unrecycled_modes(version):
            gives_way = "wal_recovery_mode" if version < (6, 8) else "recycle_log_file_num"
            return "0" if name == gives_way else value
    return value


def _unrecycled_modes(version: tuple[int, int]) -> frozenset[str]:
    """The values of `wal_recovery_mode` that do not go with recycled logs."""
    if version < (6, 15):
        return frozenset("12")
    return frozenset("012" if version < (9, 1) else "01")


@cache
def _numbers(version: str | None) -> tuple[int, int]:
    match = VERSION.match(version or "")
    return (int(match[1]), int(match[2] or 0)) if match else (0, 0)


def _values_at(options: Mapping[str, Mapping[str, str | None]], version: tuple[int, int]) -> dict[str, str]:
    """Each option's value at a version, out of its value since some versions."""
    found: dict[str, str] = {}
    for name, values in options.items():
        since = [start for start in values if _numbers(start) <= version]
        value = values[max(since, key=_numbers)] if since else None
        if value is not None:
            found[name] = value
    return found


@cache
def _document(name: str) -> dict[str, Any]:
    document: dict[str, Any] = orjson.loads((Path(__file__).parent / "defaults" / name).read_bytes())
    return document
