"""Settling, against a database that says what it is told to."""

import time
from typing import Any

import pytest
from lsmlens.tuners.engines import settling
from lsmlens.tuners.engines.errors import EngineError
from lsmlens.tuners.engines.settling import Settling


class Scripted:
    """Answers of a database: per property a list, the last of which holds for ever."""

    def __init__(self, **answers: list[int]) -> None:
        self.answers = {f"rocksdb.{name.replace('_', '-')}": values for name, values in answers.items()}
        self.asked: list[str] = []

    def integer_property(self, name: str, family: str = "default") -> int | None:
        self.asked.append(name)
        values = self.answers.get(name, [0])
        return values.pop(0) if len(values) > 1 else values[0]


@pytest.fixture
def asleep(monkeypatch: pytest.MonkeyPatch) -> list[bool | None]:
    """What are_idle says."""
    answers: list[bool | None] = [True]
    monkeypatch.setattr(settling, "are_idle", lambda: answers[0])
    return answers


def test_waits_until_nothing_runs() -> None:
    database = Scripted(num_running_compactions=[1, 1, 1, 0], num_running_flushes=[0, 1, 0])
    Settling(database, ["default"]).settle()
    assert database.answers["rocksdb.num-running-compactions"] == [0]
    assert database.asked.count("rocksdb.background-errors") >= 3


def test_waits_for_what_is_pending_and_starts(asleep: list[bool | None]) -> None:
    asleep[0] = False
    database = Scripted(compaction_pending=[1, 1, 1, 1, 1, 1, 0])
    Settling(database, ["default"]).settle()
    assert database.answers["rocksdb.compaction-pending"] == [0]


@pytest.mark.usefixtures("asleep")
def test_gives_up_what_no_worker_picks_up_once_for_each_state() -> None:
    database = Scripted(compaction_pending=[1], current_super_version_number=[7])
    waiting = Settling(database, ["default"])
    waiting.settle()
    first = len(database.asked)
    waiting.settle()
    second = len(database.asked) - first
    assert second < first / 2
    database.answers["rocksdb.current-super-version-number"] = [8]
    waiting.settle()
    assert len(database.asked) - first - second > 2 * second


@pytest.mark.parametrize("answer", [None, False])
def test_gives_up_in_time_where_workers_do_not_tell(asleep: list[bool | None], answer: bool | None) -> None:
    asleep[0] = answer
    before = time.monotonic()
    Settling(Scripted(compaction_pending=[1]), ["default"]).settle()
    assert time.monotonic() - before > settling.START_SECONDS


def test_background_errors_end_it() -> None:
    with pytest.raises(EngineError, match="2 background errors"):
        Settling(Scripted(mem_table_flush_pending=[1], background_errors=[2]), ["default"]).settle()


def test_names_and_states_of_threads(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "TASKS", tmp_path)

    def thread(number: int, name: str, state: str) -> None:
        (tmp_path / str(number)).mkdir(exist_ok=True)
        (tmp_path / str(number) / "stat").write_text(f"{number} ({name}) {state} 1 2 3")

    thread(1, "python", "S")
    assert settling.are_idle() is True
    thread(1, "python", "R")
    assert settling.are_idle() is False
    thread(2, "rocksdb:low", "S")
    assert settling.are_idle() is True
    thread(3, "rocksdb:low0", "D")
    assert settling.are_idle() is False
    (tmp_path / "4").mkdir()
    assert settling.are_idle() is False
    monkeypatch.setattr(settling, "TASKS", tmp_path / "none")
    assert settling.are_idle() is None
