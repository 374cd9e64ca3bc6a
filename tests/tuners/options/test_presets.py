"""Presets, held against what real OSDs of these releases logged, and against their goldens."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.option_catalogue import Scope, defaults
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.presets import preset, preset_names, release_of
from lsmlens.tuners.options.resolved_options import ResolvedOptions

MERGE = "min_write_buffer_number_to_merge"
BLUESTORE = ("default", "m-0", "m-1", "m-2", "p-0", "p-1", "p-2", "O-0", "O-1", "O-2", "L", "P")
VERSIONS = ("6.8.1", "7.9.2", "9.8.4")


def test_names() -> None:
    assert preset_names() == (
        *("ceph:luminous", "ceph:nautilus", "ceph:octopus", "ceph:pacific", "ceph:quincy", "ceph:reef-dev"),
        *("ceph:reef", "ceph:squid", "ceph:tentacle", "rocksdb:default"),
    )
    assert [preset(name).name for name in preset_names()] == list(preset_names())


@pytest.mark.parametrize("name", ["ceph:mimic", "ceph:", "reef", "rocksdb:7.9.2", ""])
def test_no_such_preset(name: str) -> None:
    with pytest.raises(InputError) as raised:
        preset(name)
    assert raised.value.reason == "no such preset"
    assert raised.value.hint.startswith("there are ceph:luminous, ceph:nautilus")


def test_a_pacific_osd_ran_with_the_preset(options_in: Callable[[str], OptionSet]) -> None:
    """All 150 options of all twelve families, as 16.2.15 logged them; it logs what became of recycling."""
    (difference,) = preset("ceph:pacific").differences(options_in("osd-stock"))
    assert (difference.option, difference.value, difference.other) == ("recycle_log_file_num", "4", "0")
    assert resolved("ceph:pacific", "6.8.1").families == options_in("osd-stock").resolve(BLUESTORE, "6.8.1").families
    assert resolved("ceph:pacific", "6.8.1").database == options_in("osd-stock").resolve(BLUESTORE, "6.8.1").database
    assert resolved("ceph:pacific", "6.8.1").tables == options_in("osd-stock").resolve(BLUESTORE, "6.8.1").tables


def test_a_reef_osd_ran_with_the_preset_divided(options_in: Callable[[str], OptionSet]) -> None:
    differing = {(one.family, one.option): one.value for one in preset("ceph:reef").differences(options_in("osd-reef"))}
    assert differing == {
        (None, "max_bytes_for_level_base"): "1073741824",
        (None, "max_total_wal_size"): "1073741824",
        (None, "target_file_size_base"): "67108864",
        (None, "write_buffer_size"): "16777216",
    }
    scaled = preset("ceph:reef").scaled(16).resolve(BLUESTORE, "7.9.2")
    logged = options_in("osd-reef").resolve(BLUESTORE, "7.9.2")
    assert scaled.database["max_total_wal_size"] == logged.database["max_total_wal_size"]
    for family in BLUESTORE:
        # What the OSD's configuration did not divide.
        apart = {"compact_on_deletion", "soft_pending_compaction_bytes_limit", "hard_pending_compaction_bytes_limit"}
        apart |= {"blob_file_size", "compaction_options_fifo"}
        same = {name for name, value in scaled.families[family].items() if logged.families[family][name] == value}
        assert scaled.families[family].keys() - same == apart


def test_overrides_of_columns_reach_their_families() -> None:
    reef = resolved("ceph:reef", "7.9.2")
    assert [reef.families[family][MERGE] for family in ("default", "O-1", "L", "P")] == ["6", "6", "32", "32"]
    assert {family for family in BLUESTORE if reef.tables[family]["block_cache"] == "536870912"} == {
        "O-0",
        "O-1",
        "O-2",
    }
    assert reef.families["p-2"]["compact_on_deletion"] == "{sliding_window=32768;trigger=16384}"
    assert "compact_on_deletion" not in resolved("ceph:pacific", "7.9.2").families["P"]


def test_what_was_meant_for_reef_first() -> None:
    first = resolved("ceph:reef-dev", "7.9.2")
    wanted = {"write_buffer_size": "8388608", "max_write_buffer_number": "128", MERGE: "16", "ttl": "21600"}
    for family in ("default", "O-0", "P"):
        assert {name: first.families[family][name] for name in wanted} == wanted


def test_a_release_by_its_version() -> None:
    found = release_of("17.2.6")
    assert found is not None
    assert (found.name, found.rocksdb_version, found.ceph_version) == ("ceph:quincy", "6.15.5", "17.2.9")
    assert release_of("11.0.0") is None
    assert release_of(None) is None


def test_defaults_are_those_of_the_version_resolved_for() -> None:
    for version in ("4.9.0", "6.8.1", "11.8.1"):
        found = resolved("rocksdb:default", version)
        assert found.warnings == ()
        assert found.families["default"]["compression"] == defaults(Scope.FAMILY, version)["compression"]
        assert found.database.keys() == defaults(Scope.DATABASE, version).keys() - {"wal_dir", "db_log_dir"}
        assert found.families["default"].keys() == defaults(Scope.FAMILY, version).keys() - {"table_factory"}
        assert found.tables["default"] == defaults(Scope.TABLE, version)


def test_a_release_keeps_the_defaults_of_its_rocksdb_on_a_newer_one() -> None:
    """Levels of dynamic size came on by default with 8.4: no OSD of these releases has them."""
    for name in ("ceph:pacific", "ceph:reef"):
        assert resolved(name, "9.8.4").families["O-0"]["level_compaction_dynamic_level_bytes"] == "false"
    assert resolved("rocksdb:default", "9.8.4").families["default"]["level_compaction_dynamic_level_bytes"] == "true"
    assert resolved("ceph:reef", "6.8.1").tables["P"]["checksum"] == "kCRC32c"  # kXXH3 is not in 6.8


def test_presets_by_version(golden: Any) -> None:
    golden("option-presets.txt", "".join(line + "\n" for line in described()))


def resolved(name: str, version: str) -> ResolvedOptions:
    options = preset(name)
    return options.resolve(options.families, version)


def described() -> Iterator[str]:
    """What each preset has apart from RocksDB's defaults, in several versions; and families apart from the first."""
    for name in preset_names():
        options = preset(name)
        for version in dict.fromkeys((options.rocksdb_version or VERSIONS[0], *VERSIONS)):
            found = options.resolve(options.families, version)
            yield f"{name}, RocksDB {version}: {len(found.database)} options, {len(found.families)} families"
            yield from (f"  warning: {warning}" for warning in found.warnings)
            yield from differing("database", found.database, defaults(Scope.DATABASE, version))
            of_first: dict[str, str] = {}
            for family, values in found.families.items():
                whole = {**values, **found.tables[family]}
                usual = {**defaults(Scope.FAMILY, version), **defaults(Scope.TABLE, version)}
                yield from differing(family, whole, of_first or usual)
                of_first = of_first or whole


def differing(place: str, values: Any, usual: Any) -> Iterator[str]:
    yield from (f"  {place}: {name}={value}" for name, value in values.items() if usual.get(name) != value)
