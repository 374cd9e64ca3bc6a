"""The process of one replay: `python -m lsmlens.tuners.replays.trial_process FD`, started by `trial.run_trial`.

It gets its plan through the pipe FD, and tells its progress and its result there. When the other end goes, so does
this process, and its folder with it. It is held to what a replay needs: see `confinement`.
"""

import ctypes
import os
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from lsmlens.tuners.engines.confinement import confine

if TYPE_CHECKING:
    from lsmlens.tuners.replays.measurement import Measurement, TrialFailure
    from lsmlens.tuners.replays.trial import Trial

ADDR_NO_RANDOMIZE = 0x0040000
ASK_ONLY = 0xFFFFFFFF


def main() -> None:
    """Make the run the other end of the pipe asks for."""
    _fix_addresses()
    confine()
    pipe = Connection(int(sys.argv[1]))
    trial, folder = pipe.recv()
    threading.Thread(target=_go_with, args=(pipe, folder), daemon=True).start()
    pipe.send(_made(trial, folder, pipe))
    os._exit(0)  # RocksDB's own threads are of no use any more, and have been seen to hold an exit up


def _fix_addresses() -> None:
    """Start again without address randomisation: RocksDB draws the heights of its memtables' nodes from addresses.

    Without it the same batches make the same tables. Where it is not allowed things go on with it.
    """
    try:
        libc = ctypes.CDLL(None)
        before = libc.personality(ctypes.c_ulong(ASK_ONLY))
        if before == -1 or before & ADDR_NO_RANDOMIZE:
            return
        if libc.personality(ctypes.c_ulong(before | ADDR_NO_RANDOMIZE)) == -1:
            return
    except (OSError, AttributeError):
        return
    os.execv(sys.executable, sys.orig_argv)


def _go_with(pipe: Connection, folder: Path) -> None:
    from lsmlens.tuners.replays.workspace import remove

    try:
        pipe.recv()
    except (EOFError, OSError):
        remove(folder)
        os._exit(1)


def _made(trial: "Trial", folder: Path, pipe: Connection) -> "Measurement | TrialFailure":
    from lsmlens.analyzer.errors import LsmlensError
    from lsmlens.tuners.replays.measurement import FailureKind, TrialFailure
    from lsmlens.tuners.replays.replaying import replay

    told = 0.0

    def tell(share: float) -> None:
        nonlocal told
        if time.monotonic() - told > 0.2:
            told = time.monotonic()
            pipe.send(share)

    try:
        return replay(trial, folder / "db", tell)
    except LsmlensError as error:
        return TrialFailure(trial.seed, FailureKind.REFUSED, str(error))
    except MemoryError:
        return TrialFailure(trial.seed, FailureKind.NO_ROOM, "Python ran out of memory")
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        where = f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})" if trace is not None else ""
        return TrialFailure(trial.seed, FailureKind.ERROR, f"{type(error).__name__}: {error}{where}")


if __name__ == "__main__":
    main()
