"""Engines to test: whatever RocksDB is found here. Write batches made by hand, and what RocksDB says it wrote."""

import json
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.engines.engine import Database, Engine
from lsmlens.tuners.engines.installing import member_names
from lsmlens.tuners.engines.library import cache_folder, given_library, system_libraries
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.workloads.stream import Batches

# A process takes one library: the one asked for, or the system's.
GIVEN = os.environ.get("LSMLENS_ROCKSDB")
LIBRARIES = [given_library(Path(GIVEN))] if GIVEN else system_libraries()
CHOICES = [EngineChoice("capi", one.version, one.path) for one in LIBRARIES[:1]]
if not GIVEN:
    CHOICES.append(EngineChoice("rocksdict", ""))


class Wire:
    """Write batches, byte by byte."""

    @staticmethod
    def put(key: bytes, value: bytes, family: int = 0) -> bytes:
        return _record(5, family, key, value)

    @staticmethod
    def merge(key: bytes, value: bytes, family: int = 0) -> bytes:
        return _record(6, family, key, value)

    @staticmethod
    def delete(key: bytes, family: int = 0) -> bytes:
        return _record(4, family, key)

    @staticmethod
    def single_delete(key: bytes, family: int = 0) -> bytes:
        return _record(8, family, key)

    @staticmethod
    def delete_range(start: bytes, stop: bytes, family: int = 0) -> bytes:
        return _record(14, family, start, stop)

    @staticmethod
    def batch(*records: bytes) -> bytes:
        return bytes(8) + len(records).to_bytes(4, "little") + b"".join(records)

    @staticmethod
    def batches(*each: bytes) -> Batches:
        offsets = np.cumsum([0, *map(len, each)])
        records = sum(int.from_bytes(one[8:12], "little") for one in each)
        return Batches(np.frombuffer(b"".join(each), np.uint8), offsets, np.arange(len(each), dtype=float), records)

    @classmethod
    def write(cls, database: Database, *each: bytes) -> None:
        database.write(cls.batches(*each), 0, len(each))

    @classmethod
    def write_puts(cls, database: Database, count: int, family: int = 0, size: int = 100) -> None:
        """Batches of one put each, of keys that come back the next time."""
        value = (bytes(range(256)) * (size // 256 + 1))[:size]
        cls.write(database, *(cls.batch(cls.put(b"key%08d" % at, value, family)) for at in range(count)))


class Log:
    """What RocksDB says in a database's LOG."""

    @staticmethod
    def text(database: Database) -> str:
        return (database.path / "LOG").read_text(encoding="utf-8", errors="replace")

    @classmethod
    def events(cls, database: Database, kind: str) -> list[dict[str, Any]]:
        said = (line.partition("EVENT_LOG_v1 ")[2] for line in cls.text(database).splitlines())
        return [event for line in said if line and (event := json.loads(line))["event"] == kind]

    @classmethod
    def tables(cls, database: Database, family: str) -> list[dict[str, Any]]:
        """Properties of the files written of a family, flushed or compacted."""
        created = cls.events(database, "table_file_creation")
        return [one["table_properties"] for one in created if one["cf_name"] == family and one["file_size"]]


Open = Callable[..., Database]


@pytest.fixture
def wire() -> type[Wire]:
    return Wire


@pytest.fixture
def log() -> type[Log]:
    return Log


@pytest.fixture(params=CHOICES, ids=lambda choice: f"{choice.name}{choice.version and '-'}{choice.version}")
def choice(request: pytest.FixtureRequest) -> EngineChoice:
    found: EngineChoice = request.param
    return found


@pytest.fixture
def engine(choice: EngineChoice) -> Engine:
    return choice()


@pytest.fixture
def capi_engine() -> Engine:
    """The engine over one shared library of RocksDB."""
    if not LIBRARIES:
        pytest.skip("the system has no library of RocksDB; LSMLENS_ROCKSDB=FILE gives one")
    return CHOICES[0]()


@pytest.fixture(scope="session")
def library() -> Path:
    """One shared library of RocksDB."""
    if not LIBRARIES:
        pytest.skip("the system has no library of RocksDB; LSMLENS_ROCKSDB=FILE gives one")
    return LIBRARIES[0].path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of engines."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LSMLENS_ROCKSDB", raising=False)
    return cache_folder()


@pytest.fixture
def jar(library: Path, tmp_path: Path) -> Path:
    """A jar as RocksDB publishes it, with a library for this machine and one for another."""
    path = tmp_path / "rocksdbjni-linux64.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0")
        archive.writestr("librocksdbjni-another.so", b"another")
        archive.write(library, member_names()[0])
    return path


@pytest.fixture
def open_database(engine: Engine, tmp_path: Path) -> Iterator[Open]:
    """Open a database with some options over the engine's defaults; it is closed in the end."""
    databases: list[Database] = []

    def open_one(
        families: tuple[str, ...] = ("default",),
        database: dict[str, str] | None = None,
        tables: dict[str, str] | None = None,
        **options: str,
    ) -> Database:
        asked = ResolvedOptions(
            "tested",
            engine.version,
            database or {},
            dict.fromkeys(families, options),
            dict.fromkeys(families, tables or {}),
        )
        databases.append(engine.open(tmp_path / f"database-{len(databases)}", asked))
        return databases[-1]

    yield open_one
    for database in databases:
        database.close()


def _varint(number: int) -> bytes:
    head = b""
    while number > 127:
        head += bytes([number & 127 | 128])
        number >>= 7
    return head + bytes([number])


def _record(tag: int, family: int, key: bytes, value: bytes | None = None) -> bytes:
    rest = b"" if value is None else _varint(len(value)) + value
    return bytes([tag]) + _varint(family) + _varint(len(key)) + key + rest
