"""The operations of clustered keys: objects of many keys, written in batches, cleared whole."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.workloads.chunk import Chunk, Tag
from lsmlens.tuners.workloads.clears import Clears, ObjectBatches
from lsmlens.tuners.workloads.components import Clustered
from lsmlens.tuners.workloads.timetable import Timetable, spreads_clears
from lsmlens.tuners.workloads.zipf import Zipf
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Shape:
    """Objects, possible keys of each, and keys of a batch, at one scale."""

    objects: int
    keys_per_object: int
    batch: int

    @classmethod
    def of(cls, clustered: Clustered, scale: float) -> "Shape":
        """The keys of an object are divided by the scale, and where there is but one left, the objects."""
        keys = max(1, round(clustered.keys_per_object / scale))
        objects = max(1, round(clustered.objects * clustered.keys_per_object / scale / keys))
        return cls(objects, keys, max(1, round(clustered.batch / scale)))


def clustered_chunks(clustered: Clustered, table: Timetable, scale: float, rng: np.random.Generator) -> Iterator[Chunk]:
    """The component's operations. A key is its object's number times `keys_per_object`, plus its place there."""
    shape = Shape.of(clustered, scale)
    objects = Zipf(shape.objects, clustered.zipf)
    live = np.zeros((shape.objects, shape.keys_per_object), np.bool_)
    preloaded = preloaded_keys(clustered, scale)
    live.reshape(-1)[preloaded] = True
    clears = Clears(live, objects, rng, is_by_chance=not spreads_clears(clustered))
    for rows in table.chunks():
        removals, excess = rows.deletes, np.zeros(len(rows), np.int64)
        if clustered.schedule is not None and not clustered.clears_per_put:
            removals = np.minimum(rows.deletes, np.rint(clustered.removals_per_put * rows.puts).astype(np.int64))
            excess = rows.deletes - removals
        batches = _batches(rows, removals, shape, objects, clustered.spread == "random", rng)
        when, cleared = clears.of(rows, excess, batches)
        seconds = np.concatenate((np.repeat(batches.seconds, batches.sizes), when))
        is_put = np.concatenate((np.repeat(batches.is_put, batches.sizes), np.zeros(len(when), np.bool_)))
        order = np.argsort(seconds, kind="stable")
        key, is_put = np.concatenate((batches.keys, cleared))[order], is_put[order]
        live.reshape(-1)[key] = is_put  # of several operations on one key, the last holds
        yield Chunk(seconds[order], np.where(is_put, Tag.PUT, Tag.DELETE).astype(np.uint8), key)


def preloaded_keys(clustered: Clustered, scale: float) -> NDArray[np.int64]:
    """Keys that live before the start: an equal share of each object's, evenly spaced; rising."""
    shape = Shape.of(clustered, scale)
    possible = shape.objects * shape.keys_per_object
    count = min(possible, round(clustered.preload / scale))
    return np.arange(count) * possible // max(1, count)


def _batches(
    rows: Timetable,
    removals: NDArray[np.int64],
    shape: Shape,
    objects: Zipf,
    is_random: bool,
    rng: np.random.Generator,
) -> ObjectBatches:
    """Put and removal batches of these rows, mixed at random within each row, at even or random moments."""
    kinds = [(rows.puts, True), (removals, False)]
    numbers = [
        np.where(counts > 0, np.maximum(1, np.rint(counts / shape.batch).astype(np.int64)), 0) for counts, _ in kinds
    ]
    row = np.concatenate([np.repeat(np.arange(len(rows)), number) for number in numbers])
    sizes = np.concatenate([_shares(counts, number) for (counts, _), number in zip(kinds, numbers, strict=True)])
    is_put = np.repeat([True, False], [number.sum() for number in numbers])
    order = np.argsort(row + rng.random(len(row)), kind="stable")
    row, sizes, is_put = row[order], sizes[order], is_put[order]
    total = numbers[0] + numbers[1]
    place = np.arange(len(row)) - np.repeat(np.cumsum(total) - total, total)
    place = place + (rng.random(len(row)) if is_random else 0.5)
    seconds = rows.start[row] + (rows.end - rows.start)[row] * place / total[row]
    chosen = objects.ranks(len(row), rng)
    keys = np.repeat(chosen * shape.keys_per_object, sizes) + _places(sizes, shape.keys_per_object, rng)
    return ObjectBatches(seconds, chosen, is_put, sizes, keys)


def _places(sizes: NDArray[np.int64], keys: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """For each batch so many of an object's keys, each as likely, and none twice unless there are fewer keys.

    A batch takes one out of each of as many stretches of the keys, and begins anywhere.
    """
    nth = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    of = np.repeat(sizes, sizes)
    first = nth * keys // of
    width = (nth + 1) * keys // of - first
    begin = np.repeat(rng.integers(0, keys, len(sizes)), sizes)
    places: NDArray[np.int64] = (begin + first + (rng.random(len(nth)) * width).astype(np.int64)) % keys
    return places


def _shares(counts: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each of `counts` divided into so many whole shares, the first ones one larger where it does not come out even."""
    number = np.repeat(numbers, numbers)
    place = np.arange(len(number)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    base, rest = np.divmod(np.repeat(counts, numbers), np.maximum(number, 1))
    shares: NDArray[np.int64] = base + (place < rest)
    return shares
