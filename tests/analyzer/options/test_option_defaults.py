"""Defaults by release, checked against options dumps of databases that were given few options."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.options.option_defaults import ceph_defaults, opened_value, rocksdb_defaults, scope_of
from lsmlens.analyzer.options.option_strings import parse_option_string, same_value
from lsmlens.analyzer.options.options_dump import parse_options


@pytest.mark.parametrize(
    ("version", "name", "compression", "merge"),
    [
        ("12.2.13", "luminous 12.2.13", "kNoCompression", "1"),
        ("14.2.22", "nautilus 14.2.21", "kNoCompression", "1"),
        ("16.2.15", "pacific 16.2.15", "kNoCompression", "1"),
        ("18.2.7-rc", "reef 18.2.7", "kLZ4Compression", "6"),
        ("20.2.4", "tentacle 20.2.4", "kLZ4Compression", "6"),
        ("27.1.0", "tentacle 20.2.4", "kLZ4Compression", "6"),
    ],
)
def test_ceph(version: str, name: str, compression: str, merge: str) -> None:
    release = ceph_defaults(version)
    assert release is not None
    assert release.name == name
    options = parse_option_string(release.options["bluestore_rocksdb_options"]).options
    assert (options["compression"], options["min_write_buffer_number_to_merge"]) == (compression, merge)


def test_what_changed_between_releases() -> None:
    by_release = {major: ceph_defaults(f"{major}.2.0") for major in (12, 14, 15, 16, 17, 18, 19, 20)}
    options = {major: release.options for major, release in by_release.items() if release is not None}
    assert len(options) == 8
    assert [major for major in options if "bluestore_rocksdb_cfs" in options[major]] == [14, 15, 16, 17, 18, 19, 20]
    assert [major for major in options if options[major].get("bluestore_rocksdb_cf") == "true"] == [16, 17, 18, 19, 20]
    assert options[17]["bluestore_rocksdb_cfs"].endswith(" L P")
    assert options[18]["bluestore_rocksdb_cfs"].endswith(" P=min_write_buffer_number_to_merge=32")
    assert [options[major].get("rocksdb_cf_compact_on_deletion") for major in (15, 16, 17)] == [None, "false", "true"]
    assert [options[major]["osd_op_queue"] for major in (16, 17)] == ["wpq", "mclock_scheduler"]
    assert [options[major]["bluestore_min_alloc_size_hdd"] for major in (15, 16)] == ["65536", "4096"]
    assert [options[major].get("bluefs_preextend_wal_files") for major in (14, 15)] == ["false", None]
    assert [options[major]["osd_min_pg_log_entries"] for major in (12, 14, 15)] == ["1500", "3000", "250"]


@pytest.mark.parametrize("version", [None, "", "11.2.1", "unknown"])
def test_no_such_ceph(version: str | None) -> None:
    assert ceph_defaults(version) is None


def test_what_changed_between_versions_of_rocksdb() -> None:
    def values(name: str, *versions: str) -> list[str | None]:
        return [rocksdb_defaults(version).get(name) for version in versions]

    assert values("level_compaction_dynamic_level_bytes", "8.3.3", "8.4.4", "10.2.1") == ["0", "1", "1"]
    assert values("ttl", "5.4.7", "5.18.3", "6.8.1") == [None, "0", "2592000"]
    assert values("level0_stop_writes_trigger", "4.13", "5.1.4", "5.2.1") == ["24", "32", "36"]
    assert values("compaction_readahead_size", "8.5.3", "8.6.7") == ["0", "2097152"]
    assert values("max_background_jobs", "5.5.6", "5.6.1") == [None, "2"]
    assert values("compression", "11.1.1", "11.8.0") == ["Snappy", "LZ4"]
    assert rocksdb_defaults(None) == rocksdb_defaults("4.8") == {}
    assert [scope_of(name) for name in ("ttl", "max_total_wal_size", "x")] == ["family", "database", None]


def test_a_database_that_was_given_few_options(log_text: Callable[[str], bytes]) -> None:
    """rocksdb-current's make.py sets these, and sees the defaults of 9.8 in all others."""
    dump = parse_options(log_text("rocksdb-current/LOG"))
    printed = {**dump.db, **dump.families["default"]}
    different = {
        name for name, value in rocksdb_defaults(dump.rocksdb_version).items() if not same_value(value, printed[name])
    }
    assert different == {
        "write_buffer_size",
        "target_file_size_base",
        "max_bytes_for_level_base",
        "level0_file_num_compaction_trigger",
        "level0_slowdown_writes_trigger",
        "level0_stop_writes_trigger",
        "compression",
        "report_bg_io_stats",
        "stats_dump_period_sec",
    }


@pytest.mark.parametrize(
    ("asked", "buffers", "opened"),
    [("32", "64", "32"), ("32", "4", "3"), ("32", "1", "1"), ("0", "4", "1"), ("x", "4", "x"), ("7", "x", "7")],
)
def test_a_buffer_stays_out_of_the_merge(asked: str, buffers: str, opened: str) -> None:
    options = {"min_write_buffer_number_to_merge": asked, "max_write_buffer_number": buffers}
    assert opened_value("min_write_buffer_number_to_merge", options, "7.9.2") == opened


def test_logs_are_not_recycled() -> None:
    options = {"recycle_log_file_num": "4", "wal_recovery_mode": "2"}
    opened = {
        version: [opened_value(name, options, version) for name in options]
        for version in ("5.4.7", "6.8.1", "9.0.1", "9.1.1", None)
    }
    assert opened.pop("9.1.1") == ["4", "2"]
    assert opened == {"5.4.7": ["4", "0"], "6.8.1": ["0", "2"], "9.0.1": ["0", "2"], None: ["4", "0"]}
    tolerant = {"recycle_log_file_num": "4", "wal_recovery_mode": "0"}
    assert [opened_value("recycle_log_file_num", tolerant, version) for version in ("6.8.1", "6.15.5")] == ["4", "0"]
    assert opened_value("recycle_log_file_num", {"recycle_log_file_num": "0"}, "6.8.1") == "0"
    assert opened_value("ttl", options, "6.8.1") is None


@given(st.text())
def test_any_version(version: str) -> None:
    ceph_defaults(version)
    rocksdb_defaults(version)
