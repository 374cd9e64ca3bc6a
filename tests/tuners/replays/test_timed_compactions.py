"""Compactions that last: by what they read, one after the other, in a real RocksDB too."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lsmlens.analyzer.dumps.statistics_dumps import parse_dump
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.engines.compaction_gate import CompactionGate, HeldCompaction
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.timed_compactions import SecondsPerByte, TimedCompactions
from lsmlens.tuners.replays.trial import Trial, run_trial
from lsmlens.tuners.replays.workspace import Limits
from lsmlens.tuners.workloads.components import Keys, Overwrite, WorkingSet
from lsmlens.tuners.workloads.document import ColumnFamily, Workload
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.stream import Batches

HEADER = "Level    Files   Size     Score Read(GB)"
SPEED = {"p": SecondsPerByte(2.0 / 1024, 1.0 / 1024), "O": SecondsPerByte(4.0 / 1024, 3.0 / 1024)}


class Scripted(CompactionGate):
    """A gate and a database in one: `begins` says what compactions begin when it settles, as rows of levels."""

    def __init__(self, *begins: str | None, family: str = "p") -> None:
        super().__init__()
        self.family = family
        self.begins = list(begins)
        self.now: list[HeldCompaction] = []
        self.written: list[float] = []
        self.ended: list[float] = []
        self.rows = ""

    def held(self) -> list[HeldCompaction]:
        return list(self.now)

    def release(self, held: HeldCompaction) -> None:
        self.now.remove(held)
        self.ended.append(held.due)

    def write(self, batches: Batches, first: int, last: int) -> None:
        assert last > first
        self.written.append(float(batches.seconds[first]))

    def settle(self) -> None:
        rows = self.begins.pop(0) if self.begins else None
        if rows is not None:
            self.rows = rows
            self.now.append(HeldCompaction(self.family))

    def text_property(self, name: str, family: str = "default") -> str | None:
        assert (name, family) == ("rocksdb.cfstats-no-file-histogram", self.family)
        return f"** Compaction Stats [p] **\n{HEADER}\n{'-' * 40}\n{self.rows}\n Sum 9/9 9.00 KB 0.0 0.0\n"


def batches(*seconds: float) -> Batches:
    return Batches(np.zeros(len(seconds), np.uint8), np.arange(len(seconds) + 1), np.array(seconds), len(seconds))


def test_rows_of_levels_are_read() -> None:
    title = "** Compaction Stats [p] **"
    text = f"{title}\n{HEADER}\n  L0 4/2 8.00 KB 1.0 0.0\n L1 3/0 1.00 MB 1.0 0.0\n Sum 7/2 1.01 MB 0.0 0.0\n"
    rows = parse_dump(text).families["p"].levels
    assert [(one.level, one.files, one.files_being_compacted, one.size_bytes) for one in rows] == [
        (0, 4, 2, 8192),
        (1, 3, 0, 1 << 20),
    ]


def test_a_compaction_lasts_by_what_it_reads() -> None:
    made = Scripted(None, " L0 4/2 8.00 KB 1.0 0.0\n L1 2/1 4.00 KB 1.0 0.0")
    timed = TimedCompactions(made, made, SPEED)
    timed.write(batches(10.0), 0, 1)
    timed.settle()
    (held,) = made.now
    assert held.due == pytest.approx(10 + (4 + 2) * 2)  # 4 KB of level 0 and 2 KB of level 1, at 2 seconds each
    timed.write(batches(21.9), 0, 1)
    assert made.ended == []
    timed.write(batches(22.0), 0, 1)
    assert made.ended == [pytest.approx(22)]
    assert made.written == [10.0, 21.9, 22.0]


def test_the_next_begins_when_one_ends_and_reads_what_is_its_own() -> None:
    first = " L0 2/2 4.00 KB 1.0 0.0"
    second = " L0 2/2 4.00 KB 1.0 0.0\n L1 4/3 4.00 KB 1.0 0.0"
    third = " L0 2/2 4.00 KB 1.0 0.0\n L1 4/2 4.00 KB 1.0 0.0"
    made = Scripted(None, first, None, second, None, third)
    timed = TimedCompactions(made, made, SPEED)
    timed.write(batches(0.0), 0, 1)
    timed.settle()
    timed.write(batches(1.0), 0, 1)
    timed.settle()
    assert [one.due for one in made.now] == [pytest.approx(8), pytest.approx(1 + 3)]  # the second reads level 1 only
    timed.write(batches(5.0), 0, 1)
    assert made.ended == [pytest.approx(4)]
    assert [one.due for one in made.now] == [pytest.approx(8), pytest.approx(4 + 2)]
    timed.finish()
    assert made.now == []
    assert made.ended == sorted(made.ended)


def test_a_family_without_a_speed_is_as_fast_as_the_others_on_average() -> None:
    made = Scripted(None, " L0 2/2 4.00 KB 1.0 0.0", family="m-1")
    timed = TimedCompactions(made, made, SPEED)
    timed.write(batches(0.0), 0, 1)
    timed.settle()
    assert made.now[0].due == pytest.approx(4 * 3)
    timed.finish()
    assert made.now == []


@pytest.fixture
def run(tmp_path: Path) -> Callable[[float], Measurement]:
    """Replay 12 MB over 60 s where compactions take so many seconds for each MiB they read."""
    library = next(Path("/usr/lib").glob("*/librocksdb.so.7.8"), None)
    if library is None:
        pytest.skip("Debian's librocksdb 7.8 is not installed")
    keys = Overwrite(rate=500.0, working_sets=(WorkingSet(keys=8000),))
    family = ColumnFamily(name="default", keys=Keys(length=24, order="scattered"), values=400, components=(keys,))
    options = {
        **{"write_buffer_size": "262144", "max_write_buffer_number": "8", "compression": "kNoCompression"},
        **{"level0_file_num_compaction_trigger": "2", "max_bytes_for_level_base": "1048576"},
        **{"target_file_size_base": "262144", "level_compaction_dynamic_level_bytes": "false"},
    }
    engine = EngineChoice("capi", "7.8.3", library)
    trial = Trial(
        DeclaredStream(Workload(name="overwrite", seconds=60, column_families=(family,))),
        ResolvedOptions("small", "7.8.3", {"max_background_jobs": "2"}, {"default": options}, {"default": {}}),
        engine,
        limits=Limits(0, 0),
        work_dir=tmp_path,
    )

    def measure(seconds: float) -> Measurement:
        each = SecondsPerByte(seconds / 2**20, seconds / 2**20)
        found = run_trial(replace(trial, compaction_seconds={"default": each} if seconds else {}))
        assert isinstance(found, Measurement)
        return found

    return measure


def test_slow_compactions_merge_more_at_once_and_write_less(run: Callable[[float], Measurement]) -> None:
    prompt, fast, slow = run(0.0), run(1e-6), run(2.0)
    assert prompt.records == fast.records == slow.records
    assert prompt.total.flushes == fast.total.flushes == slow.total.flushes
    assert fast.total.compaction_output_bytes == pytest.approx(prompt.total.compaction_output_bytes, rel=0.1)
    assert slow.total.compactions < 0.7 * prompt.total.compactions
    assert slow.total.compaction_output_bytes < 0.8 * prompt.total.compaction_output_bytes
