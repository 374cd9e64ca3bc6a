"""The folder one replay's database lives in, the room it needs, and the removal of what killed replays left behind."""

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import psutil
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.numbers import size
from lsmlens.analyzer.units import MIB

PREFIX = "lsmlens-replay-"
OWNER = "owner"
UNOWNED_SECONDS = 60.0
ATTEMPTS = 10
MEMORY_FOLDER = Path("/dev/shm")
# Of what is free in memory and in the folder, so much may be taken by all replays at once.
MOST_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Limits:
    """What must stay free while a replay runs, in bytes; a replay that would take it is stopped."""

    least_free_disk_bytes: int = 1024 * MIB
    least_free_memory_bytes: int = 512 * MIB

    def exceeded(self, folder: Path, wanted_memory_bytes: int = 0) -> str | None:
        """Why a replay in `folder` may not run, or not go on, in one sentence; None while there is room.

        `wanted_memory_bytes` is what it is yet to take.
        """
        free = psutil.disk_usage(str(folder)).free
        if free < self.least_free_disk_bytes:
            return f"{_mib(free)} free on the disk of {folder}, {_mib(self.least_free_disk_bytes)} must stay free"
        available = psutil.virtual_memory().available
        if available - wanted_memory_bytes < self.least_free_memory_bytes:
            wants = f", {_mib(wanted_memory_bytes)} wanted" if wanted_memory_bytes else ""
            return f"{_mib(available)} of memory available{wants}, {_mib(self.least_free_memory_bytes)} must stay free"
        return None


def _mib(count: int) -> str:
    return size(count)


def default_folder() -> Path:
    """Where databases of replays live unless told otherwise: in the user's cache, which is on a disk."""
    return platformdirs.user_cache_path("lsmlens") / "replays"


def memory_folder(needed_bytes: float, folder: Path = MEMORY_FOLDER) -> Path | None:
    """A folder in memory for replays that come to so many bytes at once; None where there is none with that room."""
    try:
        free = min(psutil.disk_usage(str(folder)).free, psutil.virtual_memory().available)
    except OSError:
        return None
    if needed_bytes > MOST_SHARE * free or not os.access(folder, os.W_OK):
        return None
    return folder / f"lsmlens-{os.getuid()}"


@contextmanager
def workspace(parent: Path) -> Iterator[Path]:
    """A new folder in `parent`, removed in the end whatever happens; what killed replays left there goes first.

    While it is held, its file `owner` is locked, and that lock goes with the process: a folder whose owner was killed
    is known by it, also where process ids differ or are used again. Raises LsmlensError where none can be made.
    """
    try:
        parent.mkdir(parents=True, exist_ok=True)
        remove_stale(parent)
        folder, lock = _new_folder(parent)
    except OSError as error:
        raise LsmlensError(
            f"{parent}: no folder for the replay can be made there: {error.strerror or error}",
            "choose another with --work-dir",
        ) from error
    try:
        yield folder
    finally:
        remove(folder)
        os.close(lock)


def remove_stale(parent: Path) -> list[Path]:
    """Remove the folders in `parent` whose replays are gone; the folders removed."""
    found = sorted(parent.glob(PREFIX + "*")) if parent.is_dir() else []
    return [folder for folder in found if _remove_if_stale(folder)]


def remove(folder: Path) -> bool:
    """Remove a folder in which a dying database may still be making files; whether it is gone.

    Its file `owner` goes last: by it the next replay knows what could not be removed.
    """
    for attempt in range(ATTEMPTS):
        inside = [one for one in folder.glob("*") if one.name != OWNER]
        for one in inside:
            if one.is_dir():
                shutil.rmtree(one, ignore_errors=True)
            else:
                one.unlink(missing_ok=True)
        if not any(one.exists() for one in inside):
            shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return True
        time.sleep(0.02 * attempt)
    return False


def size_of(folder: Path) -> int:
    """Bytes of the files in a folder and below it, as long as they stand there."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118
            except OSError:
                continue
    return total


def _new_folder(parent: Path) -> tuple[Path, int]:
    for _ in range(ATTEMPTS):
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        lock = os.open(folder / OWNER, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if _take(lock) and _is_at(lock, folder / OWNER):
            os.write(lock, json.dumps({"pid": os.getpid(), "started_at": time.time()}).encode())
            return folder, lock
        os.close(lock)  # another process took it for a stale one in this very moment
    raise OSError("other processes keep removing it")


def _remove_if_stale(folder: Path) -> bool:
    try:
        lock = os.open(folder / OWNER, os.O_RDWR | os.O_CLOEXEC)
    except OSError:  # being made or being removed now, or left half done long ago
        try:
            return time.time() - folder.stat().st_mtime > UNOWNED_SECONDS and remove(folder)
        except OSError:
            return False
    try:  # held while it is removed: whoever is only about to lock it sees it go
        return _take(lock) and remove(folder)
    finally:
        os.close(lock)


def _take(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_at(lock: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock), path.stat())
    except OSError:
        return False
