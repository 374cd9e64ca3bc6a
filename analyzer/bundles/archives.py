"""Archives as they are found in a bundle: how they are known, and how they are read as streams."""

import io
from typing import TYPE_CHECKING

from lsmlens.analyzer.bundles.compression import DamagedStream, Readable
from lsmlens.analyzer.printable import printable

if TYPE_CHECKING:
    import tarfile

TAR_BLOCK = 512
# A read that meets the place where an archive was cut yields nothing: so much is lost there.
TAR_READ_BYTES = 1 << 16


def is_zip(head: bytes) -> bool:
    """Whether a file that begins so is a zip archive, empty ones included."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def is_tar(block: bytes) -> bool:
    """Whether a block is a tar header: its checksum field holds the sum of its other bytes."""
    if len(block) < TAR_BLOCK:
        return False
    field_text = block[148:156].strip(b" \x00")
    try:
        checksum = int(field_text, 8)
    except ValueError:
        return False
    return checksum == sum(block[:148]) + 8 * ord(" ") + sum(block[156:TAR_BLOCK])


def inside(archive: str, path: str) -> tuple[str, str]:
    """How a member of an archive is called, and the folder it stands in."""
    shown = printable(path)
    folder = shown.rpartition("/")[0]
    return f"{archive}!{shown}", f"{archive}!{folder}" if folder else archive


def entry_type(damage: list[str]) -> type["tarfile.TarInfo"]:
    """A tar entry that tells of a damaged header; tarfile takes one for the archive's end."""
    import tarfile

    class Entry(tarfile.TarInfo):
        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "Entry":
            try:
                return super().frombuf(buf, encoding, errors)
            except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError) as error:  # type: ignore[attr-defined]
                damage.append(str(error))
                raise

    return Entry


class ExactReader(io.RawIOBase):
    """What tarfile asks of a stream: `read` gives exactly the bytes asked for, less only at the end."""

    def __init__(self, stream: DamagedStream) -> None:
        super().__init__()
        self._stream = stream

    def read(self, size: int = -1, /) -> bytes:
        """Exactly `size` bytes, or what is left."""
        parts: list[bytes] = []
        while size:
            data = self._stream.take(size)
            if not data:
                break
            parts.append(data)
            size -= len(data)
        return b"".join(parts)


class TarContent:
    """A tar member's content in small reads, past the buffer tarfile puts around it, which would lose more."""

    def __init__(self, content: Readable) -> None:
        self._content = content

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, and not more than 64 KiB."""
        return self._content.read(min(size, TAR_READ_BYTES) if size >= 0 else TAR_READ_BYTES) or b""
