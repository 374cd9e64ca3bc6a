"""Replays on the workers of a real dask.distributed cluster, one of which is killed under way."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.replays import Variant, trial_of
from lsmlens.tuners.replays.cluster import cluster_executor
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.replayer import Replayer

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture
def cluster() -> Iterator[object]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as found:
        yield found


def test_a_worker_that_is_killed_costs_nothing(
    cluster: object, fitted: FittedWorkload, present: OptionSet, engine: EngineChoice, tmp_path: Path
) -> None:
    trials = [trial_of(Variant(fitted.workload, 2.0, seed), present, engine, tmp_path) for seed in range(6)]
    with ExitStack() as stack:
        executor, slots = cluster_executor(cluster.scheduler_address, stack)  # type: ignore[attr-defined]
        assert slots == 2
        killed: list[int] = []

        def kill(place: int, result: object) -> None:
            if not killed:
                worker = next(iter(cluster.workers.values()))  # type: ignore[attr-defined]
                killed.append(worker.pid)
                os.kill(worker.pid, signal.SIGKILL)

        results = Replayer(engine, executor=executor).make(trials, kill)
    assert killed
    assert all(isinstance(one, Measurement) for one in results)
    here = Replayer(engine, jobs=1).make(trials[:2])
    for one, other in zip(results, here, strict=False):
        assert isinstance(one, Measurement)
        assert isinstance(other, Measurement)
        assert (one.total.flush_bytes, one.statistics.compaction_events) == (
            other.total.flush_bytes,
            other.statistics.compaction_events,
        )


def test_no_scheduler_is_one_clear_line() -> None:
    with ExitStack() as stack, pytest.raises(LsmlensError, match="no scheduler answers there"):
        cluster_executor("tcp://127.0.0.1:9", stack)
