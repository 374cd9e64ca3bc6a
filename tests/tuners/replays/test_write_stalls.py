"""Writers that wait: by RocksDB's own write controller in a real RocksDB, and by the clock of the workload."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.replays.course import PressurePoint, pressure_of
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.timed_compactions import SecondsPerByte
from lsmlens.tuners.replays.trial import Trial, run_trial
from lsmlens.tuners.replays.workspace import Limits
from lsmlens.tuners.replays.write_stalls import (
    Conditions,
    WriteStalls,
    compaction_threads,
    delayed_write_rate,
    flush_threads,
)
from lsmlens.tuners.workloads.components import Keys, Overwrite, WorkingSet
from lsmlens.tuners.workloads.document import ColumnFamily, Workload
from lsmlens.tuners.workloads.generator import DeclaredStream

SECONDS = 24
MIB = 2**20
# Compactions that read 1 MiB/s; a flush of a quarter of that takes 25 ms.
SPEED = {"default": SecondsPerByte(1 / MIB, 1 / MIB, 0.1 / MIB)}


@pytest.fixture
def stalls(tmp_path: Path) -> Callable[..., WriteStalls]:
    """What 5 MB over 24 s meet; options of the family may be given."""
    library = next(Path("/usr/lib").glob("*/librocksdb.so.7.8"), None)
    if library is None:
        pytest.skip("Debian's librocksdb 7.8 is not installed")
    keys = Overwrite(rate=500.0, working_sets=(WorkingSet(keys=8000),))
    family = ColumnFamily(name="default", keys=Keys(length=24, order="scattered"), values=400, components=(keys,))
    shape = {
        **{"write_buffer_size": "262144", "max_write_buffer_number": "8", "compression": "kNoCompression"},
        **{"level0_file_num_compaction_trigger": "2", "max_bytes_for_level_base": "1048576"},
        **{"level0_slowdown_writes_trigger": "6", "level0_stop_writes_trigger": "9"},
        **{"target_file_size_base": "262144", "level_compaction_dynamic_level_bytes": "false"},
    }
    stream = DeclaredStream(Workload(name="overwrite", seconds=SECONDS, column_families=(family,)))
    engine = EngineChoice("capi", "7.8.3", library)

    def measure(
        conditions: Conditions, database: dict[str, str], speed: dict[str, SecondsPerByte] = SPEED, **options: str
    ) -> WriteStalls:
        asked = ResolvedOptions("small", "7.8.3", database, {"default": shape | options}, {"default": {}})
        trial = Trial(stream, asked, engine, limits=Limits(0, 0), work_dir=tmp_path, compaction_seconds=speed)
        found = run_trial(replace(trial, conditions=conditions))
        assert isinstance(found, Measurement)
        assert found.write_stalls is not None
        assert found.stalls.seconds == found.write_stalls.stall_seconds
        # the rate that replays are given is not among what they ran with
        assert found.options.database["delayed_write_rate"] == database.get("delayed_write_rate", "16777216")
        return found.write_stalls

    return measure


TWO: dict[str, str] = {"max_background_jobs": "2", "delayed_write_rate": "524288"}


def test_writers_wait_once_compactions_do_not_keep_up(stalls: Callable[..., WriteStalls]) -> None:
    light = stalls(Conditions(0.25), TWO)
    assert (light.stops, light.slowdowns, light.stall_seconds) == (0, 0, 0)
    assert light.level0_files["default"] < 6
    assert light.seconds == pytest.approx(4 * SECONDS, rel=0.02)
    heavy = stalls(Conditions(4.0), TWO)
    assert heavy.slowdowns > 0
    assert heavy.level0_files["default"] >= 6
    # what is written is as late as its writers waited
    assert 0 < heavy.stall_seconds < heavy.seconds <= SECONDS / 4 + heavy.stall_seconds + 1
    assert heavy.slowed_seconds >= heavy.delayed_seconds > 0


def test_without_slowdowns_writers_are_stopped(stalls: Callable[..., WriteStalls]) -> None:
    found = stalls(Conditions(4.0), TWO, level0_slowdown_writes_trigger="9")
    assert found.stops > 0
    assert found.stopped_seconds > 0.5 * found.stall_seconds
    assert found.level0_files["default"] == 9


def test_a_limit_for_all_jobs_slows_them_together(stalls: Callable[..., WriteStalls]) -> None:
    fast = {"default": SecondsPerByte(1e-9, 1e-9, 1e-9)}
    assert stalls(Conditions(1.0, 4 * MIB), TWO, fast).stall_seconds == 0
    assert stalls(Conditions(1.0, 0.5 * MIB), TWO, fast).stall_seconds > SECONDS / 10


def test_flushes_that_last_stop_writes_for_their_memtables(stalls: Callable[..., WriteStalls]) -> None:
    slow = {"default": SecondsPerByte(1e-9, 1e-9, 10 / MIB)}
    found = stalls(Conditions(1.0), TWO, slow, max_write_buffer_number="2")
    assert found.stops > 0
    # 5 MB take twice as long to flush as they were meant to be written in
    assert found.seconds == pytest.approx(2 * SECONDS, rel=0.2)


def test_what_the_logs_own_writers_waited_is_not_waited_again(stalls: Callable[..., WriteStalls]) -> None:
    """A log in which half of the time was waited away: its writers meant to be twice as fast."""
    waited = stalls(Conditions(1.0, None, ((0.0, 0.0), (SECONDS, SECONDS / 2))), TWO)
    twice = stalls(Conditions(2.0), TWO)
    assert waited.stall_seconds == pytest.approx(twice.stall_seconds, rel=0.01)


def test_more_threads_stall_no_more(stalls: Callable[..., WriteStalls]) -> None:
    one = stalls(Conditions(3.0), TWO)
    four = stalls(Conditions(3.0), TWO | {"max_background_jobs": "8"})
    assert four.stall_seconds <= one.stall_seconds


def test_subcompactions_share_a_compactions_bytes(stalls: Callable[..., WriteStalls]) -> None:
    one, four = (stalls(Conditions(4.0), TWO | {"max_subcompactions": count}) for count in ("1", "4"))
    assert four.stall_seconds < one.stall_seconds
    assert four.level0_files["default"] < one.level0_files["default"]


@pytest.mark.parametrize(
    ("options", "compactions", "flushes"),
    [
        ({"max_background_jobs": "2"}, 1, 1),
        ({"max_background_jobs": "8"}, 6, 2),
        ({"max_background_jobs": "8", "max_background_compactions": "3"}, 3, 1),
        ({"max_background_compactions": "-1", "max_background_flushes": "2"}, 1, 2),
    ],
)
def test_threads(options: dict[str, str], compactions: int, flushes: int) -> None:
    assert (compaction_threads(options), flush_threads(options)) == (compactions, flushes)


def test_the_rate_of_slowed_writes() -> None:
    def options(database: dict[str, Any]) -> ResolvedOptions:
        return ResolvedOptions("some", "7.8.3", database, {}, {})

    assert delayed_write_rate(options({"delayed_write_rate": "4096000"})) == 4096000
    assert delayed_write_rate(options({"delayed_write_rate": "0"})) == 16 * MIB


def test_pressure_is_the_most_in_each_part() -> None:
    points = [PressurePoint(0.0, 3, 10.0), PressurePoint(0.9, 2, 20.0), PressurePoint(48.0, 5, 1.0)]
    assert pressure_of(points, 48.0) == (PressurePoint(1.0, 3, 20.0), PressurePoint(48.0, 5, 1.0))
