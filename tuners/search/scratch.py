"""Where settled replays live while they run: in memory, where that has the room.

Syncs of a disk are most of a settled replay's time, and what it is made for, bytes, does not depend on the device.
Paced replays do, and stay on a disk.
"""

import os
from pathlib import Path

import psutil

MEMORY_FOLDER = Path("/dev/shm")
# Of what is free in memory and in the folder, so much may be taken by all replays at once.
MOST_SHARE = 0.25


def memory_folder(needed_bytes: float, folder: Path = MEMORY_FOLDER) -> Path | None:
    """A folder in memory for replays that come to so many bytes at once; None where there is none with that room."""
    try:
        free = min(psutil.disk_usage(str(folder)).free, psutil.virtual_memory().available)
    except OSError:
        return None
    if needed_bytes > MOST_SHARE * free or not os.access(folder, os.W_OK):
        return None
    return folder / f"lsmlens-{os.getuid()}"
