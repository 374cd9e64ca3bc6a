"""Numbers as RocksDB's statistics print them: shortened counts, sizes with units, plain decimals.

What cannot be read is None, and so is what is no number (`nan`, `inf`). Units are powers of 1024.
"""

import math
import re

from lsmlens.analyzer.units import GIB, MIB

_WRAPPED = 1 << 33
_COUNT = re.compile(r"(-?\d{1,20})([KMG]?)", re.ASCII)
_REAL = re.compile(r"[-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,3})?", re.ASCII)
_SCALES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_UNITS = {"B": 1, "KB": 1 << 10, "MB": MIB, "GB": GIB, "TB": 1 << 40}


def parse_count(text: str) -> int | None:
    """A count written in full below 10,000, above that in whole thousands (K), millions (M) or milliards (G).

    Resolution: the unit, rounded down, so `37K` is 37,000 to 37,999.
    """
    match = _COUNT.fullmatch(text)
    return int(match[1]) * _SCALES[match[2]] if match else None


def parse_real(text: str) -> float | None:
    """A decimal number, with or without an exponent."""
    if not _REAL.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def parse_gb(text: str) -> float | None:
    """GB (2^30 bytes) as printed.

    A difference that RocksDB took below zero in 64 unsigned bits is printed near 17179869184.0 (`Moved(GB)` of
    an interval, 7.8.3): it is read as the small negative number it was.
    """
    value = parse_real(text)
    return value - (_WRAPPED << 1) if value is not None and value >= _WRAPPED else value


def parse_bytes(number: str, unit: str) -> int | None:
    """Bytes of a size such as `62.43` `MB`. Resolution: half of the last digit printed."""
    scale = _UNITS.get(unit)
    value = parse_gb(number) if unit == "GB" else parse_real(number)
    return None if value is None or scale is None else round(value * scale)
