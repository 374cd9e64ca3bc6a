"""The options a log shows, of every bundle in the fixtures: what was printed, and what was taken where nothing was."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.options.option_evidence import Source
from lsmlens.analyzer.options.options_in_force import OptionInForce
from lsmlens.tuners.options.ceph_configuration import to_ceph
from lsmlens.tuners.options.option_catalogue import find_option
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.option_values import canonical_value
from lsmlens.tuners.options.run_options import options_of_run

MERGE = "min_write_buffer_number_to_merge"
BLUESTORE = ("default", "m-0", "m-1", "m-2", "p-0", "p-1", "p-2", "O-0", "O-1", "O-2", "L", "P")
ROOT = Path(__file__).resolve().parents[3] / "fixtures"
# Without the one that holds no events, only write batches.
LOGS = {path.parent.name for path in ROOT.glob("*/*") if path.name.startswith(("LOG", "ceph-osd.0.log"))}
FIXTURES = sorted(LOGS - {"osd-write-batches"})


@pytest.mark.parametrize("name", FIXTURES)
def test_every_option_printed_is_in_force(name: str, run_in: Callable[[str], RunAnalysis]) -> None:
    run = run_in(name)
    if not run.options:
        with pytest.raises(InputError, match="the log tells no options"):
            options_of_run(run)
        return
    options = options_of_run(run)
    version = run.run.rocksdb_version
    assert version is not None
    resolved = options.resolve(options.families, version)
    compared = 0
    for one in run.options:
        plain = one.name.removeprefix("table_factory.")
        option = find_option(plain)
        if one.source is not Source.LOG or option is None or option.default(version) is None:
            continue
        if plain in ("wal_dir", "db_log_dir", "merge_operator", "comparator", "table_factory", "filter_policy"):
            continue
        if plain.endswith(("factory", "extractor", "filter")):  # objects, printed with their addresses
            continue
        family = one.family or ""
        found = {**resolved.families[family], **resolved.tables[family]} if one.family else resolved.database
        assert canonical_value(plain, found[plain]) == canonical_value(plain, one.value), (one.family, plain)
        compared += 1
    assert compared > 100


def test_a_pacific_osd(options_in: Callable[[str], OptionSet]) -> None:
    stock = options_in("osd-stock")
    assert (stock.name, stock.rocksdb_version, stock.ceph_version) == ("osd.0", "6.8.1", "16.2.15")
    assert stock.families == BLUESTORE
    assert str(stock.sharding) == "m(3) p(3,0-12) O(3,0-13) L P"
    assert stock.overrides.keys() == {"O-0", "O-1", "O-2"}
    assert {name: one.value for name, one in stock.overrides["O-0"].items()} == {"block_cache": "536870912"}
    assert stock.notes == (
        "the log prints no options of families L, P; taken: printed in the log for the default family",
    )
    assert stock.value_of("filter_policy") == "bloomfilter:20:false"
    assert stock.origin_of("write_buffer_size") == "printed in the log"
    assert to_ceph(stock).cfs == "m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru} L P"


def test_a_reef_osd_without_what_is_beside_its_log(options_in: Callable[[str], OptionSet]) -> None:
    reef = options_in("osd-reef")
    assert [reef.value_of(MERGE, family) for family in ("p-0", "L", "P")] == ["6", "32", "32"]
    assert reef.origin_of(MERGE, "P") == (
        "inferred from flushes, 1 flushes for a full write buffer, the least of 32 memtables"
    )
    assert reef.origin_of(MERGE, "L") == (
        "default of the Ceph release, bluestore_rocksdb_cfs, if the OSD was made with it"
    )
    assert [note.partition(": ")[2] for note in reef.notes] == [
        "printed in the log for the default family; min_write_buffer_number_to_merge=32: "
        "default of the Ceph release, bluestore_rocksdb_cfs, if the OSD was made with it",
        "printed in the log for the default family; min_write_buffer_number_to_merge=32: inferred from flushes",
    ]
    assert reef.value_of("compact_on_deletion", "P") == "{sliding_window=32768;trigger=16384}"
    assert reef.resolve(reef.families, "7.9.2").warnings == reef.notes


def test_a_monitor(fixtures: Path) -> None:
    (monitor,) = [one for one in analyze([str(fixtures / "osd-stock")]).runs if one.run.is_monitor]
    options = options_of_run(monitor)
    assert (options.families, options.value_of("write_buffer_size")) == (("default",), "33554432")
    assert options.value_of("filter_policy") == "bloomfilter:20:false"
    assert options.notes == ()


def test_families_of_a_native_database(options_in: Callable[[str], OptionSet]) -> None:
    current = options_in("rocksdb-current")
    assert current.families == ("default", "blobs", "users")
    assert {name: one.value for name, one in current.overrides["users"].items()} == {
        "level0_file_num_compaction_trigger": "4"
    }
    assert current.origin_of("level0_file_num_compaction_trigger", "users") == "SetOptions in the log"
    assert current.value_of("min_blob_size", "blobs") == "512"
    assert current.notes == ()


def test_bits_of_a_filter_are_not_printed(options_in: Callable[[str], OptionSet]) -> None:
    found = options_in("rocksdb-filter")
    assert found.value_of("filter_policy") == "bloomfilter:10:false"
    assert found.notes == ("filter_policy bloomfilter: the log prints no bits, 10 a key are taken",)
    assert options_in("rocksdb-no-filter").value_of("filter_policy") == "nullptr"


def test_what_is_derived_is_derived_anew(options_in: Callable[[str], OptionSet]) -> None:
    """The log prints arena_block_size: 33554432; with another buffer it is another."""
    changed = options_in("osd-stock").changed("write_buffer_size", "8M").resolve(BLUESTORE, "6.8.1")
    assert changed.families["P"]["arena_block_size"] == "1048576"
    kept = options_in("osd-stock").resolve(BLUESTORE, "6.8.1")
    assert kept.families["P"]["arena_block_size"] == "33554432"
    assert kept.database["new_table_reader_for_compaction_inputs"] == "true"


def in_force(run: RunAnalysis, *options: tuple[str | None, str, str]) -> OptionSet:
    ones = tuple(OptionInForce(family, name, value, Source.LOG) for family, name, value in options)
    return options_of_run(replace(run, options=ones))


def test_what_logs_print_in_pieces(run_in: Callable[[str], RunAnalysis]) -> None:
    options = in_force(
        run_in("rocksdb-current"),
        ("default", "compression[0]", "NoCompression"),
        ("default", "compression[1]", "LZ4"),
        ("default", "compression[2]", "ZSTD"),
        ("default", "compression_opts.level", "5"),
        ("default", "compaction_options_universal.max_merge_width", "-1"),
        ("default", "compaction_options_universal.stop_style", "0"),
        ("default", "max_bytes_for_level_multiplier_addtl[0]", "1"),
        ("default", "max_bytes_for_level_multiplier_addtl[1]", "3"),
        ("default", "table_factory.block_cache_options.capacity", "1000"),
        ("default", "table_factory.block_cache", "0x55d1c0ffee"),
        ("default", "table_factory.index_type", "2"),
        ("default", "table_factory.flush_block_policy_factory", "FlushBlockBySizePolicyFactory (0x7f00aa00)"),
        ("default", "last_level_temperature", "0"),
        (None, "wal_recovery_mode", "1"),
        (None, "db_write_buffer_size", "0"),
        (None, "statistics", "(nil)"),
        (None, "wal_dir", "/db.wal"),
    )
    found = {name: one.value for name, one in options.values.items()}
    assert found.pop("compression_opts").startswith("{checksum=false;enabled=false;level=5;")
    assert "max_merge_width=4294967295" in found["compaction_options_universal"]
    assert "stop_style=kCompactionStopStyleSimilarSize" in found.pop("compaction_options_universal")
    assert found == {
        "compression_per_level": "kNoCompression:kLZ4Compression:kZSTD",
        "max_bytes_for_level_multiplier_additional": "1:3",
        "block_cache": "1000",
        "index_type": "kTwoLevelIndexSearch",
        "flush_block_policy_factory": "FlushBlockBySizePolicyFactory",
        "last_level_temperature": "kUnknown",
        "wal_recovery_mode": "kAbsoluteConsistency",
        "db_write_buffer_size": "0",
    }


def test_what_code_set_and_no_replay_can(run_in: Callable[[str], RunAnalysis]) -> None:
    options = in_force(
        run_in("rocksdb-current"),
        ("default", "compaction_filter_factory", "purger(a)"),
        ("users", "compaction_filter_factory", "purger(b)"),
        ("users", "comparator", "rocksdb.InternalKeyComparator:leveldb.BytewiseComparator"),
        ("users", "table_factory", "PlainTable"),
        ("users", "merge_operator", "StringAppend"),
        ("users", "write_buffer_size", "many"),
    )
    assert options.notes == (
        "table_factory PlainTable: a replay has block-based tables only",
        "write_buffer_size=many: expected a whole number, such as 8, or a size, such as 64M; left out",
        "compaction_filter_factory purger(a) and 1 more: set by code, a replay goes without",
    )
    assert dict(options.values) == {}


def test_a_log_without_an_open_beside_its_configuration(
    fixtures: Path, log_text: Callable[[str], bytes], tmp_path: Path, options_in: Callable[[str], OptionSet]
) -> None:
    lines = log_text("osd-stock/ceph-osd.0.log.gz").splitlines(keepends=True)
    (tmp_path / "ceph-osd.0.log").write_bytes(b"".join(line for line in lines if b"EVENT_LOG" in line))
    with pytest.raises(InputError, match="the log tells no options") as raised:
        options_of_run(only_run(tmp_path))
    assert raised.value.hint.startswith("give a log that holds an open")
    for name in ("config_show.json", "show_sharding.txt"):
        (tmp_path / name).write_bytes((fixtures / "osd-stock" / name).read_bytes())
    found = options_of_run(only_run(tmp_path))
    assert found.notes == ("the log prints no options; taken: config show, show-sharding",)
    assert (found.rocksdb_version, found.families) == (None, BLUESTORE)
    assert [one.option for one in found.differences(options_in("osd-stock"), "6.8.1")] == ["recycle_log_file_num"]


def test_a_log_without_an_open_of_a_release(log_text: Callable[[str], bytes], tmp_path: Path) -> None:
    lines = log_text("osd-reef/ceph-osd.0.log.gz").splitlines(keepends=True)
    started = next(line for line in lines if b"ceph version" in line)
    opened = next(line for line in lines if b"Column family [default] (ID 0)" in line)
    work = [line for line in lines if b"EVENT_LOG" in line]
    (tmp_path / "ceph-osd.0.log").write_bytes(b"".join([started, opened, *work]))
    found = options_of_run(only_run(tmp_path))
    assert found.notes == ("the log prints no options; taken: default of reef 18.2.7",)
    assert (found.rocksdb_version, found.ceph_version) == ("7.9.2", "18.2.7")
    assert found.value_of("write_buffer_size") == "16777216"
    assert found.value_of(MERGE, "L") == "32"


def only_run(path: Path) -> RunAnalysis:
    (run,) = analyze([str(path)]).runs
    return run
