"""What a replay needs of an embedded RocksDB."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from lsmlens.tuners.engines.compaction_gate import CompactionGate
from lsmlens.tuners.engines.read_counts import ReadCounts
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.workloads.reads import Reads
from lsmlens.tuners.workloads.stream import Batches


class Database(Protocol):
    """One open database. Methods raise EngineError with RocksDB's own words.

    `options` are those in force, as RocksDB wrote them into its OPTIONS file, with a warning for each that is not as
    asked for. `gate` is where its compactions can be held; None where the engine cannot hold them.
    """

    path: Path
    options: ResolvedOptions
    gate: CompactionGate | None

    def write(self, batches: Batches, first: int, last: int) -> None:
        """Write batches `first` up to but not including `last`, one call of RocksDB's Write each."""

    def read(self, reads: Reads, first: int, last: int) -> ReadCounts:
        """Make reads `first` up to but not including `last`, Gets before iterators; what they came to."""

    def settle(self) -> None:
        """Wait until no flush or compaction is pending or running.

        Compactions that stay pending though nothing picks them up (expired files of the last level do, for ever)
        do not hold it.
        """

    def integer_property(self, name: str, family: str = "default") -> int | None:
        """A `rocksdb.` property as a number, None where this version has none of that name."""

    def text_property(self, name: str, family: str = "default") -> str | None:
        """A `rocksdb.` property as text, None where this version has none of that name."""

    def flush(self, family: str) -> None:
        """Flush one family's memtables and wait for it."""

    def tickers(self) -> Mapping[str, int]:
        """Tickers since the open, such as `rocksdb.compact.write.bytes`; empty where the engine keeps none."""

    def set_clock(self, seconds: float) -> bool:
        """Let RocksDB's wall clock show `seconds` since 1970 until it is set again; False where the engine cannot.

        The clock is the library's, for all of its databases in the process; a close lets it show the true time again.
        Memtables made before the first call carry the true time, so a start at the open should be the present.
        """

    def close(self) -> None:
        """Close the database; background work is stopped, memtables are not flushed."""


class Engine(Protocol):
    """An embedded RocksDB of one version.

    `version` is RocksDB's, such as "6.8.1"; `notes` say what this engine does otherwise than the workload asks.
    """

    name: str
    version: str
    notes: tuple[str, ...]

    def open(self, path: Path, options: ResolvedOptions, holds: bool = False) -> Database:
        """Create a database in the empty folder `path` with the families of `options`, in their order.

        With `holds` its compactions have a gate, if the engine can make one. Every option is set, read back from the
        OPTIONS file that RocksDB wrote, and compared. Raises EngineError if RocksDB refuses the options,
        OptionMismatch if it changed or dropped one.
        """
