"""A zip archive without its index: members are found one after the other, by the headers that stand before them.

The index stands at a zip's end, so one that was cut has none. What a header leaves to the index, a member's size, is
told by the compression's own end mark.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple

HEADER = struct.Struct("<4s5H3L2H")  # signature, version, flags, method, time, date, CRC, sizes, name's and extra's
SIGNATURE = b"PK\x03\x04"
STORED, DEFLATED = 0, 8
ENCRYPTED, SIZES_FOLLOW, UTF8 = 0x1, 0x8, 0x800
SIZE_IN_EXTRA = 0xFFFFFFFF
READ_BYTES = 1 << 16
# A data descriptor behind a member whose header has no sizes: 12 to 24 bytes.
LONGEST_DESCRIPTOR = 24


class SalvagedMember(NamedTuple):
    """One member: its path as the archive has it, and its content, to be read before the next is asked for."""

    path: str
    content: "Salvaged"


class Salvaged:
    """The content of a member, as far as it goes; says `OSError` where it breaks off, once all before was read."""

    def __init__(self, file: IO[bytes], start: int, size: int | None, is_deflated: bool) -> None:
        self._file = file
        self._position = start
        self._stop = None if size is None else start + size
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS) if is_deflated else None
        self._ahead = b""

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, none at the member's end. Raises OSError where the archive was cut or is damaged."""
        limit = READ_BYTES if size < 0 else min(size, READ_BYTES)
        inflate = self._inflate
        while inflate is None or not inflate.eof:
            data = self._ahead or self._raw()
            if inflate is None:
                self._ahead = data[limit:]
                return data[:limit]
            if not data:
                raise OSError("the archive ends inside this member")
            try:
                text = inflate.decompress(data, limit)
            except zlib.error as error:
                raise OSError(str(error)) from None
            self._ahead = inflate.unconsumed_tail
            if text:
                return text
        return b""

    @property
    def end(self) -> int:
        """Where the member ended in the archive, once it was read."""
        return self._position - len(self._ahead if self._inflate is None else self._inflate.unused_data)

    def _raw(self) -> bytes:
        limit = READ_BYTES if self._stop is None else min(READ_BYTES, self._stop - self._position)
        if limit <= 0:
            return b""
        self._file.seek(self._position)
        data = self._file.read(limit)
        self._position += len(data)
        if not data and self._inflate is None:
            raise OSError("the archive ends inside this member")
        return data


def salvaged_members(file: IO[bytes]) -> Iterator[SalvagedMember]:
    """The members of a zip in the order in which they stand, up to the first that cannot be passed."""
    position = 0
    while True:
        file.seek(position)
        head = file.read(HEADER.size)
        if len(head) < HEADER.size or not head.startswith(SIGNATURE):
            return
        _, _, flags, method, _, _, _, packed, _, name_length, extra_length = HEADER.unpack(head)
        raw_name = file.read(name_length)
        if len(raw_name) < name_length:
            return
        name = raw_name.decode("utf-8" if flags & UTF8 else "cp437", "replace")
        start = position + HEADER.size + name_length + extra_length
        size = None if flags & SIZES_FOLLOW or packed == SIZE_IN_EXTRA else packed
        if flags & ENCRYPTED or method not in (STORED, DEFLATED) or (method == STORED and size is None):
            if size is None:
                return
            position = start + size
            continue
        content = Salvaged(file, start, size, method == DEFLATED)
        if not name.endswith("/"):
            yield SalvagedMember(name, content)
        try:
            while content.read():
                pass
        except OSError:
            if size is None:
                return
        position = start + size if size is not None else _next_header(file, content.end)


def _next_header(file: IO[bytes], end: int) -> int:
    file.seek(end)
    found = file.read(LONGEST_DESCRIPTOR + len(SIGNATURE)).find(SIGNATURE)
    return end + max(found, 0)
