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
        recent = self.recent
        if key in recent or key in self.older:
            return True
        recent.add(key)
        if len(recent) >= KEYS_KEPT and not self.keep_all:
            self.older, self.recent = recent, set()
        return False
