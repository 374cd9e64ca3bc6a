"""Combinations that are refused, each with its reason; and that RocksDB itself does not run with them as they are."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.engines.engine import Engine
from lsmlens.tuners.engines.errors import EngineError
from lsmlens.tuners.options.option_set import OptionSet, effective
from lsmlens.tuners.options.option_values import canonical_value
from lsmlens.tuners.options.presets import preset, preset_names

# The options, and what is said of them; those in the second list RocksDB takes and makes no sense of.
REFUSED = [
    (
        "min_write_buffer_number_to_merge=4,max_write_buffer_number=4",
        "no more than 3 be full: RocksDB would run with 3",
    ),
    ("min_write_buffer_number_to_merge=2", "max_write_buffer_number=2 lets no more than 1 be full"),
    ("min_write_buffer_number_to_merge=0", "min_write_buffer_number_to_merge=0 is less than RocksDB takes"),
    ("max_write_buffer_number=1", "max_write_buffer_number=1 is less than RocksDB takes"),
    ("write_buffer_size=65535", "write_buffer_size=65535 is less than RocksDB takes"),
    ("write_buffer_size=65G", "more than the 64 GiB RocksDB takes"),
    ("level0_file_num_compaction_trigger=21", "level0_slowdown_writes_trigger=20 is below"),
    ("level0_slowdown_writes_trigger=40", "level0_stop_writes_trigger=36 is below level0_slowdown_writes_trigger=40"),
    ("level0_file_num_compaction_trigger=0", "level0_file_num_compaction_trigger=0 is not positive"),
    (
        "soft_pending_compaction_bytes_limit=3G,hard_pending_compaction_bytes_limit=2G",
        "soft_pending_compaction_bytes_limit=3221225472 is over hard_pending_compaction_bytes_limit=2147483648",
    ),
    ("num_levels=1", "num_levels=1 is less than RocksDB takes"),
    ("max_bytes_for_level_multiplier=0", "max_bytes_for_level_multiplier=0 is not positive"),
    (
        "compaction_style=kCompactionStyleUniversal,level_compaction_dynamic_level_bytes=true",
        "goes with kCompactionStyleLevel only, not with kCompactionStyleUniversal",
    ),
    ("max_open_files=19", "max_open_files=19 is less than RocksDB takes"),
    ("keep_log_file_num=0", "keep_log_file_num=0 is less than RocksDB takes"),
    ("inplace_update_support=true", "updates in place are made by one writer only"),
    ("atomic_flush=true,enable_pipelined_write=true", "atomic_flush=true and enable_pipelined_write=true cannot stand"),
    ("unordered_write=true,enable_pipelined_write=true", "both change the order of writes"),
    ("unordered_write=true,allow_concurrent_memtable_write=false", "unordered writes are concurrent"),
    ("use_direct_reads=true,allow_mmap_reads=true", "a file is read one way"),
    ("use_direct_io_for_flush_and_compaction=true,allow_mmap_writes=true", "a file is written one way"),
    ("memtable_factory=vector", "memtable_factory=vector takes no concurrent writes"),
    ("no_block_cache=true,cache_index_and_filter_blocks=true", "needs the block cache that no_block_cache=true takes"),
    ("block_align=true", "block_align=true goes without compression only"),
    ("memtable_prefix_bloom_size_ratio=0.3", "memtable_prefix_bloom_size_ratio=0.3 is outside 0 to 0.25"),
    ("memtable_protection_bytes_per_key=3", "memtable_protection_bytes_per_key=3 is none of 0, 1, 2, 4, 8"),
]
TAKEN_WITHOUT_SENSE = [
    ("max_total_wal_size=-1", "max_total_wal_size=-1 is less than RocksDB takes"),
    ("max_background_jobs=0", "max_background_jobs=0 is less than RocksDB takes"),
    ("max_subcompactions=0", "max_subcompactions=0 is less than RocksDB takes"),
    ("target_file_size_base=0", "target_file_size_base=0 is not positive"),
    ("block_size=0", "block_size=0 is not positive"),
    ("ttl=-1", "ttl=-1 is negative"),
    ("partition_filters=true", "partition_filters=true needs index_type=kTwoLevelIndexSearch"),
]


def asked(text: str) -> OptionSet:
    options = OptionSet("mine")
    for option, _, value in (part.partition("=") for part in text.split(",")):
        options = options.changed(option, value)
    return options


@pytest.mark.parametrize(("text", "reason"), [*REFUSED, *TAKEN_WITHOUT_SENSE])
def test_what_is_refused_and_why(text: str, reason: str) -> None:
    with pytest.raises(InputError) as raised:
        asked(text).validate(rocksdb_version="9.8.4")
    assert raised.value.path == "mine"
    assert reason in raised.value.reason
    assert raised.value.hint.startswith("set ")
    with pytest.raises(InputError):
        asked(text).resolve(("default", "P"), "9.8.4")


@pytest.mark.parametrize("text", [text for text, _ in REFUSED])
def test_rocksdb_does_not_run_with_it_either(text: str, engine: Engine, tmp_path: Path) -> None:
    resolved = OptionSet("mine").resolve(("default",), engine.version)
    wanted = effective(asked(text), ("default",), engine.version)
    given = {name: wanted.database[name] for name in wanted.asked[None]}
    of_family = {name: value for name, value in wanted.families["default"].items() if name in wanted.asked["default"]}
    of_table = {name: value for name, value in wanted.tables["default"].items() if name in wanted.asked["default"]}
    unasked = replace(
        resolved,
        database={**resolved.database, **given},
        families={"default": {**resolved.families["default"], **of_family}},
        tables={"default": {**resolved.tables["default"], **of_table}},
    )
    try:
        database = engine.open(tmp_path, unasked)
    except EngineError:
        return
    try:
        assert any(warning.startswith(f"RocksDB {engine.version}: ") for warning in database.options.warnings)
    finally:
        database.close()


@pytest.mark.parametrize(
    "text",
    [
        "min_write_buffer_number_to_merge=3,max_write_buffer_number=4",
        "level0_file_num_compaction_trigger=20,level0_slowdown_writes_trigger=20,level0_stop_writes_trigger=20",
        "soft_pending_compaction_bytes_limit=0,hard_pending_compaction_bytes_limit=0",
        "compaction_style=kCompactionStyleUniversal,num_levels=1",
        "compaction_style=kCompactionStyleFIFO,level0_file_num_compaction_trigger=30",
        "max_open_files=-1",
        "max_open_files=20",
        "inplace_update_support=true,allow_concurrent_memtable_write=false",
        "block_align=true,compression=kNoCompression",
        "partition_filters=true,index_type=kTwoLevelIndexSearch",
        "memtable_prefix_bloom_size_ratio=0.25",
    ],
)
def test_what_can_stand(text: str) -> None:
    asked(text).validate()
    asked(text).resolve(("default",), "7.9.2")


def test_whose_options_cannot_stand() -> None:
    def reason(options: OptionSet) -> str:
        with pytest.raises(InputError) as raised:
            options.validate()
        return raised.value.reason

    assert reason(preset("ceph:reef").changed("max_write_buffer_number", "20")).startswith("families L, P: min_write")
    assert reason(preset("ceph:reef").changed("ttl", "-5", "P")).startswith("family P: ttl=-5")
    every = preset("ceph:reef").changed("write_buffer_size", "1").changed("max_open_files", "3")
    assert reason(every).startswith("max_open_files=3 is less than RocksDB takes; and 1 more")
    assert reason(preset("ceph:reef").changed("write_buffer_size", "1")).startswith(
        "families default, m-0, m-1 and 9 more: write_buffer_size=1"
    )


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_can_stand(name: str) -> None:
    preset(name).validate()


def test_a_value_refused_is_one_that_can_be_spelled() -> None:
    for text, _ in (*REFUSED, *TAKEN_WITHOUT_SENSE):
        for option, _, value in (part.partition("=") for part in text.split(",")):
            assert canonical_value(option, value)


@pytest.fixture(scope="module")
def engine() -> Engine:
    pytest.importorskip("rocksdict")
    from lsmlens.tuners.engines.choice import EngineChoice

    return EngineChoice("rocksdict", "")()
