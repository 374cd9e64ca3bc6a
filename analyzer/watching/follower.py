"""Following one log: what was written since the last look, across rotation, truncation and restarts of this program.

A log is its path; the file that stands there is known by how it begins. Rotation renames it and begins
another: the old one, which is still open, is read to its end first. After a restart it is found again among the files
beside it, by its first line, also if it was compressed meanwhile. Only whole lines are read.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

import msgspec
from lsmlens.analyzer.bundles.members import HEAD_BYTES, Member, open_bundle
from lsmlens.analyzer.bundles.transports import layers
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.logs.blocks import Blocks, MappedBlocks, StreamedBlocks
from lsmlens.analyzer.logs.stamps import LINE_STAMP, stamp_millis

FIRST_BYTES = 256  # what a file is known by
TAIL_BYTES = 1 << 20
SKIP_BYTES = 1 << 20


class Place(msgspec.Struct):
    """How far a log was read: in the file that begins so, up to which byte and line."""

    head: bytes
    bytes: int = 0
    lines: int = 0


class Follower:
    """Gives what is new in one log. `place` is where an earlier one ended, None to begin at the log's first line.

    `head` is the beginning of the file that is being read, `truncations` how often a log was cut short or lost.
    """

    def __init__(self, path: Path, place: Place | None = None) -> None:
        self.path = path
        self.place = place
        self.head = b""
        self.truncations = 0
        self._fd: int | None = None

    def close(self) -> None:
        """Let go of the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def parts(self) -> Iterator[Blocks]:
        """The parts that are new, the oldest first; `place` moves on once a part was taken.

        A log that is not there is awaited. Raises InputError for one that may not be read.
        """
        live = self._live()
        try:
            if self._fd is not None and live is not None and not _is_same(live, self._fd):
                yield from self._rest(to_its_end=True)  # it was rotated: nobody writes to it for long
                self.close()
                yield from self._rotated_since()
                self.place = None
            elif self._fd is None and self.place is not None and not _begins_with(live, self.place.head):
                yield from self._found_again()
                yield from self._rotated_since()
                self.place = self.place if live is None else None
            if self._fd is None and live is not None:
                self._fd, live = live, None
        finally:
            if live is not None:
                os.close(live)
        if self._fd is not None:
            yield from self._rest()

    def _live(self) -> int | None:
        try:
            return os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(str(self.path), error.strerror or str(error), "run as a user who may read it") from error

    def _rest(self, to_its_end: bool = False) -> Iterator[Blocks]:
        """What the open file holds beyond the place."""
        fd = self._fd
        assert fd is not None
        size = os.fstat(fd).st_size
        place = self.place
        if place is None or size < place.bytes or not _begins_with(fd, place.head):
            self.truncations += place is not None
            place = Place(os.pread(fd, FIRST_BYTES, 0))
        if len(place.head) < FIRST_BYTES:
            place.head = os.pread(fd, FIRST_BYTES, 0)
        self.place = place
        stop = size if to_its_end else _last_line_end(fd, place.bytes, size)
        if stop > place.bytes:
            self.head = os.pread(fd, HEAD_BYTES, 0)
            blocks = MappedBlocks(fd, place.bytes, stop, place.lines)
            yield blocks
            place.bytes += blocks.bytes
            place.lines += blocks.lines

    def _found_again(self) -> Iterator[Blocks]:
        """After a restart: what is left of the file that was read last, which rotation has renamed."""
        assert self.place is not None
        for path in _rotated(self.path):
            with _member(path) as member:
                if member.head().startswith(self.place.head):
                    yield from self._part(member)
                    return
        self.truncations += 1  # it is nowhere: what it held beyond the place is lost

    def _rotated_since(self) -> Iterator[Blocks]:
        """The files that rotation has put between the one that was read last and the one that is written now."""
        assert self.place is not None
        before = _begins_at(self.place.head)
        if before is None:
            return
        begins = {}
        for path in _rotated(self.path):
            with _member(path) as member:
                begins[path] = _begins_at(member.head()) or 0
        for path in sorted((path for path, moment in begins.items() if moment > before), key=begins.__getitem__):
            with _member(path) as member:
                self.place = Place(member.head()[:FIRST_BYTES])
                yield from self._part(member)

    def _part(self, member: Member) -> Iterator[Blocks]:
        """What a file beside the log, be it compressed, holds beyond the place."""
        assert self.place is not None
        self.head = member.head()
        blocks: Blocks
        if member.stream is None:
            assert member.file is not None
            blocks = MappedBlocks(member.file, self.place.bytes, None, self.place.lines)
        else:
            left = self.place.bytes
            while left > 0 and (skipped := member.stream.take(min(left, SKIP_BYTES))):
                left -= len(skipped)
            blocks = StreamedBlocks(member.stream)
        yield blocks
        self.place.bytes += blocks.bytes
        self.place.lines += blocks.lines


def _is_same(one: int, other: int) -> bool:
    first, second = os.fstat(one), os.fstat(other)
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)


def _begins_with(file: int | None, head: bytes) -> bool:
    return file is not None and os.pread(file, FIRST_BYTES, 0).startswith(head)


def _begins_at(head: bytes) -> int | None:
    """When a file begins, by its first stamp, in milliseconds of local time."""
    *_, lines = layers(head)
    stamp = LINE_STAMP.search(lines)
    return None if stamp is None else stamp_millis(stamp)


def _last_line_end(fd: int, start: int, size: int) -> int:
    """Behind the last newline between two places; the first where there is none."""
    end = size
    while end > start:
        begin = max(start, end - TAIL_BYTES)
        newline = os.pread(fd, end - begin, begin).rfind(b"\n")
        if newline >= 0:
            return begin + newline + 1
        end = begin
    return start


def _rotated(path: Path) -> list[Path]:
    """The files beside a log that rotation has made of it: ceph-osd.0.log.1.gz, ceph-osd.0.log-20261122, LOG.old.17."""
    return [one for one in path.parent.glob(f"{escape(path.name)}?*") if one.is_file() and one.stat().st_size]


@contextmanager
def _member(path: Path) -> Iterator[Member]:
    members = open_bundle([str(path)])
    yield next(members)
    members.close()
