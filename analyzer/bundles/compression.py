"""Compressed streams, read as far as they go.

A truncated or corrupt stream gives all that could be decompressed; what was wrong with it is kept as
`damage` instead of raised, for one bad file must not cost the good part of a bundle.
"""

import io
import os
from collections.abc import Callable
from typing import Protocol

CHUNK_BYTES = 1 << 18
# A call that meets damage yields nothing: so much is lost there.
OUTPUT_BYTES = 1 << 16


# What one given file may come to: so much, and so many times what was read of it; and so many members.
FREE_BYTES, MOST_FOLD, MOST_MEMBERS = 1 << 30, 200, 100_000
TRUSTED = "LSMLENS_TRUST_ARCHIVES"


class TooMuch(Exception):
    """More comes out of an archive than anybody packs into one."""


class Readable(Protocol):
    """What a stream is made over: anything that gives at most so many bytes, none at its end."""

    def read(self, size: int = -1, /) -> bytes | None:
        """At most `size` bytes."""


class Decompressor(Protocol):
    """The interface of `bz2.BZ2Decompressor` that all four formats' decompressors share."""

    @property
    def eof(self) -> bool:
        """Whether the end mark was met."""

    @property
    def needs_input(self) -> bool:
        """Whether more output needs more input."""

    @property
    def unused_data(self) -> bytes:
        """What followed the end mark."""

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        """At most `max_length` bytes of output."""


def _gzip() -> Decompressor:
    from isal import igzip_lib

    decompressor: Decompressor = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
    return decompressor


def _zstd() -> Decompressor:
    import sys

    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdDecompressor  # type: ignore[import-not-found,unused-ignore]
    else:
        from backports.zstd import ZstdDecompressor
    decompressor: Decompressor = ZstdDecompressor()
    return decompressor


def _xz() -> Decompressor:
    from lzma import LZMADecompressor

    return LZMADecompressor()


def _bzip2() -> Decompressor:
    from bz2 import BZ2Decompressor

    return BZ2Decompressor()


MAGIC: tuple[tuple[bytes, str, Callable[[], Decompressor]], ...] = (
    (b"\x1f\x8b\x08", "gzip", _gzip),
    (b"\x28\xb5\x2f\xfd", "zstd", _zstd),
    (b"\xfd7zXZ\x00", "xz", _xz),
    (b"BZh", "bzip2", _bzip2),
)


class Allowance:
    """What one given file, with all that is packed in it however deep, may still come to.

    A log packs to a tenth or a hundredth of its size; a bomb to a thousandth in each layer.
    """

    def __init__(self) -> None:
        self.read_bytes = 0
        self._unpacked_bytes = 0
        self._members = 0
        self._is_trusted = bool(os.environ.get(TRUSTED))

    def unpack(self, count: int) -> None:
        """Take in bytes that were decompressed. Raises TooMuch."""
        self._unpacked_bytes += count
        if self._unpacked_bytes > FREE_BYTES + MOST_FOLD * self.read_bytes and not self._is_trusted:
            raise TooMuch(f"it unpacks to more than {MOST_FOLD} times its size; {TRUSTED}=1 reads it all the same")

    def add_member(self) -> None:
        """Take in a member. Raises TooMuch."""
        self._members += 1
        if self._members > MOST_MEMBERS and not self._is_trusted:
            raise TooMuch(f"it holds more than {MOST_MEMBERS:,} files; {TRUSTED}=1 reads them all the same")


class Metered:
    """What is read of a given file; the bytes are allowed to unfold, and told for progress."""

    def __init__(self, file: Readable, allowance: Allowance, on_bytes: Callable[[int], None] | None = None) -> None:
        self._file = file
        self._allowance = allowance
        self._on_bytes = on_bytes

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes."""
        data = self._file.read(size) or b""
        self._allowance.read_bytes += len(data)
        if self._on_bytes is not None:
            self._on_bytes(len(data))
        return data


class Unpacked:
    """What somebody else decompresses, such as a zip's member, as far as it is allowed."""

    def __init__(self, content: Readable, allowance: Allowance) -> None:
        self._content = content
        self._allowance = allowance

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes. Raises TooMuch."""
        data = self._content.read(size) or b""
        self._allowance.unpack(len(data))
        return data


class DamagedStream(io.RawIOBase):
    """A byte stream that ends where its source breaks, and says why in `damage`.

    `prefix` is what was read from `source` already, to recognise it.
    """

    def __init__(self, source: Readable, prefix: bytes = b"") -> None:
        super().__init__()
        self._source = source
        self._prefix = prefix
        self.damage: str | None = None

    def readable(self) -> bool:
        """True, as for every stream here."""
        return True

    def readinto(self, buffer: object, /) -> int:
        """Fill `buffer` as far as one read of the source goes; 0 at the end, sound or not."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        data = self.take(len(view))
        view[: len(data)] = data
        return len(data)

    def peek(self, size: int) -> bytes:
        """The next `size` bytes (fewer at the end), which stay to be read."""
        while len(self._prefix) < size:
            data = self._pull(size - len(self._prefix))
            if not data:
                break
            self._prefix += data
        return self._prefix[:size]

    def take(self, size: int) -> bytes:
        """At most `size` bytes; b"" at the end."""
        data = self._prefix or self._pull(size)
        self._prefix = data[size:]  # unwrapping may yield more than was asked for
        return data[:size]

    def _pull(self, size: int) -> bytes:
        if self.damage is not None:
            return b""
        try:
            return self._read(size)
        except TooMuch as error:
            self.damage = str(error)
        except Exception as error:  # OSError, EOFError, LZMAError, ZstdError, ReadError, BadZipFile: no common base
            self.damage = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return b""

    def _read(self, size: int) -> bytes:
        return self._source.read(size) or b""


class DecompressedStream(DamagedStream):
    """The content of a gzip, zstd, xz or bzip2 stream, of one member or several in a row."""

    def __init__(self, source: Readable, make: Callable[[], Decompressor], name: str, allowance: Allowance) -> None:
        super().__init__(source)
        self._allowance = allowance
        self._make = make
        self._name = name
        self._decompressor = make()
        self._fed = False
        self._ended = False

    def _read(self, size: int) -> bytes:
        while not self._ended:
            decompressor = self._decompressor
            if decompressor.eof:
                rest = decompressor.unused_data or self._source.read(CHUNK_BYTES) or b""
                rest = rest.lstrip(b"\x00")  # tar and tape padding
                if not rest:
                    self._ended = True
                    break
                self._decompressor = decompressor = self._make()
                chunk = rest
            elif decompressor.needs_input or not self._fed:
                chunk = self._source.read(CHUNK_BYTES) or b""
                self._fed = True
                if not chunk:
                    self._ended = True
                    self.damage = f"the {self._name} stream ends before its end mark"
                    break
            else:
                chunk = b""
            data = decompressor.decompress(chunk, min(max(size, 1), OUTPUT_BYTES))
            if data:
                self._allowance.unpack(len(data))
                return data
        return b""


def decompressed(stream: DamagedStream, allowance: Allowance) -> DecompressedStream | None:
    """The content of `stream` if its first bytes are those of a compression format, None otherwise."""
    head = stream.peek(6)
    for magic, name, make in MAGIC:
        if head.startswith(magic):
            return DecompressedStream(stream, make, name, allowance)
    return None
