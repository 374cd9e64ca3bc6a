"""What is left of a window of operations once it is merged: the records a flush or a compaction of it would write."""

from dataclasses import dataclass

import numpy as np
from lsmlens.tuners.workloads.chunk import Tag
from numpy.typing import NDArray

Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class KeyHistory:
    """Operations of one column family in order, each with the places of the next and of the one before of its key.

    All shapes: n,. `following` is n where there is none, `previous` is -1. Range deletes are left out of account.
    """

    tag: NDArray[np.uint8]
    following: Int
    previous: Int

    @classmethod
    def of(cls, key: Int, tag: NDArray[np.uint8]) -> "KeyHistory":
        """The history of operations on `key` with a `chunk.Tag` each."""
        count = len(key)
        order = np.argsort(key, kind="stable")
        same = key[order[1:]] == key[order[:-1]]
        following, previous = np.full(count, count), np.full(count, -1)
        following[order[:-1][same]] = order[1:][same]
        previous[order[1:][same]] = order[:-1][same]
        return cls(tag, following, previous)

    def survivors(self, bounds: Int) -> tuple[Int, Int]:
        """Puts (and merges) and tombstones that survive in each window; window i is bounds[i]:bounds[i + 1].

        Of several operations on a key in a window the last survives, but none of a put and its single delete.
        """
        bounds = np.asarray(bounds)
        first, last = int(bounds[0]), int(bounds[-1])
        lengths = np.diff(bounds)
        window = np.repeat(np.arange(len(lengths)), lengths)
        survives = self.following[first:last] >= bounds[1:][window]
        tag = self.tag[first:last]
        survives &= (tag != Tag.SINGLE_DELETE) | (self.previous[first:last] < bounds[:-1][window])
        is_put = (tag == Tag.PUT) | (tag == Tag.MERGE)
        puts = np.bincount(window[survives & is_put], minlength=len(lengths))
        return puts, np.bincount(window[survives & ~is_put], minlength=len(lengths))

    def curve(self, lengths: Int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean of surviving puts and tombstones over all windows of each length: the curve S(n), exactly.

        nan where a length is over the number of operations.
        """
        is_put = (self.tag == Tag.PUT) | (self.tag == Tag.MERGE)
        puts, tombstones = np.full(len(lengths), np.nan), np.full(len(lengths), np.nan)
        for which, length in enumerate(np.asarray(lengths).tolist()):
            if 0 < length <= len(self.tag):
                windows = self.windows_survived(length)
                puts[which] = windows[is_put].sum() / (len(self.tag) - length + 1)
                tombstones[which] = windows[~is_put].sum() / (len(self.tag) - length + 1)
        return puts, tombstones

    def windows_survived(self, length: int) -> Int:
        """In how many of all windows of a length, 1 to n, each operation survives; shape: n."""
        count = len(self.tag)
        place = np.arange(count)
        single = np.flatnonzero(self.tag == Tag.SINGLE_DELETE)
        # A window from `a` on holds operation i if a > i - length, and the next of its key if a + length > next.
        least = np.maximum(place - length + 1, 0)
        most = np.minimum(np.minimum(place, self.following - length), count - length)
        least[single] = np.maximum(least[single], self.previous[single] + 1)
        windows: Int = np.maximum(most - least + 1, 0)
        return windows
