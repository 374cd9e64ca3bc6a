"""What generating a workload costs: as a ratio to copying as many bytes, and as a share of a replay; printed with -s.

Copying is numpy's own, from a pool of 1 MiB into a buffer of a piece's size: the least that any generator does. CPU
seconds of this thread, the least of several runs.

The share is of wall time: what a settled replay spends in making its batches, which it does in turn with writing them
(a thread beside it would move the memtables' addresses, from which RocksDB draws, and runs would no longer be alike to
the byte; paced replays have a process of its own for it). Other processes delay the one like the other, so the share
bears a busy machine, which the difference of two runs does not. The limits are about twice what was measured.
"""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from lsmlens.tuners.engines.choice import choose_engine
from lsmlens.tuners.options.reading import read_options
from lsmlens.tuners.replays.measurement import Measurement
from lsmlens.tuners.replays.outcome import ReplayPlan
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.replays.trial import run_trial
from lsmlens.tuners.replays.workspace import Limits
from lsmlens.tuners.workloads.generator import PIECE_BYTES, DeclaredStream
from lsmlens.tuners.workloads.presets import load_preset

pytestmark = pytest.mark.slow

RUNS = 3
SCALE = 40
REPLAY_SCALE = 200
MOST_SHARE = 0.15  # the aim is 0.1


def least_cpu_seconds(work: Callable[[], object]) -> float:
    least = float("inf")
    for _ in range(RUNS):
        start = time.thread_time()
        work()
        least = min(least, time.thread_time() - start)
    return least


def copy(total: int) -> None:
    pool = np.random.default_rng(1).integers(0, 256, 1 << 20, dtype=np.uint8)
    buffer = np.empty(PIECE_BYTES, np.uint8)
    for _ in range(total // PIECE_BYTES):
        for place in range(0, PIECE_BYTES, 1 << 20):
            buffer[place : place + (1 << 20)] = pool


@pytest.mark.parametrize(
    ("name", "limit"),
    [("fillrandom", 80), ("rbd-4k-randwrite", 80), ("rgw-small-objects", 80), ("cephfs-metadata", 80), ("mixed", 80)],
)
def test_generation_costs_a_few_times_a_copy(name: str, limit: float) -> None:
    stream = DeclaredStream(load_preset(name))
    scale = 1 if name == "fillrandom" else SCALE
    records = total = 0
    for piece in stream.batches(1, scale):
        records, total = records + piece.records, total + len(piece.buffer)
    generated = least_cpu_seconds(lambda: sum(piece.records for piece in stream.batches(1, scale)))
    copied = least_cpu_seconds(lambda: copy(total))
    per_record = generated / records * 1e9
    print(
        f"\n{name}: {records:,} records of {total / records:.0f} B; {per_record:.0f} ns of CPU a record,"
        f" {records / generated / 1e6:.1f} M records/s; {generated / copied:.1f} x copying the bytes"
    )
    assert generated / copied < limit


@pytest.mark.parametrize("name", ["fillrandom", "rbd-4k-randwrite", "rgw-small-objects", "cephfs-metadata", "mixed"])
def test_generation_takes_a_small_share_of_a_replay(name: str, tmp_path: Path) -> None:
    engine = choose_engine(None, None, None, allow_download=False, on_notice=print)
    scale = 4.0 if name == "fillrandom" else REPLAY_SCALE
    stream, options = DeclaredStream(load_preset(name)), (read_options("ceph:reef"),)
    replayer = Replayer(engine, work_dir=tmp_path, limits=Limits(0, 0))
    (trial,) = ReplayPlan(stream, options, scale=scale).trials(replayer)
    one = run_trial(trial)
    assert isinstance(one, Measurement), one
    share = one.generation_seconds / one.wall_seconds
    print(f"\n{name}: {100 * share:.1f} % of a settled replay's wall time, RocksDB {engine.version}")
    assert share < MOST_SHARE
