"""Every engine that is here, held to the same."""

import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.engines.engine import Database, Engine
from lsmlens.tuners.engines.errors import EngineError, OptionMismatch
from lsmlens.tuners.engines.versions import version_numbers
from lsmlens.tuners.options.resolved_options import ResolvedOptions

Open = Callable[..., Database]
SMALL = {
    "write_buffer_size": "65536",
    "arena_block_size": "0",
    "compression": "kNoCompression",
    "level_compaction_dynamic_level_bytes": "false",
}


def flush(database: Database, family: str = "default") -> None:
    """Flush, or leave the test where this version's C API cannot."""
    try:
        database.flush(family)
    except EngineError as error:
        pytest.skip(str(error))


def test_says_its_version(engine: Engine, open_database: Open) -> None:
    assert engine.version == open_database().options.rocksdb_version


def test_families_come_in_their_order(open_database: Open) -> None:
    names = ("default", "p-0", "O-0", "L")
    assert tuple(open_database(names).options.families) == names


def test_options_in_force_can_be_asked_for_again(open_database: Open) -> None:
    """Every option of a database, given to the next one as its OPTIONS file has it."""
    first = open_database(("default", "P"), write_buffer_size="1048576", arena_block_size="0").options
    assert first.warnings == ()
    assert len(first.database) > 50
    assert len(first.families["P"]) > 40
    again = open_database(("default", "P"), first.database, first.tables["P"], **first.families["P"]).options
    assert again.database == first.database
    assert again.families["P"] == first.families["P"]
    assert again.tables == first.tables


def test_each_kind_of_record(engine: Engine, open_database: Open, wire: Any, log: Any) -> None:
    database = open_database(("default", "m", "p"))
    records = (
        wire.put(b"a", b"1", 2),
        wire.put(b"b", b"22", 2),
        wire.put(b"c", b"333", 2),
        wire.delete(b"b", 2),
        wire.merge(b"a", b"4444", 2),
        wire.put(b"x", b"x" * 300, 1),
    )
    wire.write(database, wire.batch(*records[:3]), wire.batch(*records[3:]))
    assert database.tickers()["rocksdb.number.keys.written"] == len(records)
    for family in ("m", "p"):
        flush(database, family)
    (p,), (m,) = log.tables(database, "p"), log.tables(database, "m")
    assert (p["num_entries"], p["raw_value_size"]) == (3, len("4444") + len("333"))
    assert (m["num_entries"], m["raw_value_size"]) == (1, 300)
    assert not log.tables(database, "default")


def test_single_deletes(engine: Engine, open_database: Open, wire: Any, log: Any) -> None:
    """A single delete takes its put with it where both meet; a delete, which rocksdict writes, stays."""
    database = open_database()
    wire.write(database, wire.batch(wire.put(b"a", b"1"), wire.put(b"b", b"2"), wire.single_delete(b"a")))
    flush(database)
    (table,) = log.tables(database, "default")
    assert table["num_entries"] == (2 if engine.name == "rocksdict" else 1)


def test_range_deletes(open_database: Open, wire: Any, log: Any) -> None:
    database = open_database()
    wire.write(database, *(wire.batch(wire.put(b"key%d" % at, b"value")) for at in range(9)))
    wire.write(database, wire.batch(wire.delete_range(b"key2", b"key8")))
    flush(database)
    (table,) = log.tables(database, "default")
    assert table["num_range_deletions"] == 1
    assert table["num_entries"] == 3 + 1


def test_only_the_batches_asked_for_are_written(open_database: Open, wire: Any) -> None:
    database = open_database()
    each = [wire.batch(wire.put(b"%d" % at, b"value")) for at in range(10)]
    database.write(wire.batches(*each), 3, 7)
    database.write(wire.batches(*each), 7, 7)
    assert database.tickers()["rocksdb.number.keys.written"] == 4


def test_a_clamped_option_is_a_mismatch(open_database: Open) -> None:
    with pytest.raises(OptionMismatch, match="min_write_buffer_number_to_merge=32 of family default: it runs with 3"):
        open_database(min_write_buffer_number_to_merge="32", max_write_buffer_number="4")


def test_a_comma_drops_nothing_in_silence(open_database: Open) -> None:
    with pytest.raises(EngineError):
        open_database(write_buffer_size="65536,ttl=3")


def test_a_value_that_is_none(open_database: Open) -> None:
    with pytest.raises(EngineError):
        open_database(write_buffer_size="much")


def test_a_harmless_change_is_a_warning(open_database: Open) -> None:
    (warning,) = open_database(database={"max_open_files": "5"}).options.warnings
    assert "max_open_files=5 of the database: it runs with 20" in warning


def test_unknown_options_are_a_warning(open_database: Open) -> None:
    options = open_database(database={"no_such_option": "1"}, neither_this="2").options
    (warning,) = options.warnings
    assert warning.endswith("left out: no_such_option, neither_this")


def test_folders_are_a_replays_own(open_database: Open, tmp_path: Path) -> None:
    options = open_database(database={"wal_dir": f"{tmp_path}/db.wal"}).options
    assert options.warnings == (f"wal_dir={tmp_path}/db.wal: a replay keeps all its files in one folder",)
    assert not (tmp_path / "db.wal").exists()
    assert "wal_dir" not in options.database


def test_other_merge_operators_are_a_warning(open_database: Open) -> None:
    (warning,) = open_database(merge_operator=".T:int64_array.b:bitwise_xor").options.warnings
    assert warning.startswith("merge_operator=.T:int64_array.b:bitwise_xor")


def test_warnings_of_the_options_are_kept(engine: Engine, tmp_path: Path) -> None:
    asked = ResolvedOptions("tested", engine.version, {}, {"default": {}}, {}, ("said before",))
    database = engine.open(tmp_path / "database", asked)
    database.close()
    assert database.options.warnings == ("said before",)


def test_spellings_of_a_value(open_database: Open) -> None:
    options = open_database(
        tables={"filter_policy": "bloomfilter:20:false", "block_size": "8K"},
        write_buffer_size="64K",
        arena_block_size="0",
        max_bytes_for_level_multiplier="8",
        disable_auto_compactions="1",
        compression="kLZ4Compression",
        compression_per_level="kNoCompression:kLZ4Compression",
        compaction_options_universal="{size_ratio=7}",
    ).options
    assert options.warnings == ()
    family = options.families["default"]
    assert family["write_buffer_size"] == "65536"
    assert family["disable_auto_compactions"] == "true"
    assert "size_ratio=7;" in family["compaction_options_universal"]


@pytest.mark.parametrize("asked", ["1048576", "1M", "{capacity=1048576;num_shard_bits=2}"])
def test_a_block_cache(open_database: Open, asked: str) -> None:
    """RocksDB writes it into no OPTIONS file; the database tells."""
    options = open_database(("default", "p"), tables={"block_cache": asked}).options
    assert options.warnings == ()
    assert {table["block_cache"] for table in options.tables.values()} == {"1048576"}


def test_block_caches_of_a_familys_own(engine: Engine, tmp_path: Path) -> None:
    tables = {"default": {}, "p": {"block_cache": "2097152"}, "O": {"block_cache": "3145728"}}
    asked = ResolvedOptions("tested", engine.version, {}, {name: {} for name in tables}, tables)
    database = engine.open(tmp_path / "database", asked)
    database.close()
    assert database.options.warnings == ()
    assert database.options.tables["p"]["block_cache"] == "2097152"
    assert database.options.tables["O"]["block_cache"] == "3145728"
    assert int(database.options.tables["default"]["block_cache"]) in (8 << 20, 32 << 20)


def test_settled_means_settled(open_database: Open, wire: Any) -> None:
    database = open_database(**SMALL, target_file_size_base="65536", max_bytes_for_level_base="262144")
    wire.write_puts(database, 5000)
    database.settle()
    for name in ("compaction-pending", "mem-table-flush-pending", "num-running-compactions", "num-running-flushes"):
        assert not database.integer_property(f"rocksdb.{name}"), name
    files = database.integer_property("rocksdb.num-files-at-level0")
    assert files is not None
    assert files < 4
    assert any(database.integer_property(f"rocksdb.num-files-at-level{level}") for level in (1, 2))


def test_what_stays_pending_does_not_hold_a_settling(open_database: Open, wire: Any) -> None:
    database = open_database(**SMALL, disable_auto_compactions="true", level0_file_num_compaction_trigger="2")
    wire.write_puts(database, 5000)
    database.settle()
    assert (database.integer_property("rocksdb.num-files-at-level0") or 0) > 2
    assert database.integer_property("rocksdb.compaction-pending")


def test_properties(open_database: Open, wire: Any) -> None:
    database = open_database(("default", "p"))
    wire.write_puts(database, 10, family=1)
    assert database.integer_property("rocksdb.estimate-num-keys", "p") == 10
    assert database.integer_property("rocksdb.estimate-num-keys") == 0
    assert "Compaction Stats [p]" in (database.text_property("rocksdb.stats", "p") or "")
    assert database.integer_property("rocksdb.no-such-property") is None
    assert database.text_property("rocksdb.no-such-property") is None


@pytest.mark.parametrize("torn", [b"123", bytes(8) + b"\1\0\0\0", bytes(8) + b"\1\0\0\0\x05\x00\x7fkey"])
def test_a_torn_batch_is_an_error_each_time(open_database: Open, wire: Any, torn: bytes) -> None:
    database = open_database()
    for _ in range(3):
        with pytest.raises(EngineError, match=r"[Ww]rite ?[Bb]atch"):
            wire.write(database, torn)


def test_a_family_that_is_not_there(open_database: Open, wire: Any) -> None:
    with pytest.raises(EngineError, match="family"):
        wire.write(open_database(), wire.batch(wire.put(b"key", b"value", family=7)))


def test_a_folder_that_cannot_be(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EngineError, match="RocksDB"):
        engine.open(tmp_path / "file" / "database", ResolvedOptions("tested", "", {}, {"default": {}}, {}))


def test_a_refused_open_leaves_nothing_open(engine: Engine, tmp_path: Path) -> None:
    wrong = ResolvedOptions("tested", "", {}, {"default": {"max_write_buffer_number": "1"}}, {})
    with pytest.raises(OptionMismatch):
        engine.open(tmp_path / "database", wrong)
    engine.open(tmp_path / "database", replace(wrong, families={"default": {}})).close()


def test_closing_flushes_nothing(engine: Engine, tmp_path: Path, wire: Any, log: Any) -> None:
    database = engine.open(tmp_path / "database", ResolvedOptions("tested", "", {}, {"default": {}}, {}))
    wire.write_puts(database, 10)
    database.close()
    database.close()
    assert not log.tables(database, "default")
    assert "Shutdown complete" in log.text(database)


def test_the_clock_makes_files_old(open_database: Open, wire: Any, log: Any) -> None:
    """A file of level 0, alone above level 1, goes down for its age; RocksDB looks when the next file comes."""
    database = open_database(**SMALL, ttl="3600")
    start = int(time.time())
    if not database.set_clock(start):
        pytest.skip("the clock of this library cannot be set here")
    for _ in range(100):
        wire.write_puts(database, 100)
        database.settle()
        if database.integer_property("rocksdb.num-files-at-level1"):
            break
    _write_one_file(database, wire)
    assert set(_reasons(database, log)) == {"LevelL0FilesNum"}
    database.set_clock(start + 7200)
    _write_one_file(database, wire)
    assert _reasons(database, log)[-1] == "Ttl"


def _write_one_file(database: Database, wire: Any) -> None:
    flushed = database.tickers()["rocksdb.flush.write.bytes"]
    while database.tickers()["rocksdb.flush.write.bytes"] == flushed:
        wire.write_puts(database, 100)
        database.settle()


def _reasons(database: Database, log: Any) -> list[str]:
    return [event["compaction_reason"] for event in log.events(database, "compaction_started")]


def test_the_clock_is_true_again_after_the_close(open_database: Open, wire: Any, log: Any) -> None:
    database = open_database()
    if not database.set_clock(1_000_000_000):
        pytest.skip("the clock of this library cannot be set here")
    database.close()
    database = open_database(**SMALL)
    wire.write_puts(database, 700)
    database.settle()
    assert all(table.get("creation_time", 1 << 40) > 1_700_000_000 for table in log.tables(database, "default"))


def test_compact_on_deletion(open_database: Open, wire: Any, log: Any) -> None:
    database = open_database(compact_on_deletion="{sliding_window=100;trigger=50}")
    if database.options.warnings:
        assert "no way to set it" in database.options.warnings[0]
        return
    assert database.options.families["default"]["compact_on_deletion"] == "{sliding_window=100;trigger=50}"
    wire.write(database, wire.batch(*(wire.put(b"key%04d" % at, b"value") for at in range(200))))
    flush(database)
    wire.write(database, wire.batch(*(wire.delete(b"key%04d" % at) for at in range(200))))
    flush(database)
    database.settle()
    assert "FilesMarkedForCompaction" in _reasons(database, log)


def test_no_collector(open_database: Open) -> None:
    assert open_database(compact_on_deletion="{sliding_window=0;trigger=0}").options.warnings == ()


def test_a_collector_that_says_nothing(open_database: Open) -> None:
    (warning,) = open_database(compact_on_deletion="{window=1}").options.warnings
    assert "no sliding_window and trigger" in warning


def test_a_choice_goes_to_a_process_of_its_own(choice: EngineChoice, tmp_path: Path) -> None:
    script = (
        "import pickle, sys; from pathlib import Path\n"
        "from lsmlens.tuners.options.resolved_options import ResolvedOptions\n"
        "engine = pickle.loads(bytes.fromhex(sys.argv[1]))()\n"
        "options = ResolvedOptions('tested', engine.version, {}, {'default': {}}, {})\n"
        "database = engine.open(Path(sys.argv[2]), options)\n"
        "print(engine.version, *engine.notes[:1], sep='|')\n"
        "database.close()"
    )
    sent = pickle.dumps(replace(choice, notes=("the nearest",))).hex()
    command = [sys.executable, "-c", script, sent, str(tmp_path / "database")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    version, note = done.stdout.strip().split("|")
    assert version_numbers(version)
    assert note == "the nearest"
