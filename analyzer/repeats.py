"""Repeats: an event is told again by a crash dump, by overlapping pieces, by a copy in the same folder."""

from dataclasses import dataclass, field

from lsmlens.analyzer.events import Event

KEYS_KEPT = 200_000


@dataclass(slots=True)
class Repeats:
    """The events seen, to know repeats: crash dumps repeat what is recent, overlapping pieces anything."""

    keep_all: bool
    recent: set[int] = field(default_factory=set)
    older: set[int] = field(default_factory=set)

    def is_repeat(self, event: Event) -> bool:
        """Whether it was seen before; it is remembered from now on."""
        identity = (event["time_micros"], event.get("job"), event["event"], event.get("file_number"))
        try:
            key = hash(identity)
        except TypeError:  # of an event kind whose fields are not known
            key = hash(repr(identity))
        if key in self.recent or key in self.older:
            return True
        if len(self.recent) >= KEYS_KEPT and not self.keep_all:
            self.older, self.recent = self.recent, set()
        self.recent.add(key)
        return False
