"""Compactions held at their start, so that they can be made to take as long as is said.

Once RocksDB has chosen a compaction's inputs, and before it reads them, it asks the family's compaction filter factory
for a filter. This one gives none, but keeps the thread waiting while the gate is closed: the inputs stay taken and the
thread stays busy, as in a compaction that takes that long, while writes, flushes and other compactions go on.
"""

import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lsmlens.tuners.engines.c_api import CApi
from lsmlens.tuners.options.resolved_options import ResolvedOptions

if TYPE_CHECKING:
    from collections.abc import Callable

CREATE, SET = "rocksdb_compactionfilterfactory_create", "rocksdb_options_set_compaction_filter_factory"
OPTION, NAME = "compaction_filter_factory", "CompactionGate"
# A write that waits so long is stopped until a compaction ends, which then ends early.
STOPPED_SECONDS = 0.05


@dataclass(slots=True, eq=False)
class HeldCompaction:
    """A compaction that waits. `due` is for the one who holds it: of two, that due first goes first if writes stop."""

    family: str
    due: float = float("inf")
    go: threading.Event = field(default_factory=threading.Event)


class CompactionGate:
    """Where the compactions of one database wait while it is closed; open at first."""

    def __init__(self) -> None:
        self._is_closed = False
        self._lock = threading.Lock()
        self._held: list[HeldCompaction] = []
        self._writing_since: float | None = None
        # A write can last for other reasons, such as a machine that has much to do; where this is given, it decides.
        self.writes_are_stopped: Callable[[], bool] = lambda: True

    def held(self) -> list[HeldCompaction]:
        """Those that wait now, the first to come first."""
        with self._lock:
            return list(self._held)

    def release(self, held: HeldCompaction) -> None:
        """Let one go on."""
        with self._lock:
            if held in self._held:
                self._held.remove(held)
        held.go.set()

    def close(self) -> None:
        """Hold all that come from now on."""
        self._is_closed = True

    def open(self) -> None:
        """Let all go on, and all that come."""
        with self._lock:
            self._is_closed = False
        for one in self.held():
            self.release(one)

    def writing(self, is_writing: bool) -> None:
        """Say that a write begins or has ended: while it lasts too long, compactions end to let it through."""
        self._writing_since = time.monotonic() if is_writing else None

    def arrive(self, family: str) -> None:
        """Wait, in a compaction's own thread, until it is let go."""
        own = HeldCompaction(family)
        with self._lock:
            if not self._is_closed:
                return
            self._held.append(own)
        while not own.go.wait(STOPPED_SECONDS):
            if self._is_stopped() and own is min(self.held(), key=lambda one: one.due, default=own):
                self.release(own)

    def _is_stopped(self) -> bool:
        since = self._writing_since
        return since is not None and time.monotonic() - since > STOPPED_SECONDS and self.writes_are_stopped()

    def put_before(self, api: CApi, options: Any, family: str) -> list[Any]:
        """Make compactions under a family's options pass through it; what is returned must outlive the database."""
        ffi = api.ffi

        def create(_state: Any, _context: Any) -> Any:
            self.arrive(family)
            return ffi.NULL

        kept = [
            ffi.new("char[]", NAME.encode()),
            ffi.callback("void (*)(void*)", lambda _state: None),
            ffi.callback("rocksdb_compactionfilter_t* (*)(void*, rocksdb_compactionfiltercontext_t*)", create),
        ]
        kept.append(ffi.callback("const char* (*)(void*)", lambda _state: kept[0]))
        factory = getattr(api.lib, CREATE)(ffi.NULL, *kept[1:])
        getattr(api.lib, SET)(options, factory)
        return kept


def without_gate(effective: ResolvedOptions) -> ResolvedOptions:
    """Options as RocksDB wrote them, without the gate."""
    families = {
        family: {option: "nullptr" if option == OPTION and value == NAME else value for option, value in values.items()}
        for family, values in effective.families.items()
    }
    return replace(effective, families=families)


def can_hold(api: CApi) -> bool:
    """Whether this version's C API has compaction filter factories."""
    return api.has(CREATE) and api.has(SET)
