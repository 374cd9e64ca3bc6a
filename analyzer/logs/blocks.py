"""A log as blocks of whole lines, in bounded memory whatever its length.

Plain files are mapped a window at a time (reading them would cost more than everything done with them),
streams are read into one buffer. A line longer than the limit is cut there.
"""

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lsmlens.analyzer.bundles.compression import DamagedStream
from stringzilla import count, rfind

WINDOW_BYTES = 8 << 20
BUFFER_BYTES = 2 << 20
HISTORY_BYTES = 1 << 19
LINE_LIMIT_BYTES = 64 << 20

# Counting the lines of a plain file costs more than finding its events; above this size a sample is counted.
EXACT_COUNT_BYTES = 256 << 20
SAMPLED_WINDOWS = 32


@dataclass(slots=True)
class Block:
    """Whole lines: `view[begin:end]`, and before them, as history, some of the lines that came before.

    `offset` is the position in the log of `view[0]`. The last line of a block ends with a newline, except
    at the end of a log that does not, and where an overlong line was cut.
    """

    view: memoryview
    begin: int
    end: int
    offset: int


class MappedBlocks:
    """The blocks of a plain file, by its path or as it is open; or of what stands in it from `start` to `stop`.

    `start` is where a line begins, before which there are `lines_before`.
    """

    def __init__(self, file: Path | int, start: int = 0, stop: int | None = None, lines_before: int = 0) -> None:
        self._file = file
        self._start, self._stop, self._lines_before = start, stop, lines_before
        self.bytes = 0
        self.cut_lines = 0
        self._newlines = 0
        self._counted_bytes = 0
        self.lines_are_estimated = False

    def __iter__(self) -> Iterator[Block]:
        fd = os.dup(self._file) if isinstance(self._file, int) else os.open(self._file, os.O_RDONLY)
        try:
            size = os.fstat(fd).st_size
            size = size if self._stop is None else min(size, self._stop)
            self.lines_are_estimated = size - self._start > EXACT_COUNT_BYTES
            yield from self._windows(fd, size)
        finally:
            os.close(fd)

    def _windows(self, fd: int, size: int) -> Iterator[Block]:
        position, length, window = self._start, WINDOW_BYTES, 0
        while position < size:
            start = max(0, position - HISTORY_BYTES) & -mmap.ALLOCATIONGRANULARITY
            stop = min(position + length, size)
            # Touching a mapped page past the end of a file kills the process, so a shrunken file ends here.
            size = min(size, os.fstat(fd).st_size)
            if stop > size:
                if position >= size:
                    return
                stop = size
            with mmap.mmap(fd, stop - start, access=mmap.ACCESS_READ, offset=start) as mapped:
                view = memoryview(mapped)
                try:
                    begin, end = position - start, stop - start
                    if stop < size:
                        newline = rfind(view, b"\n", begin, end)
                        if newline >= 0:
                            end = newline + 1
                        elif length < LINE_LIMIT_BYTES:
                            length *= 2
                            continue
                        else:
                            self.cut_lines += 1
                    if not self.lines_are_estimated or window % SAMPLED_WINDOWS == 0:
                        self._newlines += count(view[begin:end], b"\n")
                        self._counted_bytes += end - begin
                    yield Block(view, begin, end, start)
                    position, length, window = start + end, WINDOW_BYTES, window + 1
                    self.bytes = position - self._start
                finally:
                    view.release()

    @property
    def lines(self) -> int:
        """Line ends in what was read; scaled up from a sample where `lines_are_estimated`."""
        if not self.lines_are_estimated or not self._counted_bytes:
            return self._newlines
        return round(self._newlines * self.bytes / self._counted_bytes)

    def line_number(self, offset: int) -> int:
        """The 1-based number of the line that holds byte `offset`; reads the file up to there."""
        newlines, position = self._lines_before, self._start
        fd = os.dup(self._file) if isinstance(self._file, int) else os.open(self._file, os.O_RDONLY)
        with os.fdopen(fd, "rb", buffering=0) as file:
            file.seek(position)
            while position < offset and (data := file.read(min(WINDOW_BYTES, offset - position))):
                newlines += count(data, b"\n")
                position += len(data)
        return newlines + 1


class StreamedBlocks:
    """The blocks of a stream, in a buffer that grows only for a line longer than itself."""

    lines_are_estimated = False

    def __init__(self, stream: DamagedStream) -> None:
        self._stream = stream
        self.bytes = 0
        self.lines = 0
        self.cut_lines = 0
        self._block: Block | None = None
        self._lines_before = 0

    def __iter__(self) -> Iterator[Block]:
        buffer = bytearray(BUFFER_BYTES)
        begin = filled = offset = 0
        while True:
            got = self._fill(buffer, filled)
            at_end = filled + got < len(buffer)
            filled += got
            view = memoryview(buffer)
            end = filled if at_end else rfind(view, b"\n", begin, filled) + 1
            if end <= begin and not at_end:
                if len(buffer) < LINE_LIMIT_BYTES:
                    view.release()
                    buffer.extend(bytes(len(buffer)))
                    continue
                self.cut_lines += 1
                end = filled
            if end > begin:
                self._lines_before = self.lines
                self.lines += count(view[begin:end], b"\n")
                self._block = Block(view, begin, end, offset)
                self.bytes = offset + end
                yield self._block
                self._block = None
            if at_end:
                return
            history = max(0, end - min(HISTORY_BYTES, len(buffer) // 2))
            view[: filled - history] = view[history:filled]
            offset += history
            begin, filled = end - history, filled - history
            view.release()

    def _fill(self, buffer: bytearray, filled: int) -> int:
        start = filled
        with memoryview(buffer) as view:
            while filled < len(buffer) and (got := self._stream.readinto(view[filled:])):
                filled += got
        return filled - start

    def line_number(self, offset: int) -> int:
        """The 1-based number of the line that holds byte `offset` of the block just given."""
        block = self._block
        if block is None:
            return self.lines + 1
        return int(self._lines_before + count(block.view[block.begin : offset - block.offset], b"\n") + 1)


Blocks = MappedBlocks | StreamedBlocks
