"""How the sizes of a family's values spread, where the bundle has a histogram of the database's values.

A log tells the mean of what was written, flush by flush; a histogram tells what lives, by key prefix. Its spread is
taken, around the log's mean. BlueStore's families are named after their prefixes, with the shard's number behind; what
has no family of its own lives in `default`.
"""

import math
from collections.abc import Iterable

import msgspec
from lsmlens.analyzer.counters.size_histograms import SizeClass, SizeHistogram, of_prefixes
from lsmlens.tuners.options.option_set import column_of
from lsmlens.tuners.workloads.document import ColumnFamily
from lsmlens.tuners.workloads.sizes import Mixture, Uniform
from lsmlens.tuners.workloads.sizes import SizeClass as Share

# Objects are counted as onodes and as the shards of their extent maps.
PREFIXES = {"O": ("O", "o", "x")}
# Values that spread less than this share of their mean (one standard deviation) are as good as of one size.
LEAST_SPREAD = 0.05
LEAST_VALUES = 100


def with_shapes(families: Iterable[ColumnFamily], histogram: SizeHistogram | None) -> tuple[ColumnFamily, ...]:
    """The families, those of which the histogram tells a spread with values that spread so.

    Components with a size of their own keep it: the histogram does not tell components apart.
    """
    every = tuple(families)
    if histogram is None:
        return every
    owned = [prefix for one in every if one.name != "default" for prefix in _prefixes(one.name)]
    rest = [prefix for prefix in histogram.values if prefix not in owned]
    return tuple(
        _shaped(one, of_prefixes(histogram, rest if one.name == "default" else _prefixes(one.name))) for one in every
    )


def _prefixes(family: str) -> tuple[str, ...]:
    column = column_of(family)
    return PREFIXES.get(column, (column,))


def _shaped(family: ColumnFamily, classes: tuple[SizeClass, ...]) -> ColumnFamily:
    count = sum(one.number for one in classes)
    if not isinstance(family.values, int | float) or not family.values or count < LEAST_VALUES:
        return family
    mean = sum(one.number * (one.low + one.high) / 2 for one in classes) / count
    squares = sum(one.number * ((one.low + one.high) / 2 - mean) ** 2 for one in classes) / count
    if mean <= 0 or math.sqrt(squares) < LEAST_SPREAD * mean:
        return family
    scale = family.values / mean
    shares = tuple(Share(float(one.number), _uniform(one.low * scale, one.high * scale)) for one in classes)
    return msgspec.structs.replace(family, values=Mixture(shares))


def _uniform(low: float, high: float) -> Uniform:
    least = math.floor(low)
    return Uniform(least, max(least, round(high)))
