"""The engine over RocksDB's own C API: any version whose shared library is at hand.

Its merge operator's result is the last operand. Ceph merges counters and bitmaps, where an operand is as long as the
value; so the bytes come out right. Versions that know RocksDB's `put` operator by name need no Python for it; for the
others callbacks do.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from lsmlens.analyzer.dumps.tickers import parse_tickers
from lsmlens.tuners.engines.c_api import CApi, COptions
from lsmlens.tuners.engines.clock import clock_of
from lsmlens.tuners.engines.compaction_gate import CompactionGate, can_hold, without_gate
from lsmlens.tuners.engines.errors import EngineError
from lsmlens.tuners.engines.imposed_options import (
    ADD_COLLECTOR,
    COLLECTOR,
    deletion_collector,
    for_replay,
    with_unwritten,
    without_folders,
)
from lsmlens.tuners.engines.option_readback import latest_options_file, read_back
from lsmlens.tuners.engines.read_counts import ReadCounts
from lsmlens.tuners.engines.settling import Settling
from lsmlens.tuners.engines.versions import version_numbers
from lsmlens.tuners.options.options_file import read_options_file
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.workloads.reads import GET, Reads
from lsmlens.tuners.workloads.stream import Batches

PERF_LEVEL_DISABLE, PERF_LEVEL_COUNTS = 1, 2
CACHED_BLOCKS, BLOCKS_READ = "block_cache_hit_count", "block_read_count"
BY_NAME = "merge_operator=put"
SINCE = (7, 0)  # 6.15 takes the name and makes nothing of it


class CapiEngine:
    """RocksDB in a shared library with its C API. `version` must be the library's own."""

    name = "capi"

    def __init__(self, library: Path, version: str, notes: tuple[str, ...] = (), sets_clock: bool = True) -> None:
        self.library = library
        self.version = version
        self.notes = notes
        self._sets_clock = sets_clock
        self._api = CApi(library)
        self._options = COptions(self._api)
        self._has_collectors = self._api.has(ADD_COLLECTOR)

    def open(self, path: Path, options: ResolvedOptions, holds: bool = False) -> "CapiDatabase":
        """Create a database in the empty folder `path`. Raises EngineError, OptionMismatch."""
        asked = for_replay(options, self._has_collectors)
        opening = _Opening(self._api, self.version, CompactionGate() if holds and can_hold(self._api) else None)
        try:
            opening.prepare(self._options, asked, options.families)
            database = CapiDatabase(self._api, path, opening, self._sets_clock)
        except BaseException:
            opening.destroy()
            raise
        try:
            written = without_gate(without_folders(read_options_file(latest_options_file(path))))
            effective = with_unwritten(written, database, options.families, self._has_collectors)
            database.options = read_back(asked, effective, self._options.names)
        except BaseException:
            database.close()
            raise
        return database


class _Opening:
    """The options objects of one open; they live until the database is closed."""

    def __init__(self, api: CApi, version: str, gate: CompactionGate | None) -> None:
        self._api, self._version = api, version
        self._made: list[Any] = []
        self._callbacks: list[Any] = []
        self.gate = gate
        self.families: tuple[str, ...] = ()
        self.database: Any = None
        self.of_family: list[Any] = []

    def prepare(self, options: COptions, asked: ResolvedOptions, unfiltered: Mapping[str, Mapping[str, str]]) -> None:
        """Make the objects. Raises EngineError where an option string is refused as a whole."""
        plain = self._kept(self._api.lib.rocksdb_options_create())
        self._api.lib.rocksdb_options_enable_statistics(plain)
        base = self._kept(with_merge_operator(self._api, options, plain, self._version))
        self.database = self._kept(options.parse(base, options.text(asked.database, {})))
        self.families = tuple(asked.families)
        for family, values in asked.families.items():
            made = self._kept(options.parse(base, options.text(values, asked.tables.get(family, {}))))
            self.of_family.append(made)
            if self.gate is not None:
                self._callbacks += self.gate.put_before(self._api, made, family)
            collector = deletion_collector(unfiltered[family].get(COLLECTOR, ""))
            if collector is not None and collector.marks and self._api.has(ADD_COLLECTOR):
                getattr(self._api.lib, ADD_COLLECTOR)(made, collector.sliding_window, collector.trigger)

    def statistics(self) -> str:
        """The statistics of the open, as RocksDB prints them."""
        text = self._api.lib.rocksdb_options_statistics_get_string(self.database)
        return "" if text == self._api.ffi.NULL else self._api.taken_text(text)

    def destroy(self) -> None:
        """Free the objects."""
        self.database = None
        while self._made:
            self._api.lib.rocksdb_options_destroy(self._made.pop())

    def _kept(self, made: Any) -> Any:
        self._made.append(made)
        return made


class CapiDatabase:
    """One open database of the C API; not for two threads at a time."""

    options: ResolvedOptions

    def __init__(self, api: CApi, path: Path, opening: _Opening, sets_clock: bool) -> None:
        self.path = path
        self._api, self._opening = api, opening
        ffi, lib = api.ffi, api.lib
        names = [ffi.new("char[]", family.encode()) for family in opening.families]
        handles = ffi.new("rocksdb_column_family_handle_t*[]", len(names))
        self._error = api.new_error()
        self._database = lib.rocksdb_open_column_families(
            opening.database,
            str(path).encode(),
            len(names),
            ffi.new("char*[]", names),
            ffi.new("rocksdb_options_t*[]", opening.of_family),
            handles,
            self._error,
        )
        api.check(self._error)
        if api.has("rocksdb_set_perf_level"):  # else this thread counts every key comparison, a sixth of a write's cost
            lib.rocksdb_set_perf_level(PERF_LEVEL_DISABLE)
        self._handles = dict(zip(opening.families, handles, strict=True))
        self._write_options = lib.rocksdb_writeoptions_create()
        self._number = ffi.new("uint64_t*")
        self._property_int = lib.rocksdb_property_int_cf if api.has("rocksdb_property_int_cf") else None
        self._names: dict[str, Any] = {}
        self._clock = clock_of(api.library) if sets_clock else None
        self.gate = opening.gate
        self._settling = Settling(self, opening.families, opening.gate)

    def write(self, batches: Batches, first: int, last: int) -> None:
        """Write batches `first` up to but not including `last`."""
        lib, error, null = self._api.lib, self._error, self._api.ffi.NULL
        create, write, destroy = lib.rocksdb_writebatch_create_from, lib.rocksdb_write, lib.rocksdb_writebatch_destroy
        database, options = self._database, self._write_options
        buffer = self._api.ffi.from_buffer("char[]", batches.buffer.data)
        offsets = batches.offsets[first : last + 1].tolist()
        for start, stop in pairwise(offsets):
            batch = create(buffer + start, stop - start)
            write(database, options, batch, error)
            destroy(batch)
            if error[0] != null:
                self._api.check(error)

    def read(self, reads: Reads, first: int, last: int) -> ReadCounts:
        """Make reads `first` up to but not including `last`, Gets before iterators; what they came to."""
        lib, error, null = self._api.lib, self._error, self._api.ffi.NULL
        handles = list(self._handles.values())
        buffer = self._api.ffi.from_buffer("char[]", reads.buffer.data)
        every = zip(
            *(reads.family[first:last].tolist(), reads.nexts[first:last].tolist()),
            *(reads.offsets[first:last].tolist(), reads.offsets[first + 1 : last + 1].tolist()),
            strict=True,
        )
        gets: list[tuple[Any, Any, int, int]] = []
        iterators: list[tuple[Any, Any, int, int]] = []
        for family, nexts, start, stop in every:
            (gets if nexts == GET else iterators).append((handles[family], buffer + start, stop - start, nexts))
        options = lib.rocksdb_readoptions_create()
        found = made = 0
        lib.rocksdb_set_perf_level(PERF_LEVEL_COUNTS)
        try:
            with self._counted() as of_gets:
                for family, key, size, _ in gets:
                    value = lib.rocksdb_get_pinned_cf(self._database, options, family, key, size, error)
                    if value != null:
                        found += 1
                        lib.rocksdb_pinnableslice_destroy(value)
                    self._api.check(error)
            with self._counted() as of_iterators:
                for family, key, size, nexts in iterators:
                    iterator = lib.rocksdb_create_iterator_cf(self._database, options, family)
                    lib.rocksdb_iter_seek(iterator, key, size)
                    left = nexts
                    while left and lib.rocksdb_iter_valid(iterator):
                        lib.rocksdb_iter_next(iterator)
                        left -= 1
                    made += nexts - left
                    lib.rocksdb_iter_get_error(iterator, error)
                    lib.rocksdb_iter_destroy(iterator)
                    self._api.check(error)
        finally:
            lib.rocksdb_set_perf_level(PERF_LEVEL_DISABLE)
            lib.rocksdb_readoptions_destroy(options)
        both = Counter(of_gets) + Counter(of_iterators)
        return ReadCounts(
            gets=len(gets),
            gets_found=found,
            get_blocks=of_gets[CACHED_BLOCKS] + of_gets[BLOCKS_READ],
            seeks=len(iterators),
            nexts=made,
            seek_blocks=of_iterators[CACHED_BLOCKS] + of_iterators[BLOCKS_READ],
            cached_blocks=both[CACHED_BLOCKS],
            filter_checks=both["bloom_sst_hit_count"] + both["bloom_sst_miss_count"],
            filters_useful=both["bloom_sst_miss_count"],
            tombstones=of_iterators["internal_delete_skipped_count"],
        )

    @contextmanager
    def _counted(self) -> Iterator[Counter[str]]:
        """What this thread's reads come to, known at the end, by the names of RocksDB's PerfContext."""
        lib, counts = self._api.lib, Counter[str]()
        context = lib.rocksdb_perfcontext_create()
        try:
            lib.rocksdb_perfcontext_reset(context)
            yield counts
            # user_key_comparison_count = 4711, block_cache_hit_count = 12, …
            for one in self._api.taken_text(lib.rocksdb_perfcontext_report(context, 1)).split(","):
                name, _, count = one.strip().partition(" = ")
                if count.isdecimal():
                    counts[name] = int(count)
        finally:
            lib.rocksdb_perfcontext_destroy(context)

    def settle(self) -> None:
        """Wait until no flush or compaction is pending or running."""
        self._settling.settle()

    def integer_property(self, name: str, family: str = "default") -> int | None:
        """A property as a number."""
        ask = self._property_int
        if ask is not None and not ask(self._database, self._handles[family], self._text(name), self._number):
            return int(self._number[0])
        text = self.text_property(name, family)  # such as rocksdb.num-files-at-level0, a number only as text
        return int(text) if text is not None and text.isdecimal() else None

    def text_property(self, name: str, family: str = "default") -> str | None:
        """A property as text."""
        text = self._api.lib.rocksdb_property_value_cf(self._database, self._handles[family], self._text(name))
        return None if text == self._api.ffi.NULL else self._api.taken_text(text)

    def flush(self, family: str) -> None:
        """Flush one family's memtables and wait for it."""
        lib = self._api.lib
        if not self._api.has("rocksdb_flush_cf"):
            raise EngineError("this version's C API cannot flush a column family")
        options = lib.rocksdb_flushoptions_create()
        lib.rocksdb_flushoptions_set_wait(options, 1)
        lib.rocksdb_flush_cf(self._database, options, self._handles[family], self._error)
        lib.rocksdb_flushoptions_destroy(options)
        self._api.check(self._error)

    def tickers(self) -> Mapping[str, int]:
        """Tickers since the open."""
        return parse_tickers(self._opening.statistics().splitlines()).counts

    def set_clock(self, seconds: float) -> bool:
        """Let RocksDB's wall clock show `seconds` since 1970, to every database of this library."""
        return self._clock is not None and self._clock.set(seconds)

    def close(self) -> None:
        """Close the database; a second time it does nothing."""
        if self._database is None:
            return
        lib = self._api.lib
        if self.gate is not None:
            self.gate.open()
        if self._api.has("rocksdb_cancel_all_background_work"):
            lib.rocksdb_cancel_all_background_work(self._database, 1)
        for handle in self._handles.values():
            lib.rocksdb_column_family_handle_destroy(handle)
        lib.rocksdb_close(self._database)
        lib.rocksdb_writeoptions_destroy(self._write_options)
        self._database = None
        if self._clock is not None:
            self._clock.restore()
        self._opening.destroy()

    def _text(self, name: str) -> Any:
        """A C string, made once for each name."""
        if name not in self._names:
            self._names[name] = self._api.ffi.new("char[]", name.encode())
        return self._names[name]


def with_merge_operator(api: CApi, options: COptions, base: Any, version: str) -> Any:
    """New options: those of `base`, with the merge operator."""
    if version_numbers(version) >= SINCE:
        return options.parse(base, BY_NAME)
    made = options.parse(base, "")
    operator = api.lib.rocksdb_mergeoperator_create(api.ffi.NULL, *_callbacks(api.ffi))
    api.lib.rocksdb_options_set_merge_operator(made, operator)
    return made


@cache
def _callbacks(ffi: Any) -> tuple[Any, ...]:
    """Destructor, full merge, partial merge, deletion of a value, name; alive as long as the process.

    What a merge gives is the operand itself, not a copy, so there is nothing to delete.
    """
    name = ffi.new("char[]", b"LastOperand")

    def full_merge(_state: Any, _key: Any, _key_size: int, _value: Any, _value_size: int, *operands: Any) -> Any:
        return partial_merge(_state, _key, _key_size, *operands)

    def partial_merge(_state: Any, _key: Any, _key_size: int, *rest: Any) -> Any:
        operands, sizes, count, success, size = rest
        success[0], size[0] = 1, sizes[count - 1]
        return operands[count - 1]

    operands = "const char* const*, const size_t*, int, unsigned char*, size_t*"
    return (
        ffi.callback("void (*)(void*)", lambda _state: None),
        ffi.callback(f"char* (*)(void*, const char*, size_t, const char*, size_t, {operands})", full_merge),
        ffi.callback(f"char* (*)(void*, const char*, size_t, {operands})", partial_merge),
        ffi.callback("void (*)(void*, const char*, size_t)", lambda _state, _value, _size: None),
        ffi.callback("const char* (*)(void*)", lambda _state: name),
    )
