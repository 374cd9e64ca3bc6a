"""The ledger: replays that were made, and what was decided from them, kept in memory or in a study's file.

A replay is known by its content: the workload, scale, seed, mode and pace, the engine, and every option it ran with,
with what is to be said of those. So none is made twice, whichever prediction, candidate, round or sitting asks for it.
"""

import fcntl
import hashlib
import json
import sqlite3
import threading
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.trial import Trial
from lsmlens.tuners.workloads.generator import DeclaredStream

BUSY_SECONDS = 60.0
ANOTHER = "give another --study FILE"
KEPT_SO_FAR = "make room there; --resume goes on with what was kept"
TABLES = (
    "CREATE TABLE IF NOT EXISTS lsmlens_replays (key TEXT PRIMARY KEY, measurement BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS lsmlens_facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)


class Ledger:
    """Measurements by key and facts by name, in tables of their own of a SQLite file; safe between threads.

    Without a file they are kept in memory. A file is one process's at a time. Raises InputError for a file that is no
    such database, that another process has, or that cannot be written, now or later.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._path = path
        if path is not None:
            self._unlock = weakref.finalize(self, _alone(path).close)
        try:
            self._connection = sqlite3.connect(path or ":memory:", timeout=BUSY_SECONDS, check_same_thread=False)
            weakref.finalize(self, self._connection.close)
            self._connection.execute("PRAGMA synchronous=FULL")
            with self._connection:
                for table in TABLES:
                    self._connection.execute(table)
        except sqlite3.Error as error:
            raise InputError(str(path), f"no study can be kept there: {error}", ANOTHER) from error

    def close(self) -> None:
        """Leave the file."""
        self._connection.close()
        if self._path is not None:
            self._unlock()

    def replay(self, key: str) -> Measurement | None:
        """The measurement of a replay made before; None if there is none, or it was kept by another version."""
        row = self._row("SELECT measurement FROM lsmlens_replays WHERE key = ?", key)
        try:
            return None if row is None else msgspec.msgpack.decode(row, type=Measurement, dec_hook=_counter)
        except msgspec.ValidationError:
            return None

    def keep_replay(self, key: str, measurement: Measurement) -> None:
        """Keep a measurement; it is on disk when this returns."""
        self._write("INSERT OR REPLACE INTO lsmlens_replays VALUES (?, ?)", key, msgspec.msgpack.encode(measurement))

    def fact(self, name: str) -> Any:
        """What was kept under a name, as JSON values; None if nothing was."""
        row = self._row("SELECT value FROM lsmlens_facts WHERE name = ?", name)
        return None if row is None else json.loads(row)

    def keep_fact(self, name: str, value: object) -> None:
        """Keep JSON values under a name, instead of what was there."""
        self._write("INSERT OR REPLACE INTO lsmlens_facts VALUES (?, ?)", name, json.dumps(value))

    def decided(self, name: str, value: Any) -> Any:
        """What was kept under a name; the first time `value` is, so that a study goes on as it began."""
        kept = self.fact(name)
        if kept is None:
            self.keep_fact(name, value)
        return value if kept is None else kept

    def _row(self, statement: str, key: str) -> Any:
        with self._lock, self._in_plain_words():
            row = self._connection.execute(statement, (key,)).fetchone()
        return None if row is None else row[0]

    def _write(self, statement: str, *values: object) -> None:
        with self._lock, self._in_plain_words(), self._connection:
            self._connection.execute(statement, values)

    @contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(str(self._path), f"the study cannot be kept: {error}", KEPT_SO_FAR) from error


def _alone(path: Path) -> IO[bytes]:
    """The file, locked for as long as it is open; it goes with the process, however that ends."""
    try:
        file = path.open("ab")
    except OSError as error:
        raise InputError(str(path), f"no study can be kept there: {error.strerror or error}", ANOTHER) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise InputError(str(path), "another search is using this study", f"wait for it, or {ANOTHER}") from error
    return file


def trial_keys(trials: Sequence[Trial]) -> list[str]:
    """The keys of trials of declared workloads: equal for equal content."""
    workloads: dict[int, str] = {}  # a document is long, and the same for many trials
    keys = []
    for trial in trials:
        assert isinstance(trial.stream, DeclaredStream)
        workload = trial.stream.workload
        if id(workload) not in workloads:
            workloads[id(workload)] = hashlib.sha256(msgspec.json.encode(workload)).hexdigest()
        keys.append(_key(trial, workloads[id(workload)]))
    return keys


def _key(trial: Trial, workload_key: str) -> str:
    options = trial.options
    said = json.dumps(
        [
            workload_key,
            [trial.scale, trial.seed, str(trial.mode), trial.pace, trial.settle_bytes, trial.flush_at_end],
            [trial.engine.name, trial.engine.version, trial.engine.sets_clock],
            [dict(trial.compaction_seconds), trial.conditions],
            [dict(options.database), _nested(options.families), _nested(options.tables)],
            options.warnings,
        ],
        sort_keys=True,
    )
    return hashlib.sha256(said.encode()).hexdigest()


def _nested(families: Any) -> list[Any]:
    return [[name, dict(values)] for name, values in families.items()]


def _counter(kind: type, value: Any) -> Any:
    if getattr(kind, "__origin__", kind) is Counter:
        return Counter(value)
    raise NotImplementedError(kind)
