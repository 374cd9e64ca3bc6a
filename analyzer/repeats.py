"""Repeats: what a log says is told again by a crash dump, by overlapping pieces, by a copy in the same folder."""

from dataclasses import dataclass, field

KEYS_KEPT = 1 << 16


@dataclass(slots=True)
class Repeats:
    """Hashes of what was seen, to know repeats: crash dumps repeat what is recent, overlapping pieces anything."""

    keep_all: bool
    recent: set[int] = field(default_factory=set)
    older: set[int] = field(default_factory=set)

    def is_repeat(self, said: object) -> bool:
        """Whether it was seen before; it is remembered from now on."""
        key = hash(said)
        if key in self.recent or key in self.older:
            return True
        if len(self.recent) >= KEYS_KEPT and not self.keep_all:
            self.older, self.recent = self.recent, set()
        self.recent.add(key)
        return False
