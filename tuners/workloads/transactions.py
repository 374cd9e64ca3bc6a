"""Where one write batch ends and the next begins."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from lsmlens.tuners.workloads.document import Transactions
from lsmlens.tuners.workloads.operations import Operations
from numpy.typing import NDArray

MOST_OPERATIONS = 1 << 16  # in one batch, however many come at one moment
RECORD_BYTES = 64  # a guess, of a record without its value

Int = NDArray[np.int64]


def transactions(
    operations: Operations, how: Transactions, families: int, *, whole_moments: bool = True
) -> tuple[Operations, Int]:
    """The operations in the order of their batches, and where each batch begins.

    Operations of one moment stay in one batch if `whole_moments` are wanted, unless families are apart or there are
    over MOST_OPERATIONS of them.

    Batches of families apart take the moment at which the operations of all families among which they were sorted
    begin, so that the moments of successive batches never fall.
    """
    if how.families == "together":
        begins = np.flatnonzero(_changed(operations.seconds)) if whole_moments else np.arange(len(operations))
        if len(begins) and np.diff(begins, append=len(operations)).max() > MOST_OPERATIONS:
            begins = np.union1d(begins, np.arange(0, len(operations), MOST_OPERATIONS))
        return operations, begins[_changed(begins // how.operations)]
    place = np.arange(len(operations))
    number = place // how.operations
    window = number // families
    group = window * families + operations.family.astype(np.int64)
    order = np.argsort(group, kind="stable")
    opens = np.flatnonzero(_changed(window))
    seconds = np.repeat(operations.seconds[opens], np.diff(opens, append=len(window)))
    changed = _changed(group[order])
    within = place - np.maximum.accumulate(np.where(changed, place, 0))
    return replace(operations[order], seconds=seconds), np.flatnonzero(within % how.operations == 0)


def pieces(operations: Operations, starts: Int, most_bytes: int) -> Iterator[tuple[Operations, Int]]:
    """Successive whole batches of about `most_bytes` together, each time with where they begin."""
    sums = np.cumsum(operations.value_bytes + RECORD_BYTES)[starts]
    cuts = [*np.flatnonzero(_changed(sums // most_bytes)), len(starts)]
    for first, last in pairwise(cuts):
        begin = starts[first]
        end = starts[last] if last < len(starts) else len(operations)
        yield operations[begin:end], starts[first:last] - begin


def _changed(values: "Int | NDArray[np.float64]") -> NDArray[np.bool_]:
    changed = np.empty(len(values), np.bool_)
    changed[:1] = True
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed
