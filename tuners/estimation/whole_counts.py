"""Whole counts out of fractions."""

import numpy as np
from lsmlens.tuners.estimation.lifetimes import Floats
from numpy.typing import NDArray


def whole(amounts: Floats) -> NDArray[np.int64]:
    """Amounts (shape: rows, parts) as whole numbers with the same sums of rows; fractions go on to the next row.

    A part gets nothing in rows where it has no amount at all: a stray operation would widen a table's range of keys.
    """
    rounded = np.zeros(amounts.shape, np.int64)
    carried = np.zeros(amounts.shape[1])
    for row, wanted in enumerate(amounts):
        carried += wanted
        total = round(float(wanted.sum()))
        down = np.where(wanted > 0, np.maximum(np.floor(carried), 0), 0).astype(np.int64)
        missing = total - int(down.sum())
        order = np.argsort(np.where(wanted > 0, down - carried, np.inf), kind="stable")[
            : max(1, int((wanted > 0).sum()))
        ]
        while missing > 0:
            down[order[:missing]] += 1
            missing = total - int(down.sum())
        while missing < 0:
            largest = int(down.argmax())
            taken = min(-missing, int(down[largest]))
            down[largest] -= taken
            missing += taken
        rounded[row] = down
        carried -= down
    return rounded
