"""A bundle: files, folders and archives, as one stream of members.

Archives are read as they come: nothing is unpacked to disk, and a member's path is only ever shown.
Formats are told by content. A member inside an archive is named `archive!path`, however deep.
"""

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from lsmlens.analyzer.bundles.archives import TAR_BLOCK, ExactReader, TarContent, entry_type, inside, is_tar, is_zip
from lsmlens.analyzer.bundles.compression import (
    MAGIC,
    Allowance,
    DamagedStream,
    Metered,
    TooMuch,
    Unpacked,
    decompressed,
)
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.printable import printable

if TYPE_CHECKING:
    from tarfile import ExFileObject

HEAD_BYTES = 1 << 16
DEPTH_LIMIT = 8
ZIP_MEMORY_BYTES = 32 << 20
STANDARD_INPUT = "-"


@dataclass(slots=True)
class Member:
    """One file of a bundle: where it is and how to read it.

    `file` is set for a plain file on disk, which may be mapped; `stream` otherwise. The stream is good until
    the next member is asked for. `size` is the bytes on disk or in the archive, None where it is not known.
    """

    path: str
    directory: str
    size: int | None = None
    file: Path | None = None
    stream: DamagedStream | None = None
    sources: list[DamagedStream] = field(default_factory=list)
    unreadable: str | None = None

    @property
    def damage(self) -> str | None:
        """What stopped the reading of this member early, None where nothing did."""
        if self.unreadable:
            return self.unreadable
        return next((source.damage for source in self.sources if source.damage), None)

    def head(self) -> bytes:
        """The first 64 KiB, which stay to be read; sets `unreadable` where not even that can be had."""
        if self.stream is not None:
            return self.stream.peek(HEAD_BYTES)
        return self.read(HEAD_BYTES)

    def read(self, limit: int) -> bytes:
        """At most `limit` bytes from the start, which stay to be read."""
        if self.stream is not None:
            return self.stream.peek(limit)
        if self.file is None:
            return b""
        try:
            with self.file.open("rb", buffering=0) as file:
                return file.read(limit) or b""
        except OSError as error:
            self.unreadable = error.strerror or str(error)
            return b""


def open_bundle(paths: Iterable[str], on_bytes: Callable[[int], None] | None = None) -> Generator[Member, None, None]:
    """The members of everything under `paths`, in a stable order; `-` is standard input.

    `on_bytes` is told of bytes taken from compressed and archived files, for progress. Raises InputError for
    a path that does not exist; whatever else cannot be read comes as a member that is `unreadable`.
    """
    seen: set[tuple[int, int]] = set()
    for path in paths:
        if path == STANDARD_INPUT:
            allowance = Allowance()
            stream = DamagedStream(Metered(cast("IO[bytes]", sys.stdin.buffer), allowance, on_bytes))
            yield from _members_of_stream("standard input", "", stream, None, (stream,), 0, allowance)
            continue
        for file in files_at(path):
            try:
                status = file.stat()
            except OSError as error:
                yield Member(printable(str(file)), printable(str(file.parent)), unreadable=error.strerror or str(error))
                continue
            if (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                yield from _members_of_file(file, status.st_size, on_bytes)


def files_at(name: str) -> Iterator[Path]:
    """The regular files at or under a path, sorted; pipes given by name count as files.

    Raises InputError for a path that does not exist.
    """
    path = Path(name)
    hint = "check the path; `-` reads standard input"
    try:
        found = bool(name) and path.exists()
    except (OSError, ValueError) as error:
        raise InputError(name, getattr(error, "strerror", None) or str(error), hint) from None
    if not found:
        raise InputError(name, "no such file or folder", hint)
    if not path.is_dir():
        yield path
        return
    for folder, names, files in os.walk(path):
        names.sort()
        for name in sorted(files):
            file = Path(folder, name)
            if file.is_file() or not file.exists():  # a dangling link is listed, a pipe would only wait
                yield file


def _members_of_file(file: Path, size: int, on_bytes: Callable[[int], None] | None) -> Iterator[Member]:
    name, directory = printable(str(file)), printable(str(file.parent))
    allowance = Allowance()
    if not file.is_file():  # a named pipe: read once, from the start
        try:
            pipe = file.open("rb")
        except OSError as error:
            yield Member(name, directory, unreadable=error.strerror or str(error))
            return
        with pipe:
            stream = DamagedStream(Metered(pipe, allowance, on_bytes))
            yield from _members_of_stream(name, directory, stream, None, (stream,), 0, allowance)
        return
    try:
        raw = file.open("rb", buffering=0)
    except OSError as error:
        yield Member(name, directory, size, unreadable=error.strerror or str(error))
        return
    with raw:
        stream = DamagedStream(Metered(raw, allowance, on_bytes))
        head = stream.peek(TAR_BLOCK)
        if stream.damage:
            yield Member(name, directory, size, unreadable=stream.damage)
        elif is_zip(head):
            raw.seek(0)
            allowance.read_bytes = size
            yield from _members_of_zip(name, raw, (stream,), 0, allowance)
        elif is_tar(head) or any(head.startswith(magic) for magic, *_ in MAGIC):
            yield from _members_of_stream(name, directory, stream, size, (stream,), 0, allowance)
        else:
            yield Member(name, directory, size, file=file)


def _members_of_stream(
    name: str,
    directory: str,
    stream: DamagedStream,
    size: int | None,
    sources: tuple[DamagedStream, ...],
    depth: int,
    allowance: Allowance,
) -> Iterator[Member]:
    inner = decompressed(stream, allowance)
    if depth >= DEPTH_LIMIT:
        yield Member(name, directory, size, unreadable=f"nested deeper than {DEPTH_LIMIT} archives")
    elif inner is not None:
        yield from _members_of_stream(name, directory, inner, size, (*sources, inner), depth + 1, allowance)
    elif is_tar(stream.peek(TAR_BLOCK)):
        yield from _members_of_tar(name, stream, sources, depth, allowance)
    elif is_zip(stream.peek(4)):
        from tempfile import SpooledTemporaryFile

        # A zip's index stands at its end, so one that comes as a stream is kept, as it is, until it is whole.
        with SpooledTemporaryFile(max_size=ZIP_MEMORY_BYTES) as kept:
            while data := stream.take(1 << 20):
                kept.write(data)
            kept.seek(0)
            yield from _members_of_zip(name, cast("IO[bytes]", kept), sources, depth, allowance)
    else:
        yield Member(name, directory, size, stream=stream, sources=list(sources))


def _members_of_tar(
    name: str, stream: DamagedStream, sources: tuple[DamagedStream, ...], depth: int, allowance: Allowance
) -> Iterator[Member]:
    import tarfile

    headers: list[str] = []
    try:
        with tarfile.open(
            fileobj=ExactReader(stream), mode="r|", bufsize=1 << 18, tarinfo=entry_type(headers)
        ) as archive:
            for entry in archive:
                if not entry.isreg():
                    continue
                allowance.add_member()
                content = archive.extractfile(entry)
                if content is None:
                    continue
                path, directory = inside(name, entry.name)
                inner = DamagedStream(TarContent(cast("ExFileObject", content).raw))
                yield from _members_of_stream(
                    path, directory, inner, entry.size, (*sources, inner), depth + 1, allowance
                )
    except TooMuch as error:
        yield Member(name, name, unreadable=str(error))
        return
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        reason = stream.damage or str(error) or type(error).__name__
        yield Member(name, name, unreadable=f"the archive is damaged: {reason}")
        return
    if headers:
        yield Member(name, name, unreadable=f"the archive is damaged: {headers[0]}")
    while stream.take(1 << 18):  # to the end, where the checksum of a compressed archive stands
        pass
    if stream.damage:
        yield Member(name, name, unreadable=f"the archive is damaged: {stream.damage}")


def _members_of_zip(
    name: str, file: IO[bytes], sources: tuple[DamagedStream, ...], depth: int, allowance: Allowance
) -> Iterator[Member]:
    import zipfile

    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, EOFError) as error:
        from lsmlens.analyzer.bundles.damaged_zips import salvaged_members

        yield Member(name, name, unreadable=f"the zip archive is damaged: {error}")
        for found in salvaged_members(file):
            path, directory = inside(name, found.path)
            inner = DamagedStream(Unpacked(found.content, allowance))
            yield from _members_of_stream(path, directory, inner, None, (*sources, inner), depth + 1, allowance)
        return
    with archive:
        for entry in archive.infolist():
            if entry.is_dir():
                continue
            path, directory = inside(name, entry.filename)
            try:
                allowance.add_member()
                content = archive.open(entry)
            except TooMuch as error:
                yield Member(name, name, unreadable=str(error))
                return
            except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, ValueError) as error:
                yield Member(path, directory, entry.file_size, unreadable=str(error))
                continue
            with content:
                inner = DamagedStream(Unpacked(content, allowance))
                yield from _members_of_stream(
                    path, directory, inner, entry.file_size, (*sources, inner), depth + 1, allowance
                )
