"""The operations of one component of a family, with its keys and sizes."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.workloads.chunk import WORKING_SET_BITS, Chunk, Tag
from lsmlens.tuners.workloads.clusters import Shape, clustered_chunks, preloaded_keys
from lsmlens.tuners.workloads.components import Clustered, Component, Growth, Keys, Merges, Queue
from lsmlens.tuners.workloads.document import ColumnFamily
from lsmlens.tuners.workloads.growths import growth_chunks, range_width
from lsmlens.tuners.workloads.key_forms import KeyForm, number, scattered, unique
from lsmlens.tuners.workloads.operations import Operations
from lsmlens.tuners.workloads.overwrites import overwrite_chunks, sampler
from lsmlens.tuners.workloads.queues import queue_chunks
from lsmlens.tuners.workloads.routes import Route
from lsmlens.tuners.workloads.sizes import Size, mean_bytes, sizes_at
from lsmlens.tuners.workloads.timetable import CHUNK_OPERATIONS, timetable
from lsmlens.tuners.workloads.wire import Lane
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ComponentStream:
    """A component and where it is written to.

    Its random numbers depend on its family's name and its place there. `key_range` numbers the components whose keys
    get together in one column family of the database.
    """

    component: Component
    keys: Keys
    values: Size
    family: str
    place: int
    key_range: int
    route: Route
    compression_ratio: float
    first_lane: int

    def lanes(self, scale: float) -> list[Lane]:
        """A lane for each shard."""
        form = KeyForm(self.keys, self.route.prefix)
        width = range_width(self.component, scale) if isinstance(self.component, Growth) else 0
        return [Lane(family, form, self.compression_ratio, width) for family in self.route.families]

    def operations(self, seconds: float, seed: int, scale: float) -> Iterator[Operations]:
        """All of the component's operations in a workload `seconds` long, but those before its start."""
        rng, sizes = self._random(seed)
        for chunk in chunks(self.component, self.keys, seconds, scale, rng):
            yield self._placed(chunk, scale, sizes)

    def preload(self, seed: int, scale: float) -> Iterator[Operations]:
        """Puts of the keys that are there before the workload's start, all at second 0."""
        sizes = np.random.default_rng([seed, zlib.crc32(self.family.encode()), self.place, 2])
        tag = Tag.MERGE if isinstance(self.component, Merges) else Tag.PUT
        for keys in _preloaded(self.component, scale):
            yield self._placed(Chunk(np.zeros(len(keys)), np.full(len(keys), tag, np.uint8), keys), scale, sizes)

    def value_bytes(self, seconds: float) -> float:
        """About how many bytes of values the component writes."""
        puts = timetable(self.component, seconds, 1.0).puts.sum() + self.component.preload
        return float(puts) * mean_bytes(self.values)

    def _random(self, seed: int) -> tuple[np.random.Generator, np.random.Generator]:
        name = zlib.crc32(self.family.encode())
        return np.random.default_rng([seed, name, self.place, 0]), np.random.default_rng([seed, name, self.place, 1])

    def _placed(self, chunk: Chunk, scale: float, rng: np.random.Generator) -> Operations:
        count = len(chunk)
        key = unique(chunk.key, self.key_range)
        if isinstance(self.values, int | float) and self.values == int(self.values):
            value_bytes = np.full(count, int(self.values), np.int64)
        else:
            value_bytes = sizes_at(self.values, rng.random(count))
        has_value = (chunk.tag == Tag.PUT) | (chunk.tag == Tag.MERGE)
        if not has_value.all():
            value_bytes *= has_value
        shards = len(self.route.families)
        if shards == 1:
            family = np.full(count, self.route.families[0], np.uint16)
            lane = np.full(count, self.first_lane, np.uint16)
        else:
            shard = scattered(self._divisor(key, scale)) % shards
            family = np.array(self.route.families, np.uint16)[shard]
            lane = (self.first_lane + shard).astype(np.uint16)
        return Operations(chunk.seconds, family, chunk.tag, key, value_bytes, lane)

    def _divisor(self, key: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        """What decides a key's shard: its object or group where it has one, as in BlueStore's hash ranges."""
        if isinstance(self.component, Clustered):
            return number(key) // Shape.of(self.component, scale).keys_per_object
        if self.keys.order == "grouped":
            return number(key) % self.keys.groups
        return key & ((1 << WORKING_SET_BITS) - 1)


def component_streams(families: Sequence[ColumnFamily], routed: Sequence[Route]) -> list[ComponentStream]:
    """A stream for every component of `families`, each family with its route."""
    found: list[ComponentStream] = []
    lane = 0
    key_ranges: dict[Route, int] = {}  # components whose keys get together need ranges of their own, of any family
    for family, route in zip(families, routed, strict=True):
        for place, one in enumerate(family.components):
            keys, values = one.keys or family.keys, family.values if one.values is None else one.values
            ratio = family.compression_ratio
            key_range = key_ranges.get(route, 0)
            key_ranges[route] = key_range + 1
            found.append(ComponentStream(one, keys, values, family.name, place, key_range, route, ratio, lane))
            lane += len(route.families)
    return found


def chunks(component: Component, keys: Keys, seconds: float, scale: float, rng: np.random.Generator) -> Iterator[Chunk]:
    """A component's operations in order of time, whatever the sizes of its keys and values."""
    table = timetable(component, seconds, scale)
    if isinstance(component, Queue):
        return queue_chunks(component, table, keys.groups, scale, rng)
    if isinstance(component, Growth):
        return growth_chunks(component, table, scale, rng)
    if isinstance(component, Clustered):
        return clustered_chunks(component, table, scale, rng)
    return overwrite_chunks(component, table, scale, rng)


def _preloaded(component: Component, scale: float) -> Iterator[NDArray[np.int64]]:
    count = round(component.preload / scale)
    if isinstance(component, Clustered):
        keys = preloaded_keys(component, scale)
        yield from (keys[first : first + CHUNK_OPERATIONS] for first in range(0, len(keys), CHUNK_OPERATIONS))
        return
    if isinstance(component, Queue | Growth):
        stretches = [(-count, 0)]
    else:
        stretches = []
        sets = component.working_sets
        for place, one in enumerate([max(sets, key=lambda one: one.keys)] if component.nested else sets):
            population = min(count, sampler(one, scale).keys)
            stretches.append((place << WORKING_SET_BITS, (place << WORKING_SET_BITS) + population))
            count -= population
    for start, end in stretches:
        for first in range(start, end, CHUNK_OPERATIONS):
            yield np.arange(first, min(first + CHUNK_OPERATIONS, end))
