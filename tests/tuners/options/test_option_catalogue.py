"""What versions of RocksDB have which options, held against the one that is always here."""

from pathlib import Path

import pytest
from lsmlens.tuners.options.option_catalogue import (
    Scope,
    defaults,
    find_option,
    nearest_version,
    numbers,
    option_names,
    unknown_option,
)

rocksdict = pytest.importorskip("rocksdict")


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("6.8.1", "6.8.1"),
        ("6.9.0", "6.8.1"),
        ("5.4.0", "5.4.5"),  # the same minor version
        ("7.9.3", "7.9.2"),
        ("4.2.0", "4.9.0"),
        ("99.0.0", "11.8.1"),
        (None, "11.8.1"),
    ],
)
def test_the_nearest_version_asked(asked: str | None, nearest: str) -> None:
    assert nearest_version(asked) == nearest


@pytest.mark.parametrize(
    ("option", "version", "default"),
    [
        ("level_compaction_dynamic_level_bytes", "7.9.2", "false"),
        ("level_compaction_dynamic_level_bytes", "8.4.4", "true"),
        ("ttl", "6.1.2", "0"),
        ("ttl", "6.8.1", "2592000"),
        ("max_background_jobs", "5.4.5", None),
        ("max_background_jobs", "5.18.4", "2"),
        ("filter_deletes", "4.9.0", "false"),
        ("filter_deletes", "5.4.5", None),
        ("max_bytes_for_level_multiplier", "4.9.0", "10"),
        ("max_bytes_for_level_multiplier", "6.8.1", "10.000000"),
    ],
)
def test_defaults_by_version(option: str, version: str, default: str | None) -> None:
    found = find_option(option)
    assert found is not None
    assert (found.default(version), found.is_in(version)) == (default, default is not None)


def test_options_that_are_taken_and_not_written() -> None:
    cache = find_option("block_cache")
    assert cache is not None
    assert (cache.default("7.9.2"), cache.is_in("7.9.2"), cache.scope) == (None, True, Scope.TABLE)
    compression = find_option("compression_opts")
    assert compression is not None
    assert [compression.is_unwritten(version) for version in ("6.8.1", "6.15.5", "11.0.0")] == [True, False, False]
    assert compression.is_in("6.8.1")


def test_every_option_is_of_one_scope_and_has_a_default_somewhere() -> None:
    for name in option_names():
        found = find_option(name)
        assert found is not None
        assert found.example or found.unwritten_until > (0,) or set(found.defaults.values()) <= {"", None}, name


def test_a_name_that_is_no_option() -> None:
    assert find_option("write_bufer_size") is None
    reason, hint = unknown_option("write_bufer_size")
    assert reason == "write_bufer_size is no option of RocksDB"
    assert hint.startswith("did you mean write_buffer_size")
    assert unknown_option("zzzzzzzz")[1] == "names are those of an OPTIONS file: write_buffer_size"


def test_a_new_database_writes_the_defaults_down(tmp_path: Path) -> None:
    from lsmlens.tuners.engines.option_readback import latest_options_file
    from lsmlens.tuners.options.options_file import read_options_file

    options = rocksdict.Options(raw_mode=True)
    options.create_if_missing(True)
    rocksdict.Rdict(str(tmp_path / "db"), options).close()
    found = read_options_file(latest_options_file(tmp_path / "db"))
    if nearest_version(found.rocksdb_version) != found.rocksdb_version:
        pytest.skip(f"the catalogue was not made with RocksDB {found.rocksdb_version}")
    for scope, written in (
        (Scope.DATABASE, found.database),
        (Scope.FAMILY, found.families["default"]),
        (Scope.TABLE, found.tables["default"]),
    ):
        known = defaults(scope, found.rocksdb_version)
        assert known.keys() == written.keys()
        differing = {name for name in known if not _is_same(known[name], written[name])}
        assert differing <= {"create_if_missing", "wal_dir"}


def _is_same(known: str, written: str) -> bool:
    """Fields stand in any order."""
    return known == written or sorted(known.strip("{}").split(";")) == sorted(written.strip("{};").split(";"))


def test_numbers() -> None:
    assert numbers("10.2.1") > numbers("9.11.2")
    assert numbers("6.8.1-dev") == (6, 8)
    assert numbers("") == ()
