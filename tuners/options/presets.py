"""Presets: the options that Ceph's releases run with, and RocksDB's own, by name.

    ceph:reef        an OSD of that release, made by it, nothing configured
    ceph:reef-dev    what was meant for Reef first (https://github.com/ceph/ceph/pull/47221)
    rocksdb:default  RocksDB's defaults, of whatever version it is

The defaults of Ceph's releases are the analyzer's (`analyzer/options/defaults/ceph.json`).
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.options.option_defaults import ceph_defaults
from lsmlens.tuners.options.ceph_configuration import COLUMNS, STRING, ceph_options
from lsmlens.tuners.options.option_set import OptionSet

# The RocksDB in the last point release of each; nautilus had 5.17.2 up to 14.2.2.
ROCKSDB_VERSIONS = {
    "12": "5.4.0",
    "14": "6.1.2",
    "15": "6.1.2",
    "16": "6.8.1",
    "17": "6.15.5",
    "18": "7.9.2",
    "19": "7.9.2",
    "20": "7.9.2",
}
REEF_DEV = {
    STRING: "compression=kNoCompression,max_write_buffer_number=128,min_write_buffer_number_to_merge=16,"
    "compaction_style=kCompactionStyleLevel,write_buffer_size=8388608,max_background_jobs=4,"
    "level0_file_num_compaction_trigger=8,max_bytes_for_level_base=1073741824,max_bytes_for_level_multiplier=8,"
    "compaction_readahead_size=2MB,max_total_wal_size=1073741824,writable_file_max_buffer_size=0,ttl=21600",
    COLUMNS: "m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru} L P",
}
ROCKSDB_DEFAULT = "rocksdb:default"


def preset_names() -> tuple[str, ...]:
    """The names of all presets, Ceph's releases from the oldest on."""
    names = [f"ceph:{release}" for release in _releases()]
    names.insert(names.index("ceph:reef"), "ceph:reef-dev")
    return (*names, ROCKSDB_DEFAULT)


def preset(name: str) -> OptionSet:
    """The preset of that name. Raises InputError, which lists them, if there is none."""
    if name == ROCKSDB_DEFAULT:
        return OptionSet(name)
    release = name.removeprefix("ceph:")
    if release == "reef-dev":
        return _of_release(name, _releases()["reef"], REEF_DEV)
    if release == name or release not in _releases():
        raise InputError(name, "no such preset", f"there are {', '.join(preset_names())}")
    return _of_release(name, _releases()[release])


def release_of(ceph_version: str | None) -> OptionSet | None:
    """The preset of the release a Ceph version belongs to; None for an unknown or older one."""
    release = ceph_defaults(ceph_version)
    return None if release is None else preset(f"ceph:{release.name.split()[0]}")


def bundled_version(ceph_version: str | None) -> str | None:
    """The RocksDB version in a Ceph version; None for an unknown or older one."""
    release = release_of(ceph_version)
    return None if release is None else release.rocksdb_version


def _of_release(name: str, major: str, changes: Mapping[str, str] | None = None) -> OptionSet:
    release = ceph_defaults(major)
    assert release is not None
    options = ceph_options(name, {**release.options, **(changes or {})}, name)
    return replace(options, rocksdb_version=ROCKSDB_VERSIONS[major], ceph_version=release.name.split()[1])


@cache
def _releases() -> Mapping[str, str]:
    """The major number of each release by its name."""
    found = {}
    for major in ROCKSDB_VERSIONS:
        release = ceph_defaults(major)
        assert release is not None
        found[release.name.split()[0]] = major
    return found
