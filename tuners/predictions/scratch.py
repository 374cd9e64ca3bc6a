"""Where settled replays live while they run: in memory, where that has the room.

Syncs of a disk are most of a settled replay's time, and what it is made for, bytes, does not depend on the device.
Paced replays do, and stay on a disk.
"""

import os
from collections.abc import Iterable
from pathlib import Path

import psutil
from lsmlens.analyzer.analysis import RunAnalysis

MEMORY_FOLDER = Path("/dev/shm")
# Of what is free in memory and in the folder, so much may be taken by all replays at once.
MOST_SHARE = 0.25


def scratch_folder(run: RunAnalysis, scales: Iterable[float], jobs: int | None) -> Path | None:
    """A folder in memory for `jobs` settled replays of a run's workload at once; None where there is too little room.

    `scales` are those of the replays. None stands for the folder that replays take by themselves, on a disk.
    """
    held = 0.0 if run.counters is None else float(run.counters.db_used_bytes or 0)
    largest = max(held, run.total.flush_bytes)
    return memory_folder(2 * largest / min(scales) * (jobs or os.cpu_count() or 1))


def memory_folder(needed_bytes: float, folder: Path = MEMORY_FOLDER) -> Path | None:
    """A folder in memory for replays that come to so many bytes at once; None where there is none with that room."""
    try:
        free = min(psutil.disk_usage(str(folder)).free, psutil.virtual_memory().available)
    except OSError:
        return None
    if needed_bytes > MOST_SHARE * free or not os.access(folder, os.W_OK):
        return None
    return folder / f"lsmlens-{os.getuid()}"
