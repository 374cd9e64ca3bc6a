"""Running one command of another program: with a time limit, a size limit, and an end when the collection ends."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

POLL_SECONDS = 0.05
SAID_CHARACTERS = 300


@dataclass(slots=True)
class Answer:
    """What a command gave: its output, a file of its own; or why there is none."""

    output: IO[bytes]
    seconds: float
    failure: str = ""
    timed_out: bool = False
    note: str = ""


@dataclass(slots=True)
class Runner:
    """Runs commands, whose output is kept in nameless files of `folder`; `ended` stops all that run."""

    folder: Path
    timeout_seconds: float
    ended: threading.Event

    def run(self, command: Sequence[str], limit_bytes: int, timeout_seconds: float | None = None) -> Answer:
        """Run a command to its end, its time limit or the collection's. Raises OSError where there is no room."""
        began = time.monotonic()
        patience = timeout_seconds or self.timeout_seconds
        output = TemporaryFile(dir=self.folder)  # noqa: SIM115  # whoever takes the answer closes it
        with TemporaryFile(dir=self.folder) as errors:
            try:
                # A session of its own: an interrupt at the terminal is for this program, which then ends all of these.
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True
                )
            except OSError as error:
                return Answer(output, 0.0, f"{command[0]}: {error.strerror or error}")
            failure, note, timed_out = "", "", False
            while process.poll() is None:
                if self.ended.is_set():
                    failure = "interrupted"
                elif time.monotonic() - began > patience:
                    failure, timed_out = f"no answer within {patience:g} s", True
                elif os.fstat(output.fileno()).st_size > limit_bytes:
                    note = f"cut at {limit_bytes >> 20} MiB"
                if failure or note:
                    _end(process)
                    break
                with suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_SECONDS)
            seconds = time.monotonic() - began
            if not failure and not note and process.returncode:
                errors.seek(0)
                said = errors.read(1 << 16).decode("utf-8", "replace").strip().splitlines()
                failure = (said[-1] if said else f"exit status {process.returncode}")[:SAID_CHARACTERS]
        output.truncate(min(limit_bytes, os.fstat(output.fileno()).st_size))
        output.seek(0)
        return Answer(output, seconds, failure, timed_out, note)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a command and all it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(1.0)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
