"""Records and bytes of replays come out even under each version that matters: by the log, and by RocksDB's tickers.

Ceph's Pacific, Quincy, Reef to Tentacle, and today's. The first flush of a database with no family but the default one
begins a new MANIFEST in 6.8.1, whose bytes the ticker counts as the flush's; jobs of several families do not.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.engines.library import Library
from lsmlens.tuners.options.reading import read_options
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.outcome import ReplayPlan
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.replays.replaying import COMPACTION_TICKER, FLUSH_TICKER
from lsmlens.tuners.replays.trial import run_trial
from lsmlens.tuners.replays.workspace import Limits
from lsmlens.tuners.workloads.sources import open_workload

VERSIONS = ("6.8.1", "6.15.5", "7.9.2", "11.8.1")
SMALL = (
    "rocksdb:default+write_buffer_size=8M,max_bytes_for_level_base=32M,target_file_size_base=8M,"
    "max_manifest_file_size=2000"
)


def assert_even(engine: EngineChoice, workload: str, options: str, scale: float, work_dir: Path) -> Measurement:
    plan = ReplayPlan(open_workload(workload), (read_options(options),), scale=scale)
    (trial,) = plan.trials(Replayer(engine, work_dir=work_dir, limits=Limits(0, 0)))
    one = run_trial(trial)
    assert isinstance(one, Measurement), one
    assert one.tickers[FLUSH_TICKER] >= one.total.flush_bytes
    assert one.tickers[COMPACTION_TICKER] <= one.total.compaction_output_bytes
    assert not [note for note in one.notes if "reconcile" in note]
    assert one.total.flushes > 1
    return one


def test_with_the_engine_that_is_always_there(tmp_path: Path) -> None:
    one = assert_even(EngineChoice("rocksdict", "9.8.4"), "fillrandom", SMALL, 20, tmp_path)
    assert one.total.compactions
    assert [note for note in one.notes if "a replay keeps one MANIFEST" in note]


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_of_each_version(version: str, tmp_path: Path, official_build: Callable[[str], Library]) -> None:
    engine = EngineChoice("capi", version, official_build(version).path)
    assert_even(engine, "fillrandom", "rocksdb:default", 10, tmp_path)
    assert_even(engine, "fillrandom", SMALL, 10, tmp_path)
    assert_even(engine, "mixed", "ceph:quincy+max_subcompactions=3", 2000, tmp_path)
