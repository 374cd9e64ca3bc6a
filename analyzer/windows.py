"""Writes by time window: how flushes, compactions and write amplification went on over a log."""

from lsmlens.analyzer.amplification import FamilyWrites
from lsmlens.analyzer.events import Event, EventKind
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


class Windows:
    """Sums of finished jobs over windows of equal length, aligned to 1970 UTC.

    A job counts in the window in which it finished, whole. Windows without jobs are not made.
    """

    def __init__(self, seconds: float) -> None:
        self.micros = max(1, round(seconds * MICROS))
        self._sums: dict[int, FamilyWrites] = {}

    def add(self, event: Event) -> None:
        """Take in a finished flush or compaction, or a move."""
        start = event["time_micros"] // self.micros * self.micros
        sums = self._sums.get(start)
        if sums is None:
            if len(self._sums) >= MOST_WINDOWS:
                return
            sums = self._sums[start] = FamilyWrites(str(start))
        kind = event["event"]
        if kind == EventKind.COMPACTION_FINISHED:
            sums.add_compaction(event)
        elif kind == EventKind.FLUSH_FINISHED:
            sums.add_flush(event)
        else:
            sums.add_move(event)

    def in_order(self) -> list[tuple[int, FamilyWrites]]:
        """Start of each window in microseconds since 1970 UTC, with its sums."""
        return sorted(self._sums.items())
