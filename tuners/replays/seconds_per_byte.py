"""How long compactions take."""

from typing import NamedTuple


class SecondsPerByte(NamedTuple):
    """What each byte read takes a compaction, where level 0 is among what it reads, and where not."""

    level0: float
    deeper: float

    def times(self, factor: float) -> "SecondsPerByte":
        """As many times slower."""
        return SecondsPerByte(self.level0 * factor, self.deeper * factor)
