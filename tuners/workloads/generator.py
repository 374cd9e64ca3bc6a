"""A declared workload as a stream of write batches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from lsmlens.tuners.workloads.component_streams import ComponentStream, component_streams
from lsmlens.tuners.workloads.document import Transactions, Workload
from lsmlens.tuners.workloads.operations import Operations
from lsmlens.tuners.workloads.payload import Payload
from lsmlens.tuners.workloads.read_stream import ReadStream, expected_reads, has_reads, with_reads
from lsmlens.tuners.workloads.routes import Route, routes
from lsmlens.tuners.workloads.stream import Batches
from lsmlens.tuners.workloads.transactions import pieces, transactions
from lsmlens.tuners.workloads.wire import Lane, batches

PIECE_BYTES = 16 << 20


@dataclass(frozen=True)
class DeclaredStream:
    """The stream of a workload document.

    `sharding` writes it to other column families than the document's: see `routes`. `in_batches` stands for the
    document's own transactions. Each component has random numbers
    of its own, so what one writes does not depend on which others there are. Of the reads about `most_reads` are made,
    spread evenly; all by default.
    """

    workload: Workload
    sharding: Mapping[str, int] | None = None
    in_batches: Transactions | None = None
    most_reads: int | None = None

    @property
    def families(self) -> tuple[str, ...]:
        """The column families in order of their ids, "default" first."""
        return self._routes[0]

    @property
    def seconds(self) -> float:
        """The length of the workload by its own clock."""
        return self.workload.seconds

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of results should know of the workload."""
        return self.workload.origin.notes

    @property
    def rocksdb_version(self) -> str | None:
        """The version that wrote the log which the workload was learned from, where it was."""
        return self.workload.origin.rocksdb_version or None

    def batches(self, seed: int, scale: float = 1.0) -> Iterator[Batches]:
        """The write batches of one run, those of what is there before its start first, at second 0."""
        components = self._components
        lanes = [lane for component in components for lane in component.lanes(scale)]
        payload = Payload(self._main_compression_ratio, seed)
        how = self._transactions(scale)
        families = self.workload.column_families
        reads = self._reads(lanes, seed, scale) if has_reads(families) else None
        for preloaded in self._preload(seed, scale):
            if reads is not None:
                reads.take_in(preloaded)
            ordered = transactions(preloaded, how, len(self.families), whole_moments=False)
            for piece, starts in pieces(*ordered, PIECE_BYTES):
                yield batches(piece, starts, lanes, payload)
        for run in self._run(seed, scale):
            beside = reads.beside(run) if reads is not None else None
            made = pieces(*transactions(run, how, len(self.families)), PIECE_BYTES)
            written = (batches(piece, starts, lanes, payload) for piece, starts in made)
            yield from written if beside is None else with_reads(written, beside)

    def _reads(self, lanes: Sequence[Lane], seed: int, scale: float) -> ReadStream:
        families, components = self.workload.column_families, self._components
        expected = expected_reads(families, components, self.seconds, scale)
        share = 1.0 if self.most_reads is None else min(1.0, self.most_reads / max(expected, 1.0))
        return ReadStream(families, components, lanes, seed, scale, share)

    def _transactions(self, scale: float) -> Transactions:
        """Batches as much smaller as all else: memtables are switched between batches, never within one."""
        how = self.in_batches or self.workload.transactions
        return Transactions(max(1, round(how.operations / scale)), how.families)

    def operations(self, seed: int, scale: float = 1.0) -> Iterator[Operations]:
        """The operations that `batches` writes, before they become bytes, many at a time.

        They are in order of time; operations of one moment may be in another order than in the batches.
        """
        yield from self._preload(seed, scale)
        yield from self._run(seed, scale)

    def preloaded_records(self, scale: float = 1.0) -> int:
        """How many records `batches` begins with that are no part of the workload but in the database before it."""
        return sum(len(preloaded) for preloaded in self._preload(0, scale))

    def _preload(self, seed: int, scale: float) -> Iterator[Operations]:
        for component in self._components:
            yield from component.preload(seed, scale)

    def _run(self, seed: int, scale: float) -> Iterator[Operations]:
        return merged([component.operations(self.seconds, seed, scale) for component in self._components])

    @cached_property
    def _routes(self) -> tuple[tuple[str, ...], tuple[Route, ...]]:
        return routes(self.workload.column_families, self.sharding)

    @cached_property
    def _components(self) -> list[ComponentStream]:
        return component_streams(self.workload.column_families, self._routes[1])

    @property
    def _main_compression_ratio(self) -> float:
        """The one by which most bytes of values are written."""
        written: dict[float, float] = {}
        for component in self._components:
            ratio = component.compression_ratio
            written[ratio] = written.get(ratio, 0.0) + component.value_bytes(self.seconds)
        return max(written, key=lambda ratio: written[ratio])


def merged(streams: Sequence[Iterator[Operations]]) -> Iterator[Operations]:
    """All operations of `streams` in order of time, as many at a time as one of the streams gives."""
    waiting: dict[int, Operations] = {}
    for place, stream in enumerate(streams):
        _refill(waiting, place, stream)
    while waiting:
        # Up to here, no stream can give anything more.
        horizon = min(one.seconds[-1] for one in waiting.values())
        ready: list[Operations] = []
        for place, one in waiting.items():
            count = int(np.searchsorted(one.seconds, horizon))
            if count:
                ready.append(one[:count])
                waiting[place] = one[count:]
        for place in list(waiting):
            while waiting[place].seconds[-1] == horizon:
                if not _refill(waiting, place, streams[place]):
                    ready.append(waiting.pop(place))
                    break
        if ready:
            yield _in_order(ready)


def _refill(waiting: dict[int, Operations], place: int, stream: Iterator[Operations]) -> bool:
    """Append the stream's next operations to what waits of it; False if there are no more."""
    for more in stream:
        if len(more):
            waiting[place] = _joined((waiting[place], more)) if place in waiting else more
            return True
    return False


def _joined(parts: Sequence[Operations]) -> Operations:
    return Operations(*(np.concatenate([getattr(part, name) for part in parts]) for name in Operations.__slots__))


def _in_order(parts: Sequence[Operations]) -> Operations:
    if len(parts) == 1:
        return parts[0]
    joined = _joined(parts)
    return joined[np.argsort(joined.seconds, kind="stable")]
