"""Options in force on real OSDs, with all that a bundle may hold and with parts missing."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.options.option_evidence import Flushed, OptionEvidence, Source, infer_merge, infer_write_buffer
from lsmlens.analyzer.options.options_dump import OptionsDump, parse_options
from lsmlens.analyzer.options.options_in_force import OptionInForce, ceph_options_in_force, options_in_force
from lsmlens.analyzer.runs.run import Run

from tests.run_tables import events_of

MERGE = "min_write_buffer_number_to_merge"
REEF_CFS = (
    "m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru} "
    "L=min_write_buffer_number_to_merge=32 P=min_write_buffer_number_to_merge=32"
)
FULL = "Write Buffer Full"


@pytest.fixture
def stock(fixtures: Path, log_text: Callable[[str], bytes]) -> OptionEvidence:
    folder = fixtures / "osd-stock"
    return OptionEvidence(
        dump=parse_options(log_text("osd-stock/ceph-osd.0.log.gz")),
        sharding_output=(folder / "show_sharding.txt").read_text(),
        config_show=json.loads((folder / "config_show.json").read_text()),
        ceph_conf=(folder / "ceph.conf").read_text(),
        ceph_version="16.2.15",
        daemon="osd.0",
    )


@pytest.fixture
def reef(log_text: Callable[[str], bytes], run_of: Callable[..., Run]) -> OptionEvidence:
    """A log alone: no configuration, no sharding text."""
    text = log_text("osd-reef/ceph-osd.0.log.gz")
    flushes: dict[str, list[Flushed]] = {}
    for event in events_of(run_of(text)):
        if event["event"] == "flush_started":
            flushes.setdefault(event["column_family"], []).append(
                Flushed(event["num_memtables"], event["flush_reason"])
            )
    return OptionEvidence(dump=parse_options(text), flushes=flushes, ceph_version="18.2.7", daemon="osd.0")


def find(evidence: OptionEvidence, family: str | None, name: str) -> OptionInForce:
    (option,) = (option for option in options_in_force(evidence) if (option.family, option.name) == (family, name))
    return option


def test_stock_options_do_not_differ(stock: OptionEvidence) -> None:
    options = options_in_force(stock)
    assert [option for option in options if option.differs] == []
    assert [option for option in ceph_options_in_force(stock) if option.differs] == []
    assert len({(option.family, option.name) for option in options}) == len(options)
    families = sorted({option.family for option in options if option.family is not None})
    assert " ".join(families) == "L O-0 O-1 O-2 P default m-0 m-1 m-2 p-0 p-1 p-2"


def test_each_value_says_where_it_was_read(stock: OptionEvidence) -> None:
    assert find(stock, "p-1", "write_buffer_size") == OptionInForce(
        "p-1", "write_buffer_size", "268435456", Source.LOG, "268435456"
    )
    # Ceph asks for 4; RocksDB prints what it made of it, and would of the default.
    assert find(stock, None, "recycle_log_file_num") == OptionInForce(
        None, "recycle_log_file_num", "0", Source.LOG, "0"
    )
    assert find(stock, "O-1", "block_cache").source is Source.SHARDING
    assert find(stock, "L", "write_buffer_size").source is Source.LOG_OF_DEFAULT
    assert find(stock, "L", MERGE) == OptionInForce("L", MERGE, "1", Source.LOG_OF_DEFAULT, "1")
    assert find(stock, "p-1", "table_factory.block_size").default is None


def test_what_a_reef_log_alone_tells(reef: OptionEvidence) -> None:
    differing = {option.name for option in options_in_force(reef) if option.differs}
    assert differing == {"max_total_wal_size", "max_bytes_for_level_base", "target_file_size_base", "write_buffer_size"}
    assert find(reef, "P", MERGE) == OptionInForce(
        "P", MERGE, "32", Source.FLUSHES, "32", detail="1 flushes for a full write buffer, the least of 32 memtables"
    )
    unseen = find(reef, "L", MERGE)
    assert (unseen.value, unseen.source) == ("32", Source.CEPH_DEFAULT)
    assert unseen.detail == "bluestore_rocksdb_cfs, if the OSD was made with it"
    assert find(reef, "p-0", MERGE).value == "6"


def test_an_osd_made_by_an_earlier_release(reef: OptionEvidence) -> None:
    """Upgraded, it has the new base options, but not the new overrides."""
    pacific = "m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru} L P"
    upgraded = replace(reef, sharding_output=pacific, flushes={})
    assert find(upgraded, "P", MERGE) == OptionInForce("P", MERGE, "6", Source.LOG_OF_DEFAULT, "32", True)


def test_the_stored_sharding_stands_against_the_configured_one(stock: OptionEvidence) -> None:
    stored = replace(stock, config_show={**stock.config_show, "bluestore_rocksdb_cfs": REEF_CFS})
    assert find(stored, "P", MERGE).value == "1"
    configured = replace(stored, sharding_output="error preparing db environment: (22) Invalid argument")
    option = find(configured, "P", MERGE)
    assert (option.value, option.source) == ("3", Source.CONFIG_SHOW)
    assert option.detail == "bluestore_rocksdb_cfs, if the OSD was made with it; 32 asked for"
    other_families = {**stock.config_show, "bluestore_rocksdb_cfs": "P=min_write_buffer_number_to_merge=2"}
    option = find(replace(configured, config_show=other_families), "P", MERGE)
    assert (option.value, option.source) == ("1", Source.LOG_OF_DEFAULT)


@pytest.mark.parametrize(
    ("flushes", "value", "source"),
    [
        ([Flushed(32, FULL), Flushed(33, FULL), Flushed(2, "WAL Full")], "32", Source.SHARDING),
        ([Flushed(40, FULL)], "32", Source.SHARDING),
        ([Flushed(6, FULL), Flushed(32, FULL)], "6", Source.FLUSHES),
        ([Flushed(2, "WAL Full"), Flushed(1, None)], "32", Source.SHARDING),
    ],
)
def test_flushes_confirm_or_refute_a_stored_override(
    reef: OptionEvidence, flushes: list[Flushed], value: str, source: Source
) -> None:
    option = find(replace(reef, sharding_output=REEF_CFS, flushes={"P": flushes}), "P", MERGE)
    assert (option.value, option.source) == (value, source)


def test_what_is_inferred() -> None:
    some = [Flushed(17, FULL), Flushed(16, FULL), Flushed(3, "Write Buffer Manager"), Flushed(0, FULL)]
    assert infer_merge(some) == (16, 2)
    assert infer_merge([Flushed(3, "WAL Full"), Flushed(3)]) is None


def test_a_write_buffer_is_inferred_from_full_ones() -> None:
    full = [Flushed(1, FULL, 268_196_608), Flushed(2, FULL, 2 * 268_190_240), Flushed(1, "WAL Full", 1 << 20)]
    found = infer_write_buffer(full)
    assert found is not None
    assert found[0] == 256 << 20
    assert found[1] == "2 flushes for a full write buffer, of 268190240 to 268196608 bytes each"
    assert infer_write_buffer([Flushed(1, FULL, 90_000_000)]) is None  # no power of two
    assert infer_write_buffer([Flushed(1, "WAL Full", 1 << 26)]) is None


def test_without_a_log_the_configuration_counts(stock: OptionEvidence) -> None:
    show = {
        **stock.config_show,
        "bluestore_rocksdb_options_annex": "write_buffer_size=64M,ttl=100,compaction_threads=4",
    }
    evidence = replace(stock, dump=OptionsDump(rocksdb_version="6.8.1"), config_show=show)
    assert find(evidence, "m-0", "write_buffer_size") == OptionInForce(
        "m-0", "write_buffer_size", "64M", Source.CONFIG_SHOW, "268435456", True, "bluestore_rocksdb_options_annex"
    )
    assert find(evidence, "P", "max_write_buffer_number").detail == "bluestore_rocksdb_options"
    recycled = find(evidence, None, "recycle_log_file_num")
    assert (recycled.value, recycled.detail) == ("0", "bluestore_rocksdb_options; 4 asked for")
    conf = "[osd]\nbluestore_rocksdb_options = write_buffer_size=1MB\n[osd.0]\nbluestore rocksdb options = ttl=7"
    from_file = replace(evidence, config_show={}, ceph_conf=conf)
    assert find(from_file, "m-0", "ttl") == OptionInForce(
        "m-0", "ttl", "7", Source.CEPH_CONF, "2592000", True, "bluestore_rocksdb_options"
    )
    # The string took the place of the release's: what it does not say is as RocksDB has it.
    assert find(from_file, "m-0", "write_buffer_size") == OptionInForce(
        "m-0", "write_buffer_size", "67108864", Source.ROCKSDB_DEFAULT, "268435456", True, "6.8.1"
    )
    nothing = find(replace(evidence, config_show={}, ceph_conf=None), "m-0", "write_buffer_size")
    assert (nothing.value, nothing.source) == ("268435456", Source.CEPH_DEFAULT)


def test_option_strings_in_the_log_are_nearer_than_the_configuration(stock: OptionEvidence) -> None:
    opened = replace(stock, dump=OptionsDump("6.8.1", opened_with="ttl=1"))
    option = find(opened, "P", "ttl")
    assert (option.value, option.source) == ("1", Source.OPENED)
    option = find(replace(opened, dump=replace(opened.dump, ceph_set={"ttl": "2"})), "P", "ttl")
    assert (option.value, option.source) == ("2", Source.CEPH_SET)


def test_a_native_database(log_text: Callable[[str], bytes]) -> None:
    evidence = OptionEvidence(dump=parse_options(log_text("rocksdb-current/LOG")))
    assert find(evidence, "users", "level0_file_num_compaction_trigger") == OptionInForce(
        "users", "level0_file_num_compaction_trigger", "4", Source.SET_OPTIONS, "4"
    )
    assert find(evidence, "blobs", "level0_file_num_compaction_trigger").differs
    assert find(evidence, "default", "level_compaction_dynamic_level_bytes").differs is False
    assert ceph_options_in_force(evidence) == ()


def test_options_that_a_native_log_does_not_print_are_not_known() -> None:
    """RocksDB prints ten families; the next may have any options, and defaults would be a guess."""
    dump = OptionsDump("9.8.4", families={"default": {"ttl": "7"}}, skipped={"eleventh"})
    flushes = {"eleventh": [Flushed(1, FULL, 268_196_608)]}
    evidence = OptionEvidence(dump=dump, flushes=flushes, tables={"eleventh": {"NoCompression"}})
    known = {one.name: (one.value, one.source) for one in options_in_force(evidence) if one.family == "eleventh"}
    assert known == {
        MERGE: ("1", Source.FLUSHES),
        "write_buffer_size": (str(256 << 20), Source.FLUSHES),
        "compression": ("NoCompression", Source.TABLES),
    }


def test_set_options_of_a_family_that_is_not_printed() -> None:
    dump = OptionsDump("9.8.4", {"max_open_files": "-1"}, changed={"eleventh": {"ttl": "7"}}, skipped={"eleventh"})
    evidence = OptionEvidence(dump=dump, tables={"eleventh": {"LZ4", "ZSTD"}})
    found = [one for one in options_in_force(evidence) if one.family == "eleventh"]
    assert [(one.name, one.value, one.source) for one in found] == [("ttl", "7", Source.SET_OPTIONS)]


def test_nothing_is_known_of_a_native_log_without_options() -> None:
    assert options_in_force(OptionEvidence(rocksdb_version="9.8.4", flushes={"default": [Flushed(1)]})) == ()


def test_compression_by_level_leaves_none_for_all() -> None:
    printed = {"compression[0]": "NoCompression", "compression[1]": "LZ4"}
    evidence = OptionEvidence(dump=OptionsDump("8.8.0", families={"default": printed}))
    names = {one.name for one in options_in_force(evidence) if one.family == "default"}
    assert "compression[1]" in names
    assert "compression" not in names


def test_a_monitor(log_text: Callable[[str], bytes]) -> None:
    dump = parse_options(log_text("osd-stock/ceph-mon.a.log.gz"))
    options = options_in_force(OptionEvidence(dump=dump, ceph_version="16.2.15", daemon="mon.a"))
    assert {option.family for option in options} == {None, "default"}
    assert [option for option in options if option.differs] == []


def test_options_of_ceph(stock: OptionEvidence) -> None:
    changed = replace(
        stock,
        config_show={"osd_memory_target": "8589934592"},
        ceph_conf="[global]\nosd_memory_target = 1\ndebug_rocksdb = 1/5\n",
    )
    options = {option.name: option for option in ceph_options_in_force(changed)}
    assert options["osd_memory_target"] == OptionInForce(
        None, "osd_memory_target", "8589934592", Source.CONFIG_SHOW, "4294967296", True
    )
    assert (options["debug_rocksdb"].value, options["debug_rocksdb"].source) == ("1/5", Source.CEPH_CONF)
    queue = options["osd_op_queue"]
    assert (queue.value, queue.source, queue.detail) == ("wpq", Source.CEPH_DEFAULT, "pacific 16.2.15")


NAMES = st.sampled_from([MERGE, "ttl", "max_total_wal_size", "default", "L", "bluestore_rocksdb_cfs"]) | st.text()
OPTIONS = st.dictionaries(NAMES, st.text(max_size=20), max_size=4)
DUMPS = st.builds(
    OptionsDump,
    rocksdb_version=st.none() | st.text() | st.just("6.8.1"),
    db=OPTIONS,
    families=st.dictionaries(NAMES, OPTIONS, max_size=3),
    skipped=st.sets(NAMES, max_size=2),
    changed=st.dictionaries(st.none() | NAMES, OPTIONS, max_size=2),
    ceph_set=OPTIONS,
    opened_with=st.none() | st.text(),
)


@given(
    st.builds(
        OptionEvidence,
        dump=DUMPS,
        flushes=st.dictionaries(
            NAMES,
            st.lists(st.builds(Flushed, st.integers(), st.none() | st.just(FULL), st.none() | st.integers())),
            max_size=2,
        ),
        sharding_output=st.none() | st.text() | st.just(REEF_CFS),
        config_show=st.dictionaries(NAMES, st.text() | st.integers() | st.none(), max_size=3),
        ceph_conf=st.none() | st.text(),
        ceph_version=st.none() | st.sampled_from(["12.2", "16", "18.2.7"]) | st.text(),
        daemon=st.sampled_from(["osd.0", "mon.a"]) | st.text(),
    )
)
def test_any_evidence(evidence: OptionEvidence) -> None:
    for option in (*options_in_force(evidence), *ceph_options_in_force(evidence)):
        assert option.default is not None or not option.differs
