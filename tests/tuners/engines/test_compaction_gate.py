"""The gate: compactions that wait with their inputs taken, in a real RocksDB."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsmlens.tuners.engines.compaction_gate import CompactionGate
from lsmlens.tuners.engines.engine import Database, Engine
from lsmlens.tuners.options.resolved_options import ResolvedOptions

Held = Callable[..., tuple[Database, CompactionGate]]
TRIGGER = 2


@pytest.fixture
def held(capi_engine: Engine, tmp_path: Path) -> Iterator[Held]:
    """Open a database with its gate closed; two tables in level 0 make a compaction."""
    opened: list[Database] = []

    def make(**options: str) -> tuple[Database, CompactionGate]:
        database = capi_engine.open(tmp_path / "database", asked(capi_engine, **options), holds=True)
        opened.append(database)
        assert database.gate is not None
        database.gate.close()
        return database, database.gate

    yield make
    for database in opened:
        database.close()


def asked(engine: Engine, **options: str) -> ResolvedOptions:
    family = {"level0_file_num_compaction_trigger": str(TRIGGER), "compression": "kNoCompression", **options}
    return ResolvedOptions("tested", engine.version, {}, {"default": family}, {"default": {}})


def flush(database: Database, wire: Any, tables: int) -> None:
    """Write so many tables to level 0."""
    for _ in range(tables):
        wire.write_puts(database, 200)
        database.flush("default")
        database.settle()


def files(database: Database, level: int) -> int:
    return database.integer_property(f"rocksdb.num-files-at-level{level}") or 0


def test_a_held_compaction_has_taken_its_inputs(held: Held, wire: Any, log: Any) -> None:
    database, gate = held()
    flush(database, wire, 5)
    (first,) = gate.held()
    assert first.family == "default"
    assert files(database, 0) == 5
    gate.release(first)
    database.settle()
    (second,) = gate.held()
    assert second is not first
    assert (files(database, 0), files(database, 1)) == (3, 1)
    gate.open()
    database.settle()
    assert gate.held() == []
    assert files(database, 0) < TRIGGER
    started = log.events(database, "compaction_started")
    assert [len(one["files_L0"]) for one in started[:2]] == [TRIGGER, 3]


def test_the_options_are_as_asked(held: Held) -> None:
    database, _ = held()
    assert database.options.families["default"].get("compaction_filter_factory", "nullptr") == "nullptr"
    assert not [warning for warning in database.options.warnings if "filter" in warning]


def test_a_database_closes_with_compactions_held(held: Held, wire: Any) -> None:
    database, gate = held()
    flush(database, wire, 3)
    assert gate.held()
    database.close()
    assert gate.held() == []


def test_writes_that_are_stopped_let_a_compaction_end(held: Held, wire: Any) -> None:
    database, gate = held(level0_slowdown_writes_trigger="4", level0_stop_writes_trigger="4")
    flush(database, wire, 3)
    (first,) = gate.held()
    done = threading.Event()

    def write() -> None:
        gate.writing(True)
        wire.write_puts(database, 200)
        database.flush("default")  # waits, for a fourth table would stop all writes
        gate.writing(False)
        done.set()

    threading.Thread(target=write, daemon=True).start()
    assert done.wait(30)
    assert first not in gate.held()


def test_there_is_a_gate_only_where_one_is_asked_for_and_can_be(engine: Engine, tmp_path: Path) -> None:
    for holds in (False, True):
        database = engine.open(tmp_path / str(holds), asked(engine), holds)
        assert (database.gate is not None) == (holds and engine.name == "capi")
        database.close()


def test_an_open_gate_holds_nothing(held: Held, wire: Any) -> None:
    database, gate = held()
    gate.open()
    before = time.monotonic()
    flush(database, wire, 3)
    assert gate.held() == []
    assert files(database, 0) < TRIGGER
    assert time.monotonic() - before < 30
