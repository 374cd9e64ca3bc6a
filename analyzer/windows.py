"""Writes by time window: how flushes, compactions and write amplification went on over a log."""

import polars as pl
from lsmlens.analyzer.amplification import FamilyWrites, window_writes
from lsmlens.analyzer.units import MICROS

# Units in seconds; one stands before those it ends in.
_SECONDS = {"ms": 0.001, "min": 60.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}
MOST_WINDOWS = 100_000


def parse_duration(text: str) -> float:
    """Seconds of a duration a person typed: `90`, `90s`, `10m`, `1.5h`, `1 D`.

    Raises ValueError, which says why, for one that is no number and unit, or not above 0 and finite.
    """
    typed = text.strip().lower()
    unit = next(one for one in _SECONDS if typed.endswith(one))
    try:
        seconds = float(typed.removesuffix(unit)) * _SECONDS[unit]
    except ValueError:
        raise ValueError(f"{text} is no time such as 90s, 10m or 2h") from None
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{text} is not above 0")
    return seconds


def windows_of(jobs: pl.DataFrame, seconds: float) -> list[tuple[int, FamilyWrites]]:
    """Sums of jobs over windows of equal length, aligned to 1970 UTC, each with its start in microseconds.

    A job counts in the window in which it finished, whole. Windows without jobs are not made.
    """
    return window_writes(jobs, max(1, round(seconds * MICROS)))[:MOST_WINDOWS]
