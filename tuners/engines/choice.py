"""Which engine a replay takes: a value that goes to a child process, which makes the engine of it."""

from dataclasses import dataclass
from pathlib import Path

from lsmlens.tuners.engines.engine import Engine


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine by name and version; `library` is the shared library where one is needed.

    `notes` say why it was taken, where it is not the one that was asked for. Calling it makes the engine; do that in
    the process that replays: RocksDB's thread pools are the process's, and a library once loaded stays.
    """

    name: str
    version: str
    library: Path | None = None
    notes: tuple[str, ...] = ()

    def __call__(self) -> Engine:
        """The engine. Raises EngineError if its library cannot be loaded."""
        if self.library is None:
            from lsmlens.tuners.engines.rocksdict import RocksdictEngine

            return RocksdictEngine(self.notes)
        from lsmlens.tuners.engines.capi import CapiEngine

        return CapiEngine(self.library, self.version, self.notes)
