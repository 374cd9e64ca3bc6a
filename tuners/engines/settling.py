"""Waiting until an open database has no work left in the background.

The system is asked of RocksDB's threads as well: one that was woken for a job is runnable at once, long before a
loaded machine lets it run and the database counts the job as running.
"""

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from lsmlens.tuners.engines.compaction_gate import CompactionGate, HeldCompaction
from lsmlens.tuners.engines.errors import EngineError

SHORTEST_WAIT_SECONDS = 0.0002
LONGEST_WAIT_SECONDS = 0.004
# Seen pending so often in a row, with nothing running and every worker asleep, a compaction will not be picked up;
# where workers cannot be seen, or have other work, it is given this long to start.
LOOKS = 3
START_SECONDS = 0.25

# A family's files, and the compactions that are held: a compaction may wait for the thread of one of these.
_State: TypeAlias = tuple[int | None, list[HeldCompaction]]
TASKS = Path("/proc/self/task")
NAME = "rocksdb:"  # rocksdb:low, rocksdb:high, rocksdb:bottom


class Properties(Protocol):
    """What can be asked of a database."""

    def integer_property(self, name: str, family: str = "default") -> int | None:
        """A property as a number."""


class Settling:
    """Waits for one database, and remembers what stays pending for ever.

    Files past their ttl in the last level with files stay pending, as no compaction may pick them: they are waited for
    once in each state of a family's files. Compactions held at a gate count as at rest.
    """

    def __init__(self, database: Properties, families: Sequence[str], gate: CompactionGate | None = None) -> None:
        self._property = database.integer_property
        self._families = tuple(families)
        self._gate = gate
        self._given_up: dict[str, _State] = {}

    def settle(self) -> None:
        """Wait until nothing runs, and nothing is pending that would run; seen twice in a row.

        Raises EngineError if background work failed: then nothing will ever run again.
        """
        quiet = 0
        wait = SHORTEST_WAIT_SECONDS
        while quiet < 2:
            if self._is_running():
                quiet = 0
                self._check_background()
                time.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT_SECONDS)
            elif self._pending():
                quiet = 0
                self._await_start()
            else:
                quiet += 1

    def _await_start(self) -> None:
        """Wait until pending compactions run or are done; families whose will not start are given up."""
        asleep, since = 0, time.monotonic()
        while not self._is_running() and (pending := self._pending()):
            asleep = asleep + 1 if are_idle() else 0
            if asleep >= LOOKS or time.monotonic() - since > START_SECONDS:
                self._given_up.update((family, self._state(family)) for family in pending)
                return
            time.sleep(SHORTEST_WAIT_SECONDS)

    def _check_background(self) -> None:
        if errors := self._property("rocksdb.background-errors"):
            raise EngineError(f"RocksDB: {errors} background errors", "the disk may be full; its LOG says more")

    def _is_running(self) -> bool:
        ask = self._property
        return bool(
            ask("rocksdb.num-running-flushes")
            or (ask("rocksdb.num-running-compactions") or 0) > len(self._held())
            or any(ask("rocksdb.mem-table-flush-pending", family) for family in self._families)
        )

    def _pending(self) -> list[str]:
        """Families with a compaction pending, but for those that are known to wait in vain."""
        waiting = [family for family in self._families if self._property("rocksdb.compaction-pending", family)]
        return [one for one in waiting if one not in self._given_up or self._given_up[one] != self._state(one)]

    def _held(self) -> list[HeldCompaction]:
        return self._gate.held() if self._gate is not None else []

    def _state(self, family: str) -> _State:
        return self._property("rocksdb.current-super-version-number", family), self._held()


def are_idle() -> bool | None:
    """Whether every one of them sleeps; None where the system does not tell.

    Where they have no names of their own, all threads of the process but this one are asked.
    """
    named: list[str] = []
    others: list[str] = []
    try:
        for task in TASKS.iterdir():
            if task.name == str(threading.get_native_id()):
                continue
            # 27635 (rocksdb:low) S 1 27635 …
            name, _, rest = (task / "stat").read_text(encoding="utf-8", errors="replace").rpartition(") ")
            (named if name.partition("(")[2].startswith(NAME) else others).append(rest[:1])
    except FileNotFoundError:  # a thread that ended meanwhile, or a system without /proc
        return False if TASKS.is_dir() else None
    return all(state in "ISZ" for state in named or others)
