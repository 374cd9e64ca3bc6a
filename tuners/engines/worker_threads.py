"""RocksDB's background threads, as the system sees them: whether a job that was scheduled is about to run.

A thread that was woken for a job is runnable at once, long before a loaded machine lets it run and the database counts
the job as running.
"""

import threading
from pathlib import Path

TASKS = Path("/proc/self/task")
NAME = "rocksdb:"  # rocksdb:low, rocksdb:high, rocksdb:bottom


def are_idle() -> bool | None:
    """Whether every one of them sleeps; None where the system does not tell.

    Where they have no names of their own, all threads of the process but this one are asked.
    """
    named: list[str] = []
    others: list[str] = []
    try:
        for task in TASKS.iterdir():
            if task.name == str(threading.get_native_id()):
                continue
            # 27635 (rocksdb:low) S 1 27635 …
            name, _, rest = (task / "stat").read_text(encoding="utf-8", errors="replace").rpartition(") ")
            (named if name.partition("(")[2].startswith(NAME) else others).append(rest[:1])
    except FileNotFoundError:  # a thread that ended meanwhile, or a system without /proc
        return False if TASKS.is_dir() else None
    return all(state in "ISZ" for state in named or others)
