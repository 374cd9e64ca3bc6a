"""Numbers in JSON that others wrote: what is no finite number of a sensible size is None.

Ceph counts in 64 bits. Python reads numbers of any length, `NaN` and `Infinity`; none of them is a figure.
"""

import math

from lsmlens.analyzer.dumps.printed_numbers import parse_real

LARGEST = 1 << 64


def as_number(value: object) -> int | float | None:
    """A number as it is, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if -LARGEST <= value <= LARGEST and math.isfinite(value) else None


def as_amount(value: object) -> int | float | None:
    """A number that is not negative."""
    number = as_number(value)
    return number if number is not None and number >= 0 else None


def as_count(value: object) -> int | None:
    """A whole number that is not negative, whichever way it is written (`3`, `3.0`)."""
    number = as_amount(value)
    return int(number) if number is not None and number == int(number) else None


def as_printed_amount(value: object) -> int | float | None:
    """A number that is not negative, also one in quotes, as Ceph's `dump_format` writes it."""
    return as_amount(parse_real(value.strip()) if isinstance(value, str) else value)
