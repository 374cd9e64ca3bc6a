"""One replay: a workload under one set of options, in a process of its own that may crash alone."""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from multiprocessing import Pipe
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.replays.measurement import FailureKind, Measurement, Mode, TrialFailure
from lsmlens.tuners.replays.replay_options import memtable_bytes
from lsmlens.tuners.replays.timed_compactions import SecondsPerByte
from lsmlens.tuners.replays.workspace import Limits, default_folder, size_of, workspace
from lsmlens.tuners.replays.write_stalls import Conditions
from lsmlens.tuners.workloads.stream import Stream

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

POLL_SECONDS = 0.1
WATCH_SECONDS = 0.5
LAST_WORDS = 300
STEPS_A_MEMTABLE = 4
FULL_DISK_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Trial:
    """A run to be made. It goes to its process by pickle, so `stream` and `engine` must pickle.

    `options` are already divided by `scale`; `engine` is made into one in the process. In settled mode the database
    settles after every `settle_bytes` of the workload (divided by `scale`, too) or less; with `compaction_seconds`,
    by family, compactions last as long for each byte they read (at scale 1, by the workload's clock), else they end at
    once. With `conditions`, too, writers wait as RocksDB makes them (`write_stalls`). In paced mode the workload runs
    `pace` times as fast as its own clock. `keep_log` names a folder to copy the engine's LOG to.
    """

    stream: Stream
    options: ResolvedOptions
    engine: EngineChoice
    mode: Mode = Mode.SETTLED
    scale: float = 1.0
    seed: int = 0
    settle_bytes: int = 1 << 20
    pace: float = 1.0
    compaction_seconds: Mapping[str, SecondsPerByte] = field(default_factory=dict)
    conditions: Conditions | None = None
    flush_at_end: bool = False
    limits: Limits = field(default_factory=Limits)
    work_dir: Path | None = None
    keep_log: Path | None = None

    @property
    def step_bytes(self) -> int:
        """Bytes to write between two settlings: no more than a quarter of a memtable, or one step may fill two."""
        every = self.options.families.values()
        buffers = [int(one["write_buffer_size"]) for one in every if "write_buffer_size" in one]
        return max(1, min([round(self.settle_bytes / self.scale), *(size // STEPS_A_MEMTABLE for size in buffers)]))


def run_trial(
    trial: Trial,
    on_progress: Callable[[float], None] | None = None,
    stop: threading.Event | None = None,
) -> Measurement | TrialFailure:
    """Make one run; a run that fails costs nothing else and is told as a TrialFailure.

    `on_progress` is told the share that is done, from 0 to 1. Raises LsmlensError where no folder can be made.
    """
    with workspace(trial.work_dir or default_folder()) as folder:
        if reason := trial.limits.exceeded(folder, memtable_bytes(trial.options)):
            return TrialFailure(trial.seed, FailureKind.NO_ROOM, reason)
        try:
            plan = pickle.dumps((replace(trial, work_dir=None), folder))
        except Exception as error:
            return TrialFailure(trial.seed, FailureKind.ERROR, f"the trial cannot be sent to a process: {error}")
        with _Process(trial, folder) as process:
            return process.watch(plan, on_progress, stop)


class _Process:
    """The process of one run, from its start to its end."""

    def __init__(self, trial: Trial, folder: Path) -> None:
        self._trial = trial
        self._folder = folder
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        ours, theirs = Pipe()
        self._pipe: Connection[object, object] = ours
        with theirs:
            # A group of its own: an interrupt from the keyboard is for us, and we end the run.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "lsmlens.tuners.replays.trial_process", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                pass_fds=(theirs.fileno(),),
                process_group=0,
            )

    def __enter__(self) -> "_Process":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._pipe.close()
        self._errors.close()

    def watch(
        self, plan: bytes, on_progress: Callable[[float], None] | None, stop: threading.Event | None
    ) -> Measurement | TrialFailure:
        """Send the plan, and wait for the run to end or to be ended."""
        peak, next_look = 0, 0.0
        try:
            self._pipe.send_bytes(plan)
            while True:
                if stop is not None and stop.is_set():
                    return self._failure(FailureKind.STOPPED, "stopped before its end")
                if time.monotonic() >= next_look:
                    next_look = time.monotonic() + WATCH_SECONDS
                    peak = max(peak, size_of(self._folder))
                    if reason := self._trial.limits.exceeded(self._folder):
                        return self._failure(FailureKind.NO_ROOM, f"stopped on its way: {reason}")
                if not self._pipe.poll(POLL_SECONDS):
                    continue
                said = self._pipe.recv()
                if isinstance(said, Measurement):
                    return replace(said, peak_space_bytes=max(said.peak_space_bytes, peak))
                if isinstance(said, TrialFailure):
                    return self._explained(said)
                if on_progress is not None and isinstance(said, float):
                    on_progress(said)
        except (EOFError, ConnectionError):
            return self._failure(FailureKind.CRASHED, self._end())

    def _failure(self, kind: FailureKind, reason: str) -> TrialFailure:
        return TrialFailure(self._trial.seed, kind, reason)

    def _explained(self, failure: TrialFailure) -> TrialFailure:
        """RocksDB does not always say that it found no space."""
        if psutil.disk_usage(str(self._folder)).free >= FULL_DISK_BYTES:
            return failure
        return self._failure(FailureKind.NO_ROOM, f"the disk of {self._folder} is full: {failure.reason}")

    def _end(self) -> str:
        """How the process ended by itself, and what it said last."""
        status = self._process.wait()
        if status < 0:
            name = signal.Signals(-status).name
            how = f"the process was killed by {name}"
            if -status == signal.SIGKILL:
                how += f" (out of memory? {psutil.virtual_memory().available >> 20} MiB are available now)"
        else:
            how = f"the process ended with status {status}"
        words = self._last_words()
        return f"{how}; it said: {words}" if words else how

    def _last_words(self) -> str:
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 4096))
        lines = [line.strip() for line in self._errors.read().decode("utf-8", "replace").splitlines() if line.strip()]
        return lines[-1][:LAST_WORDS] if lines else ""
