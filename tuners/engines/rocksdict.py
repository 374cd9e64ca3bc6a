"""The engine over the wheel `rocksdict`: one recent RocksDB, there wherever lsmlens is installed.

It does not take write batches whole: they are taken apart.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import rocksdict
from lsmlens.analyzer.dumps.tickers import parse_tickers
from lsmlens.tuners.engines.clock import clock_of
from lsmlens.tuners.engines.compaction_gate import CompactionGate
from lsmlens.tuners.engines.errors import EngineError
from lsmlens.tuners.engines.imposed_options import (
    COLLECTOR,
    block_cache_bytes,
    deletion_collector,
    for_replay,
    with_unwritten,
    without_folders,
)
from lsmlens.tuners.engines.option_readback import latest_options_file, read_back
from lsmlens.tuners.engines.read_counts import ReadCounts
from lsmlens.tuners.engines.settling import Settling
from lsmlens.tuners.options.options_file import options_file, read_options_file
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.decoding import decode
from lsmlens.tuners.workloads.reads import GET, Reads
from lsmlens.tuners.workloads.stream import Batches
from lsmlens.tuners.workloads.wire import HEADER_BYTES

DEFAULT_CACHE_BYTES = 32 << 20  # table/block_based/block_based_table_factory.cc, since 8.1
PUTS = (Tag.PUT, Tag.MERGE)
CACHED_BLOCKS, BLOCKS_READ = "rocksdb.block.cache.hit", "rocksdb.block.cache.miss"
NOTES = (
    "rocksdict has no single delete: deletes are written instead",
    "rocksdict has no merge: puts are written instead",
)


class RocksdictEngine:
    """RocksDB in the wheel."""

    name = "rocksdict"

    def __init__(self, notes: tuple[str, ...] = (), sets_clock: bool = True) -> None:
        self.notes = (*notes, *NOTES)
        self._sets_clock = sets_clock
        self._defaults = _defaults()
        self._taken: set[str] = set()
        self._refused: set[str] = set()
        self.version = self._defaults.rocksdb_version

    def open(self, path: Path, options: ResolvedOptions, holds: bool = False) -> "RocksdictDatabase":  # noqa: ARG002
        """Create a database in the empty folder `path`; it has no gate. Raises EngineError, OptionMismatch."""
        asked = for_replay(options, has_collectors=True)
        of_database, of_family = _loaded(self._known(asked))
        for family, values in options.families.items():
            if (one := deletion_collector(values.get(COLLECTOR, ""))) is not None and one.marks:
                of_family[family].add_compact_on_deletion_collector_factory(one.sliding_window, one.trigger, 0.0)
        families = {family: of_family[family] for family in asked.families}
        database = RocksdictDatabase(path, of_database, families, self._sets_clock)
        try:
            written = without_folders(read_options_file(latest_options_file(path)))
            effective = with_unwritten(written, database, options.families, has_collectors=True)
            database.options = read_back(asked, effective, self._taken)
        except BaseException:
            database.close()
            raise
        return database

    def _known(self, asked: ResolvedOptions) -> ResolvedOptions:
        """The options that this version has; one unknown in an OPTIONS file would lose the whole file."""
        default = self._defaults
        plain, plain_table = default.families["default"], default.tables["default"]
        tables = {family: asked.tables.get(family, {}) for family in asked.families}
        return replace(
            asked,
            rocksdb_version=self.version,
            database=self._of_these(default.database, asked.database, _of_database),
            families={name: self._of_these(plain, values, _of_family) for name, values in asked.families.items()},
            tables={name: self._of_these(plain_table, values, _of_table) for name, values in tables.items()},
        )

    def _of_these(
        self, known: Mapping[str, str], values: Mapping[str, str], alone: Callable[[dict[str, str]], ResolvedOptions]
    ) -> dict[str, str]:
        """Options that are known, or that can be loaded alone: not all are written down where they are not set."""
        taken = {}
        for name, value in values.items():
            if name not in known and name not in self._taken:
                if name in self._refused or not _can_load(replace(alone({name: value}), rocksdb_version=self.version)):
                    self._refused.add(name)
                    continue
                self._taken.add(name)
            taken[name] = value
        return taken


def _of_database(values: dict[str, str]) -> ResolvedOptions:
    return ResolvedOptions("", "", values, {"default": {}}, {})


def _of_family(values: dict[str, str]) -> ResolvedOptions:
    return ResolvedOptions("", "", {}, {"default": values}, {})


def _of_table(values: dict[str, str]) -> ResolvedOptions:
    return ResolvedOptions("", "", {}, {"default": {}}, {"default": values})


def _can_load(options: ResolvedOptions) -> bool:
    try:
        _loaded(options)
    except EngineError:
        return False
    return True


@cache
def _defaults() -> ResolvedOptions:
    """The options of a database opened with none: those this version has."""
    with tempfile.TemporaryDirectory(prefix="lsmlens-") as folder:
        options = rocksdict.Options(raw_mode=True)
        options.create_if_missing(True)
        rocksdict.Rdict(folder, options).close()
        return read_options_file(latest_options_file(Path(folder)))


def _loaded(options: ResolvedOptions) -> tuple[Any, dict[str, Any]]:
    """Options objects of the database and of each family, by way of an OPTIONS file: they have no other setters.

    A file is loaded with one block cache for all families; so it is loaded once for each size there is.
    """
    of_database: Any = None
    of_family: dict[str, Any] = {}
    sizes = {family: block_cache_bytes(options.tables.get(family, {})) for family in options.families}
    with tempfile.TemporaryDirectory(prefix="lsmlens-") as folder:
        Path(folder, "OPTIONS-000001").write_text(options_file(options), encoding="utf-8")
        Path(folder, "rocksdict-config.json").write_text('{"raw_mode":true,"prefix_extractors":{}}', encoding="utf-8")
        for size in dict.fromkeys(sizes.values()):
            cache = rocksdict.Cache(DEFAULT_CACHE_BYTES if size is None else size)
            of_database, families = _in_rocksdb_words(
                rocksdict.Options.load_latest, folder, rocksdict.Env(), False, cache
            )
            of_family |= {family: families[family] for family in options.families if sizes[family] == size}
    return of_database, of_family


def _in_rocksdb_words(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a call gives. Raises EngineError for what rocksdict raises."""
    try:
        return call(*arguments)
    except Exception as error:  # its classes: DbClosedError, and plain Exception for all that RocksDB says
        raise EngineError(f"RocksDB: {error}") from error


class RocksdictDatabase:
    """One open database of rocksdict."""

    options: ResolvedOptions
    gate: CompactionGate | None = None

    def __init__(self, path: Path, options: Any, of_family: Mapping[str, Any], sets_clock: bool) -> None:
        self.path = path
        self._options = options
        self._options.enable_statistics()
        self._database = _in_rocksdb_words(rocksdict.Rdict, str(path), options, dict(of_family))
        self._families = {name: self._database.get_column_family(name) for name in of_family}
        self._handles = [self._database.get_column_family_handle(name) for name in self._families]
        self._decoded: DecodedBatches | None = None
        self._clock = clock_of(Path(rocksdict.rocksdict.__file__)) if sets_clock else None
        self._settling = Settling(self, tuple(self._families))

    def write(self, batches: Batches, first: int, last: int) -> None:
        """Write batches `first` up to but not including `last`."""
        if self._decoded is None or self._decoded.batches is not batches:
            self._decoded = DecodedBatches(batches)
        handles, write = self._handles, self._database.write
        for place in range(first, last):
            batch = rocksdict.WriteBatch(raw_mode=True)
            for tag, family, key, value in self._decoded.records(place):
                if family >= len(handles):
                    raise EngineError(f"malformed write batch: no column family {family}")
                if tag in PUTS:
                    batch.put(key, value, handles[family])
                elif tag == Tag.RANGE_DELETE:
                    batch.delete_range(key, value, handles[family])
                else:
                    batch.delete(key, handles[family])
            _in_rocksdb_words(write, batch)

    def read(self, reads: Reads, first: int, last: int) -> ReadCounts:
        """Make reads `first` up to but not including `last`, Gets before iterators.

        There is no count of a thread's own: that of the database holds its compactions' reads, where these run.
        """
        families = list(self._families.values())
        data, offsets = reads.buffer.tobytes(), reads.offsets
        every = [
            (families[reads.family[one]], data[offsets[one] : offsets[one + 1]], int(reads.nexts[one]))
            for one in range(first, last)
        ]
        gets = [(family, key) for family, key, nexts in every if nexts == GET]
        iterators = [one for one in every if one[2] != GET]
        before = Counter(self.tickers())
        found = sum(_in_rocksdb_words(family.get, key) is not None for family, key in gets)
        between = Counter(self.tickers())
        made = 0
        for family, key, nexts in iterators:
            iterator = family.iter()
            iterator.seek(key)
            left = nexts
            while left and iterator.valid():
                iterator.next()
                left -= 1
            made += nexts - left
            _in_rocksdb_words(iterator.status)
        after = Counter(self.tickers())
        of_gets, of_iterators = between - before, after - between
        both = of_gets + of_iterators
        useful = both["rocksdb.bloom.filter.useful"]
        return ReadCounts(
            gets=len(gets),
            gets_found=found,
            get_blocks=of_gets[CACHED_BLOCKS] + of_gets[BLOCKS_READ],
            seeks=len(iterators),
            nexts=made,
            seek_blocks=of_iterators[CACHED_BLOCKS] + of_iterators[BLOCKS_READ],
            cached_blocks=both[CACHED_BLOCKS],
            filter_checks=useful + both["rocksdb.bloom.filter.full.positive"],
            filters_useful=useful,
            tombstones=None,
        )

    def settle(self) -> None:
        """Wait until no flush or compaction is pending or running."""
        self._settling.settle()

    def integer_property(self, name: str, family: str = "default") -> int | None:
        """A property as a number."""
        found: int | None = self._families[family].property_int_value(name)
        if found is None:
            text = self.text_property(name, family)
            return int(text) if text is not None and text.isdecimal() else None
        return found

    def text_property(self, name: str, family: str = "default") -> str | None:
        """A property as text."""
        found: str | None = self._families[family].property_value(name)
        return found

    def flush(self, family: str) -> None:
        """Flush one family's memtables and wait for it."""
        _in_rocksdb_words(self._families[family].flush, True)

    def tickers(self) -> Mapping[str, int]:
        """Tickers since the open."""
        return parse_tickers((self._options.get_statistics() or "").splitlines()).counts

    def set_clock(self, seconds: float) -> bool:
        """Let RocksDB's wall clock show `seconds` since 1970, to every database of the wheel."""
        return self._clock is not None and self._clock.set(seconds)

    def close(self) -> None:
        """Close the database; a second time it does nothing."""
        if self._database is None:
            return
        self._database.cancel_all_background(True)
        self._handles.clear()  # the last reference gone closes it; Rdict.close would flush first
        self._families.clear()
        self._database = None
        if self._clock is not None:
            self._clock.restore()


class DecodedBatches:
    """The records of `batches`, decoded all at once, given batch by batch."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches
        decoded = decode(batches)
        found = decoded.records
        self._data = batches.buffer.tobytes()
        self._bounds = np.searchsorted(found.batch, np.arange(len(batches.offsets))).tolist()
        self._columns = (
            *(found.tag.tolist(), found.family.tolist(), found.key_start.tolist()),
            *((found.key_start + found.key_bytes).tolist(), (found.end - found.value_bytes).tolist()),
            found.end.tolist(),
        )
        self._damaged = frozenset(decoded.damaged.tolist())

    def records(self, place: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """Each record of one batch: tag, family id, key, value or end key (empty where there is none).

        Raises EngineError, before the first record, if the batch is torn or holds an unknown tag.
        """
        start, stop = self.batches.offsets[place : place + 2].tolist()
        low, high = self._bounds[place], self._bounds[place + 1]
        count = int.from_bytes(self._data[start + 8 : start + HEADER_BYTES], "little")
        if stop - start < HEADER_BYTES or place in self._damaged or count != high - low:
            raise EngineError(f"malformed write batch: batch {place} is torn, or holds what is no record")
        data = self._data
        for tag, family, key, key_end, value, end in zip(*(each[low:high] for each in self._columns), strict=True):
            yield tag, family, data[key:key_end], data[value:end]
