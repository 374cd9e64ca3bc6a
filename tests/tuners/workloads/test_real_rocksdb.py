"""Generated batches written by a real RocksDB: what it then holds is what the operations come to."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.sources import open_workload
from lsmlens.tuners.workloads.stream import Stream
from rocksdict import AccessType, Options, Rdict

LIBRARIES = sorted(Path("/usr/lib").glob("*/librocksdb.so.*.*"))
FAMILIES = (
    """
name: O
shards: 2
keys: {length: 70, front: 12, order: scattered}
values: {kind: uniform, low: 0, high: 300}
compression_ratio: 0.5
components:
- {kind: overwrite, rate: 100, working_sets: [{keys: 300, zipf: 0.9}], deletes_per_put: 0.2, preload: 40}
- {kind: growth, rate: 4, deletes_per_put: 0.5, delete_order: random, preload: 30, values: 20000}
""",
    """
name: P
keys: {length: 41, order: grouped, groups: 4}
values: 150.5
components:
- {kind: queue, rate: 100, lifetime_puts: 300, trim: 10, preload: 100}
- {kind: queue, rate: 10, lifetime_puts: 30, single_delete: true}
""",
    """
name: default
keys: {length: {kind: uniform, low: 9, high: 150}}
values: 7
components:
- {kind: clustered, rate: 100, objects: 5, keys_per_object: 60, batch: 7, removals_per_put: 0.2, clears_per_put: 0.01}
- {kind: growth, rate: 20, deletes_per_put: 0.1, range_deletes_per_put: 0.05, range_width: 8, keys: {length: 30}}
""",
)


@pytest.fixture(params=["rocksdict", "system library"])
def choice(request: pytest.FixtureRequest) -> EngineChoice:
    if request.param == "rocksdict":
        return EngineChoice("rocksdict", "9.8.4")
    if not LIBRARIES:
        pytest.skip("no librocksdb is installed (Debian: librocksdb7.8)")
    return EngineChoice("capi", LIBRARIES[0].name.partition(".so.")[2], LIBRARIES[0])


def write(stream: Stream, choice: EngineChoice, path: Path) -> None:
    nothing: dict[str, dict[str, str]] = {name: {} for name in stream.families}
    path.mkdir()
    engine = choice()
    database = engine.open(path, ResolvedOptions("defaults", engine.version, {}, nothing, nothing))
    for batches in stream.batches(1):
        database.write(batches, 0, len(batches.seconds))
    for name in stream.families:
        database.flush(name)
    database.close()


def contents(path: Path, families: tuple[str, ...]) -> dict[str, Any]:
    options = Options(raw_mode=True)
    database = Rdict(
        str(path), options, column_families=dict.fromkeys(families, options), access_type=AccessType.read_only()
    )
    held = {name: dict(database.get_column_family(name).items()) for name in families}
    database.close()
    return held


def expected(batches: Any, families: tuple[str, ...]) -> dict[str, dict[bytes, bytes]]:
    held: dict[str, dict[bytes, bytes]] = {name: {} for name in families}
    for _, batch in batches:
        for kind, number, key, value in batch:
            family = held[families[number]]
            if kind in "PM":
                family[key] = value
            elif kind == "R":
                for one in [one for one in family if key <= one < value]:
                    del family[one]
            else:
                family.pop(key, None)
    return held


def test_a_declared_workload(
    choice: EngineChoice, workload: Callable[..., Workload], decoded: Callable[..., Any], tmp_path: Path
) -> None:
    stream = DeclaredStream(workload(*FAMILIES, transactions="{operations: 20}"))
    write(stream, choice, tmp_path / "db")
    held = contents(tmp_path / "db", stream.families)
    assert held == expected(decoded(stream), stream.families)
    assert all(held.values())


@pytest.mark.parametrize("name", ["query-traces/fillrandom.trace", "query-traces/randomwithverify.trace"])
def test_a_trace(name: str, choice: EngineChoice, fixtures: Path, decoded: Callable[..., Any], tmp_path: Path) -> None:
    stream = open_workload(str(fixtures / name))
    write(stream, choice, tmp_path / "db")
    assert contents(tmp_path / "db", stream.families) == expected(decoded(stream), stream.families)


def test_batches_of_a_log(choice: EngineChoice, fixtures: Path, decoded: Callable[..., Any], tmp_path: Path) -> None:
    stream = open_workload(str(fixtures / "osd-write-batches" / "ceph-osd.0.log.gz"))
    write(stream, choice, tmp_path / "db")
    # Merges are in "default" alone; who reads has no operator for them.
    families = stream.families[1:]
    held, wanted = contents(tmp_path / "db", stream.families), expected(decoded(stream), stream.families)
    assert {name: held[name] for name in families} == {name: wanted[name] for name in families}
