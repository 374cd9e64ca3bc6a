"""Write batches taken apart, for an engine that does not take them whole."""

from collections.abc import Iterator

import numpy as np
from lsmlens.tuners.engines.errors import EngineError
from lsmlens.tuners.workloads.decoding import decode
from lsmlens.tuners.workloads.stream import Batches
from lsmlens.tuners.workloads.wire import HEADER_BYTES


class DecodedBatches:
    """The records of `batches`, decoded all at once, given batch by batch."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches
        decoded = decode(batches)
        found = decoded.records
        self._data = batches.buffer.tobytes()
        self._bounds = np.searchsorted(found.batch, np.arange(len(batches.offsets))).tolist()
        self._columns = (
            *(found.tag.tolist(), found.family.tolist(), found.key_start.tolist()),
            *((found.key_start + found.key_bytes).tolist(), (found.end - found.value_bytes).tolist()),
            found.end.tolist(),
        )
        self._damaged = frozenset(decoded.damaged.tolist())

    def records(self, place: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """Each record of one batch: tag, family id, key, value or end key (empty where there is none).

        Raises EngineError, before the first record, if the batch is torn or holds an unknown tag.
        """
        start, stop = self.batches.offsets[place : place + 2].tolist()
        low, high = self._bounds[place], self._bounds[place + 1]
        count = int.from_bytes(self._data[start + 8 : start + HEADER_BYTES], "little")
        if stop - start < HEADER_BYTES or place in self._damaged or count != high - low:
            raise EngineError(f"malformed write batch: batch {place} is torn, or holds what is no record")
        data = self._data
        for tag, family, key, key_end, value, end in zip(*(each[low:high] for each in self._columns), strict=True):
            yield tag, family, data[key:key_end], data[value:end]
