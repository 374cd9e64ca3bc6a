"""A list that goes to disk when it grows: what a long log yields must not stand in memory."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, Generic, TypeVar

import msgspec
from lsmlens.analyzer.errors import LsmlensError

RecordT = TypeVar("RecordT")

BATCH_RECORDS = 1 << 11
_ENCODER = msgspec.msgpack.Encoder()


class Spool(Generic[RecordT]):
    """Records in the order they were added, the newest in memory, full batches in a nameless temporary file.

    Holds what msgspec can tell the type of: `kind` says which. Reading may be repeated, and must not be mixed with
    adding.
    """

    def __init__(self, kind: Any, batch_records: int = BATCH_RECORDS) -> None:
        self.kind = kind
        self._batch_records = batch_records
        self._batch: list[RecordT] = []
        self._file: IO[bytes] | None = None
        self._sizes: list[int] = []
        self._spilled = 0

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, record: RecordT) -> None:
        """Add one record at the end."""
        self._batch.append(record)
        if len(self._batch) >= self._batch_records:
            self._spill()

    def extend(self, records: Iterable[RecordT]) -> None:
        """Add records at the end."""
        self._batch.extend(records)
        if len(self._batch) >= self._batch_records:
            self._spill()

    def __len__(self) -> int:
        return self._spilled + len(self._batch)

    def __iter__(self) -> Iterator[RecordT]:
        if self._file is not None:
            decoder: msgspec.msgpack.Decoder[list[RecordT]] = msgspec.msgpack.Decoder(list[self.kind])  # type: ignore[name-defined]
            position = 0
            for size in self._sizes:
                self._file.seek(position)
                position += size
                yield from decoder.decode(self._file.read(size))
        yield from self._batch

    def _spill(self) -> None:
        packed = _ENCODER.encode(self._batch)
        if self._file is None:
            self._file = temporary_file()
        with writing(self._file):
            self._file.seek(sum(self._sizes))
            self._file.write(packed)
        self._sizes.append(len(packed))
        self._spilled += len(self._batch)
        self._batch = []


def temporary_file() -> IO[bytes]:
    """A file without a name, gone once it is closed. Raises LsmlensError if there can be none."""
    from tempfile import TemporaryFile

    try:
        return TemporaryFile(prefix="lsmlens-")
    except OSError as error:
        raise _refused(error) from error


@contextmanager
def writing(file: IO[bytes]) -> Iterator[None]:
    """Around writes to a temporary file, which is closed if the system takes no more; LsmlensError says so."""
    try:
        yield
        file.flush()
    except OSError as error:
        with suppress(OSError):  # it tries once more to write what it holds
            file.close()
        raise _refused(error) from error


def _refused(error: OSError) -> LsmlensError:
    from tempfile import gettempdir

    return LsmlensError(
        f"cannot write a temporary file in {gettempdir()}: {error.strerror or error}",
        "make room there, or name another folder by TMPDIR: what a long log holds stands there while it is read",
    )
