"""At which scale a workload is replayed: small enough for the time there is, large enough to keep its shape."""

from collections.abc import Sequence

from lsmlens.tuners.options.option_set import OptionSet

# A replay of so many operations takes about a quarter of a minute on one processor.
OPERATIONS = 3_600_000
# Draws from the ridge are replayed so many times smaller.
COARSER = 4.0
# RocksDB has no smaller write buffer.
LEAST_BUFFER_BYTES = 64 << 10
STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 192.0, 256.0)


def usual_scale(operations: int, options: Sequence[OptionSet], families: Sequence[str]) -> float:
    """The scale at which the workload has about OPERATIONS operations, as far as every write buffer allows."""
    wanted = operations / OPERATIONS
    most = largest_scale(options, families)
    return max(1.0, min(most, next((step for step in STEPS if step >= wanted), STEPS[-1])))


def coarser_scale(scale: float, options: Sequence[OptionSet], families: Sequence[str]) -> float:
    """The scale of draws from the ridge."""
    return max(scale, min(largest_scale(options, families), COARSER * scale))


def largest_scale(options: Sequence[OptionSet], families: Sequence[str]) -> float:
    """The largest scale at which no write buffer gets too small, at least 1."""
    sizes = [
        int(value)
        for one in options
        for family in families
        if (value := one.value_of("write_buffer_size", family)) is not None and value.isdecimal()
    ]
    return max(1.0, min(sizes, default=1 << 40) / LEAST_BUFFER_BYTES)
