"""What generating a workload costs, as a ratio to copying as many bytes; printed with -s.

Copying is numpy's own, from a pool of 1 MiB into a buffer of a piece's size: the least that any generator does. CPU
seconds of this thread, the least of several runs. The limits are about twice what was measured.
"""

import time
from collections.abc import Callable

import numpy as np
import pytest
from lsmlens.tuners.workloads.generator import PIECE_BYTES, DeclaredStream
from lsmlens.tuners.workloads.presets import load_preset

pytestmark = pytest.mark.slow

RUNS = 3
SCALE = 40


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
