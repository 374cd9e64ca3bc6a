"""What writing through an engine costs, beside RocksDB's own db_bench in the same run.

db_bench writes a million random records of 16 and 100 bytes, 100 a batch, with WAL, without sync, without compression;
the engine writes a workload of the same numbers and sizes under the very options that db_bench left in its OPTIONS
file. The two take turns; what is compared is the median of the ratios of neighbouring runs, and the best of each,
printed. The limits are far below the aims (0.9 of db_bench, 1.3 of the system's build for the official one): on a
shared machine one run may take twice as long as the next.
"""

import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.tuners.engines.library import Library, system_libraries
from lsmlens.tuners.engines.option_readback import latest_options_file
from lsmlens.tuners.options.options_file import options_file, read_options_file

pytestmark = pytest.mark.slow

RECORDS, TURNS = 1_000_000, 5
WORKLOAD = f"""\
schema: lsmlens.workload/1
name: fillrandom
origin: {{kind: preset}}
units: {{time: seconds, size: bytes, rate: puts/second, lifetime: puts}}
seconds: 10
transactions: {{operations: 100, families: together}}
column_families:
- name: default
  keys: {{length: 16}}
  values: 100
  components:
  - {{kind: overwrite, rate: {RECORDS // 10}, working_sets: [{{keys: {RECORDS}}}]}}
"""
# In a process of its own, as replays are: where it writes, the library, its version, the workload, the options.
PROGRAM = """\
import json, sys, time
from pathlib import Path
from lsmlens.tuners.engines.capi import CapiEngine
from lsmlens.tuners.options.options_file import read_options_file
from lsmlens.tuners.workloads.sources import open_workload
folder, library, version, workload, options = sys.argv[1:]
stream = open_workload(workload)
database = CapiEngine(Path(library), version).open(Path(folder), read_options_file(Path(options)))
records, writing, start = 0, 0.0, time.perf_counter()
for batches in stream.batches(1):
    before = time.perf_counter()
    database.write(batches, 0, len(batches.offsets) - 1)
    writing += time.perf_counter() - before
    records += batches.records
wall = time.perf_counter() - start
written = database.tickers()["rocksdb.number.keys.written"]
database.close()
assert written == records
print(json.dumps({"records": records, "wall": wall, "writing": writing}))
"""


@pytest.fixture(scope="module")
def system_library() -> Library:
    found = system_libraries()
    if not found:
        pytest.skip("needs the system's librocksdb")
    return found[-1]


@pytest.fixture(scope="module")
def db_bench() -> str:
    path = shutil.which("db_bench")
    if path is None:
        pytest.skip("needs db_bench, of Debian's rocksdb-tools")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in memory, where there is one: disks of shared machines vary more than what is measured."""
    memory = Path("/dev/shm")
    path = Path(tempfile.mkdtemp(dir=memory)) if memory.is_dir() else tmp_path_factory.mktemp("benchmark")
    yield path
    shutil.rmtree(path)


def run_db_bench(program: str, folder: Path, options: Path) -> float:
    """Records a second; the options it wrote with are put into `options`."""
    database = folder / "db_bench"
    database.mkdir()
    command = [
        *(program, f"--db={database}", "--benchmarks=fillrandom", "--batch_size=100", f"--num={RECORDS}"),
        *("--key_size=16", "--value_size=100", "--compression_type=none", "--write_buffer_size=33554432"),
        *("--max_write_buffer_number=4", "--max_background_jobs=2", "--threads=1", "--sync=0", "--disable_wal=0"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    written = replace(read_options_file(latest_options_file(database)), name="db_bench")
    database_options = {name: value for name, value in written.database.items() if name != "wal_dir"}
    options.write_text(options_file(replace(written, database=database_options)))
    shutil.rmtree(database)
    match = re.search(r"fillrandom\s*:.* (\d+) ops/sec", done.stdout)
    assert match, done.stdout
    return float(match[1])


def run_engine(library: Library, folder: Path, options: Path) -> dict[str, float]:
    database, workload = folder / "engine", folder / "workload.yaml"
    workload.write_text(WORKLOAD)
    arguments = [database, library.path, library.version, workload, options]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    shutil.rmtree(database)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def test_beside_db_bench(
    system_library: Library, db_bench: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = folder / "OPTIONS"
    peers, whole, written, shares = [], [], [], []
    for _ in range(TURNS):
        peers.append(run_db_bench(db_bench, folder, options))
        one = run_engine(system_library, folder, options)
        whole.append(one["records"] / one["wall"])
        written.append(one["records"] / one["writing"])
        shares.append(1 - one["writing"] / one["wall"])
    median = statistics.median(mine / peer for mine, peer in zip(whole, peers, strict=True))
    alone = statistics.median(mine / peer for mine, peer in zip(written, peers, strict=True))
    with capsys.disabled():
        print(
            f"\nRocksDB {system_library.version}: engine/db_bench {median:.2f} with generation, {alone:.2f} without"
            f" (best {max(whole) / max(peers):.2f} and {max(written) / max(peers):.2f};"
            f" best {max(whole) / 1e3:.0f} k, {max(written) / 1e3:.0f} k, {max(peers) / 1e3:.0f} k records/s);"
            f" generation {100 * statistics.median(shares):.1f} % of wall time"
        )
    assert max(median, max(whole) / max(peers)) > 0.6
    assert statistics.median(shares) < 0.25


def test_official_build_beside_the_systems(
    system_library: Library, db_bench: str, folder: Path, capsys: pytest.CaptureFixture[str],
    official_build: Callable[[str], Library],
) -> None:  # fmt: skip
    official = official_build("7.9.2")
    options = folder / "OPTIONS"
    run_db_bench(db_bench, folder, options)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(TURNS):
        for library, rates in ((official, ours), (system_library, theirs)):
            one = run_engine(library, folder, options)
            rates.append(one["records"] / one["wall"])
    median = statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))
    with capsys.disabled():
        print(
            f"\nRocksDB 7.9.2's official build / the system's {system_library.version}: {median:.2f}"
            f" (best {max(ours) / max(theirs):.2f}; best {max(ours) / 1e3:.0f} k, {max(theirs) / 1e3:.0f} k records/s)"
        )
    assert max(median, max(ours) / max(theirs)) > 0.9
