"""A workload's batches made by a process of their own, ahead of their time: making them must not delay their writes.

    python -m lsmlens.tuners.replays.generation FD

is that process; it ends when nobody reads from FD any more.
"""

import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import numpy as np
from lsmlens.tuners.workloads.stream import Batches, Stream

# A write batch begins with its sequence number (8 bytes) and its count of records (4, little-endian).
COUNT_AT = 8
COUNT_BYTES = 4
SLICE_BYTES = 1 << 20  # taking in more at once would hold the writing thread up


def slices(batches: Batches, most_bytes: int) -> Iterator[Batches]:
    """Successive batches of at most `most_bytes` together, each lot with a buffer of its own; a larger one alone."""
    offsets = batches.offsets
    first, count, read = 0, len(offsets) - 1, 0
    while first < count:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + most_bytes, side="right")) - 1)
        own = offsets[first : last + 1]
        reads, before = batches.reads, read
        if reads is not None:
            read = (
                len(reads) if last == count else int(np.searchsorted(reads.seconds, batches.seconds[last - 1], "right"))
            )
        yield Batches(
            batches.buffer[own[0] : own[-1]].copy(),
            own - own[0],
            batches.seconds[first:last].copy(),
            batches.records if last - first == count else _records(batches, first, last),
            None if reads is None else reads.between(before, read),
        )
        first = last


def _records(batches: Batches, first: int, last: int) -> int:
    starts = batches.offsets[first:last, None] + COUNT_AT + np.arange(COUNT_BYTES)
    return int(batches.buffer[starts].view("<u4").sum())


class Generation:
    """The batches of one run, an iterator; `seconds` is what making them took, once it is at its end."""

    def __init__(self, stream: Stream, seed: int, scale: float) -> None:
        self.seconds = 0.0
        ours, theirs = Pipe()
        self._pipe: Connection[object, object] = ours
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "lsmlens.tuners.replays.generation", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )
        self._pipe.send_bytes(pickle.dumps((stream, seed, scale)))

    def __enter__(self) -> "Generation":
        return self

    def __exit__(self, *_: object) -> None:
        self._pipe.close()
        self._process.kill()
        self._process.wait()

    def __iter__(self) -> Iterator[Batches]:
        return self

    def __next__(self) -> Batches:
        try:
            said = self._pipe.recv()
        except EOFError:
            raise ChildProcessError("the process that makes the batches has ended") from None
        if isinstance(said, BaseException):
            raise said
        if isinstance(said, float):
            self.seconds = said
            raise StopIteration
        assert isinstance(said, Batches)
        return said


def main() -> None:
    """Make the batches that the other end asks for."""
    with Connection(int(sys.argv[1])) as pipe, suppress(BrokenPipeError, ConnectionResetError):
        stream, seed, scale = pipe.recv()
        try:
            pipe.send(_send_all(pipe, stream.batches(seed, scale)))
        except (BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:
            pipe.send(_sendable(error))


def _send_all(pipe: "Connection[object, object]", chunks: Iterator[Batches]) -> float:
    """Seconds that making the batches took."""
    seconds = 0.0
    while True:
        begin = time.perf_counter()
        batches = next(chunks, None)
        seconds += time.perf_counter() - begin
        if batches is None:
            return seconds
        for one in slices(batches, SLICE_BYTES):
            pipe.send(one)


def _sendable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


if __name__ == "__main__":
    main()
