"""A list that goes to disk when it grows: what a long log yields must not stand in memory."""

import marshal
from collections.abc import Iterable, Iterator
from typing import IO, Any, Generic, TypeVar, cast

RecordT = TypeVar("RecordT")

BATCH_RECORDS = 1 << 13


class Spool(Generic[RecordT]):
    """Records in the order they were added, the newest in memory, full batches in a nameless temporary file.

    Holds what `marshal` does: numbers, strings, bytes, tuples, lists and dictionaries of these. Reading may be
    repeated, and must not be mixed with adding.
    """

    def __init__(self, batch_records: int = BATCH_RECORDS) -> None:
        self._batch_records = batch_records
        self._batch: list[RecordT] = []
        self._file: IO[bytes] | None = None
        self._spilled = 0
        self._end = 0

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
        position = 0
        while self._file is not None and position < self._end:
            self._file.seek(position)
            batch = cast("list[RecordT]", marshal.load(self._file))
            position = self._file.tell()
            yield from batch
        yield from self._batch

    def _spill(self) -> None:
        if self._file is None:
            from tempfile import TemporaryFile

            self._file = TemporaryFile(prefix="lsmlens-")  # noqa: SIM115 -- lives as long as the spool
        self._file.seek(self._end)
        marshal.dump(cast("Any", self._batch), self._file)
        self._end = self._file.tell()
        self._spilled += len(self._batch)
        self._batch = []
