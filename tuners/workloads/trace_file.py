"""RocksDB query traces, as StartTrace and EndTrace write them (trace_replay/trace_replay.cc, versions 0.1 and 0.2).

A trace is a row of records: 8 bytes of time in microseconds, a byte of type, 4 bytes of length, and that much payload;
all numbers are little endian. The first is a header with a magic word and versions. A write's payload is the write
batch itself; from version 0.2 on behind 8 bytes that say what the payload holds, and its length as a varint.
"""

import mmap
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.workloads.stream import Batches
from lsmlens.tuners.workloads.wire import HEADER_BYTES
from numpy.typing import NDArray

MAGIC = b"feedcafedeadbeef"
_RECORD = struct.Struct("<QBI")
END, WRITE, GET, SEEK, SEEK_FOR_PREVIOUS, MULTI_GET = 2, 3, 4, 5, 6, 13
NEWEST = (0, 2)
_TRACE_VERSION = re.compile(rb"(\d{1,6})(?:\.(\d{1,6}))?")
PIECE_BYTES = 8 << 20


def is_trace(head: bytes) -> bool:
    """Whether a file that begins so is a query trace."""
    return head[_RECORD.size :].startswith(MAGIC)


@dataclass(frozen=True, slots=True)
class TraceIndex:
    """Where the write batches of a trace are, and when they were written (shapes: batches,).

    `seconds` is the time from the trace's begin to its end, `reads` counts gets and seeks. `is_complete` is False if
    the end record is missing.
    """

    path: Path
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    moments: NDArray[np.float64]
    seconds: float
    reads: int
    is_complete: bool

    def batches(self) -> Iterator[Batches]:
        """The batches as they are, about PIECE_BYTES at a time; how many records they hold, by their own headers."""
        if not len(self.starts):
            return
        sums = np.cumsum(self.lengths)
        cuts = [*np.flatnonzero(np.diff(sums // PIECE_BYTES, prepend=-1)).tolist(), len(sums)]
        with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for first, last in pairwise(cuts):
                starts, lengths = self.starts[first:last], self.lengths[first:last]
                ends = (starts + lengths).tolist()
                joined = b"".join([data[start:end] for start, end in zip(starts.tolist(), ends, strict=True)])
                buffer = np.frombuffer(bytearray(joined), np.uint8)
                offsets = np.concatenate(([0], np.cumsum(lengths)))
                headers = buffer[offsets[:-1, None] + np.arange(HEADER_BYTES)]
                buffer[offsets[:-1, None] + np.arange(8)] = 0  # sequence numbers are for RocksDB to give
                records = int(np.ascontiguousarray(headers[:, 8:]).view("<u4").sum())
                yield Batches(buffer, offsets, self.moments[first:last], records)


def index_trace(path: Path) -> TraceIndex:
    """One pass over a trace. Raises InputError if it is none, or of a version that is not known."""
    starts: list[int] = []
    ends: list[int] = []
    times: list[int] = []
    reads = 0
    with path.open("rb") as file:
        if not is_trace(file.read(64)):
            raise InputError(
                str(path), "no RocksDB query trace", "traces of the block cache and of IO are other formats"
            )
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            began, kind, length = _RECORD.unpack_from(data)
            has_map = _version(data[_RECORD.size : _RECORD.size + length], path) >= (0, 2)
            place, size, ended = _RECORD.size + length, len(data), began
            while place + _RECORD.size <= size and kind != END:
                micros, kind, length = _RECORD.unpack_from(data, place)
                start, place = place + _RECORD.size, place + _RECORD.size + length
                if place > size:
                    break
                ended = max(ended, micros)
                if kind == WRITE:
                    start = _batch_start(data, start, place) if has_map else start
                    if place - start >= HEADER_BYTES:
                        starts.append(start)
                        ends.append(place)
                        times.append(micros)
                elif kind in (GET, SEEK, SEEK_FOR_PREVIOUS, MULTI_GET):
                    reads += 1
    moments = np.maximum.accumulate(np.array(times, np.float64) - began) / 1e6
    first = np.array(starts, np.int64)
    lengths = np.array(ends, np.int64) - first
    seconds = max(1e-6, (ended - began) / 1e6)
    return TraceIndex(path, first, lengths, np.maximum(moments, 0), seconds, reads, kind == END)


def _batch_start(data: mmap.mmap, start: int, end: int) -> int:
    """Behind the map of what the payload holds (kWriteBatchData alone: 1 << 1) and the batch's length, a varint."""
    start += 8
    while start < end and data[start] > 127:
        start += 1
    return start + 1


def _version(header: bytes, path: Path) -> tuple[int, int]:
    r"""Of a header such as `feedcafedeadbeef\tTrace Version: 0.2\tRocksDB Version: 7.8\tFormat: …`."""
    for field in header.split(b"\t"):
        name, _, text = field.partition(b": ")
        if name == b"Trace Version" and (said := _TRACE_VERSION.fullmatch(text)):
            version = (int(said[1]), int(said[2] or b"0"))
            if version > NEWEST:
                newer = f"a query trace of version {text.decode()}, newer than {NEWEST[0]}.{NEWEST[1]}"
                raise InputError(str(path), newer, "look for a newer lsmlens")
            return version
    hint = "trace again with DB::StartTrace; its first bytes are damaged"
    raise InputError(str(path), "the header of this query trace says no version", hint)
