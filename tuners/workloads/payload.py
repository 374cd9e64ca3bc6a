"""Bytes of values: random, and compressible as far as wanted."""

import sys

import numpy as np
from numpy.typing import NDArray

POOL_BYTES = 1 << 20
PIECE_BYTES = 128
STEP_BYTES = 4099  # successive buffers take the pool from other places
BLANK = ord("a")
MOST_KEPT = 3  # buffers
LEAST_KEPT_BYTES = 20 << 20  # of which pages that are never written cost nothing
UNUSED = 3  # references to one: of the list, of who asks, and of the asking itself; any view is one more
MOST_COPIED_BITS = 12  # of a value, in one copy


class Payload:
    """Fills buffers with bytes of which every piece compresses to about `ratio` of its size; 1 does not compress.

    They come from a pool of 1 MiB over and over, more than any table block that a compressor sees at once.
    """

    def __init__(self, ratio: float, seed: int) -> None:
        self.ratio = ratio
        self._random = np.random.default_rng(seed).integers(0, 256, POOL_BYTES, dtype=np.uint8)
        self._pool = self._random.copy()
        self._pool.reshape(-1, PIECE_BYTES)[:, round(PIECE_BYTES * ratio) :] = BLANK
        self._position = 0
        self._kept: list[NDArray[np.uint8]] = []

    def fill(self, size: int) -> NDArray[np.uint8]:
        """A buffer of `size` bytes; its memory is taken again once nothing refers to it any more."""
        buffer = self._room(size)
        done = 0
        while done < size:
            count = min(size - done, POOL_BYTES - self._position)
            buffer[done : done + count] = self._pool[self._position : self._position + count]
            done += count
            self._position = (self._position + count) % POOL_BYTES
        self._position = (self._position + STEP_BYTES) % POOL_BYTES
        return buffer

    def _room(self, size: int) -> NDArray[np.uint8]:
        # Fresh memory costs more than what is written to it: the kernel clears every page first.
        for place, kept in enumerate(self._kept):
            if sys.getrefcount(kept) == UNUSED:
                if len(kept) >= size:
                    return kept[:size]
                del self._kept[place]
                break
        kept = np.empty(max(size, LEAST_KEPT_BYTES), np.uint8)
        if len(self._kept) < MOST_KEPT:
            self._kept.append(kept)
        return kept[:size]

    def set_ratio(
        self, buffer: NDArray[np.uint8], ends: NDArray[np.int64], sizes: NDArray[np.int64], ratio: float
    ) -> None:
        """Make values of `sizes` that end at `ends` compress to about `ratio`.

        The last part of each becomes blank, or random where `ratio` is over that of the buffer.
        """
        if ratio <= self.ratio:
            source, share = np.full(POOL_BYTES, BLANK, np.uint8), 1 - ratio / self.ratio
        else:
            source, share = self._random, (ratio - self.ratio) / (1 - self.ratio)
        left = (sizes * share).astype(np.int64)
        ends = ends.copy()
        for bit in range(MOST_COPIED_BITS, -1, -1):
            width = 1 << bit
            chosen = np.flatnonzero(left >> bit)
            while len(chosen):
                ends[chosen] -= width
                left[chosen] -= width
                items = np.ndarray((len(buffer) - width + 1,), f"V{width}", buffer, strides=(1,))
                pieces = source[: POOL_BYTES // 2].view(f"V{width}")
                items[ends[chosen]] = pieces[(ends[chosen] >> 3) % len(pieces)]
                chosen = chosen[left[chosen] >= width]
