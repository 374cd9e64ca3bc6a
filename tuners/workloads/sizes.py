"""How long keys and values are: a number of bytes, or a distribution of them."""

import math
from typing import Annotated, TypeAlias

import msgspec
import numpy as np
from lsmlens.tuners.workloads.normal_quantiles import normal_quantiles
from msgspec import Meta
from numpy.typing import NDArray

MOST_BYTES = 1 << 30
LEAST = 1e-300  # of quantiles; that at 0 is infinite
Bytes: TypeAlias = Annotated[float, Meta(ge=0, le=MOST_BYTES, description="bytes; of 10.3, three in ten are 11")]
WholeBytes: TypeAlias = Annotated[int, Meta(ge=0, le=MOST_BYTES)]


class Uniform(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="uniform", tag_field="kind"):
    """Every whole number of bytes from `low` to `high` is as likely."""

    low: WholeBytes
    high: WholeBytes

    def __post_init__(self) -> None:
        if self.high < self.low:
            raise ValueError(f"`high` {self.high} is below `low` {self.low}")


class LogNormal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="lognormal", tag_field="kind"):
    """A lognormal distribution: `sigma` is the standard deviation of the logarithm; cut at `low` and `high` bytes."""

    median: Annotated[float, Meta(gt=0, le=MOST_BYTES)]
    sigma: Annotated[float, Meta(ge=0, le=5)]
    low: WholeBytes = 0
    high: WholeBytes = 1 << 20

    def __post_init__(self) -> None:
        if self.high < self.low:
            raise ValueError(f"`high` {self.high} is below `low` {self.low}")


class SizeClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One class of a mixture; `share` is relative to the other classes' shares."""

    share: Annotated[float, Meta(gt=0, le=1e9)]
    size: Bytes | Uniform | LogNormal


class Mixture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="mixture", tag_field="kind"):
    """Several classes of sizes, each with its share."""

    classes: Annotated[tuple[SizeClass, ...], Meta(min_length=1)]


Size: TypeAlias = Bytes | Uniform | LogNormal | Mixture


def mean_bytes(size: float | Uniform | LogNormal | Mixture) -> float:
    """The expected size in bytes, to a few parts in a thousand for lognormal sizes."""
    if isinstance(size, int | float):
        return float(size)
    quantiles = (np.arange(1 << 14) + 0.5) / (1 << 14)
    return float(sizes_at(size, quantiles).mean())


def sizes_at(size: float | Uniform | LogNormal | Mixture, quantiles: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole bytes at each of `quantiles` (shape: n, within [0, 1)): the inverse of the distribution."""
    if isinstance(size, int | float):
        whole, fraction = divmod(float(size), 1)
        if not fraction:
            return np.full(len(quantiles), int(whole), np.int64)
        return int(whole) + (quantiles < fraction).astype(np.int64)
    if isinstance(size, Uniform):
        return size.low + (quantiles * (size.high - size.low + 1)).astype(np.int64)
    if isinstance(size, LogNormal):
        bytes_ = np.exp(size.sigma * normal_quantiles(np.maximum(quantiles, LEAST)) + math.log(size.median))
        cut: NDArray[np.int64] = np.rint(np.clip(bytes_, size.low, size.high)).astype(np.int64)
        return cut
    return _mixed(size, quantiles)


def _mixed(mixture: Mixture, quantiles: NDArray[np.float64]) -> NDArray[np.int64]:
    shares = np.array([one.share for one in mixture.classes])
    ends = np.cumsum(shares) / shares.sum()
    starts = np.concatenate(([0.0], ends[:-1]))
    which = np.minimum(np.searchsorted(ends, quantiles, side="right"), len(shares) - 1)
    within = np.clip((quantiles - starts[which]) / (ends - starts)[which], 0, np.nextafter(1, 0))
    result = np.zeros(len(quantiles), np.int64)
    for place, one in enumerate(mixture.classes):
        chosen = which == place
        result[chosen] = sizes_at(one.size, within[chosen])
    return result
