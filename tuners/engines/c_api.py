"""RocksDB's C API in a shared library, through cffi: what is there is bound, what is not can be asked for.

Options are given to it as one option string, of nothing but what this version takes.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import cffi
from lsmlens.analyzer.options.option_strings import rocksdb_string
from lsmlens.tuners.engines.errors import EngineError

# Without these there is no replay.
NEEDED = (
    "rocksdb_options_create",
    "rocksdb_get_options_from_string",
    "rocksdb_open_column_families",
    "rocksdb_writebatch_create_from",
    "rocksdb_write",
    "rocksdb_property_value_cf",
    "rocksdb_close",
)


@cache
def _declarations() -> cffi.FFI:
    ffi = cffi.FFI()
    ffi.cdef((Path(__file__).parent / "rocksdb.h").read_text(encoding="utf-8"))
    return ffi


class CApi:
    """The C API of one library. `lib` has its functions, `ffi` makes what they are given.

    Two versions in one process share what the linker holds to be one (the static data of templates), and crash: the
    first library loaded is the only one. Raises EngineError for another one, one that cannot be loaded, or one that
    is no RocksDB.
    """

    loaded: ClassVar[Path | None] = None

    def __init__(self, library: Path) -> None:
        library = library.resolve()
        if CApi.loaded not in (None, library):
            raise EngineError(f"{library}: {CApi.loaded} is loaded already", "take a process of its own for each")
        self.library = library
        self.ffi = _declarations()
        try:
            self.lib: Any = self.ffi.dlopen(str(library))
        except OSError as error:
            reason = str(error).partition(".  Additionally")[0].removeprefix(f"cannot load library '{library}': ")
            raise EngineError(f"{library}: cannot be loaded: {reason}", "give the path of a librocksdb") from error
        CApi.loaded = library
        missing = [name for name in NEEDED if not self.has(name)]
        if missing:
            raise EngineError(
                f"{library}: has no {missing[0]}", "give a librocksdb with its C API, or a rocksdbjni artefact"
            )

    def has(self, function: str) -> bool:
        """Whether this version has a function of that name."""
        return hasattr(self.lib, function)

    def new_error(self) -> Any:
        """A place for an error message, as the C API wants it."""
        return self.ffi.new("char**")

    def check(self, error: Any) -> None:
        """Raise EngineError with the message in `error`, if there is one; it is freed and its place emptied."""
        if error[0] != self.ffi.NULL:
            message = self.taken_text(error[0])
            error[0] = self.ffi.NULL  # the next call that fails would free it once more
            raise EngineError(f"RocksDB: {message}")

    def taken_text(self, text: Any) -> str:
        """The text of a string that RocksDB allocated, which is freed."""
        found: Any = self.ffi.string(text)
        self.lib.rocksdb_free(text)
        return str(found, "utf-8", "replace")


class COptions:
    """Makes options of one library.

    Each option is tried by itself first: before 6.15 an option file's objects (`comparator=leveldb.Bytewise…`) are
    refused in an option string, even where they are the default. What is refused is left to the comparison with the
    OPTIONS file, which knows. `names` are those of the options taken so far.
    """

    def __init__(self, api: CApi) -> None:
        self._api = api
        self._is_taken: dict[str, bool] = {}
        self.names: set[str] = set()

    def text(self, options: Mapping[str, str], tables: Mapping[str, str]) -> str:
        """The option string of these, without what this version refuses."""
        taken = {name: value for name, value in options.items() if self._takes(f"{name}={value}")}
        table = {name: value for name, value in tables.items() if self._takes(_table({name: value}))}
        self.names.update(taken, table)
        return ";".join(_parts(taken, table))

    def parse(self, base: Any, text: str) -> Any:
        """New options: those of `base`, with those of an option string over them. Raises EngineError."""
        error, made = self._api.new_error(), self._api.lib.rocksdb_options_create()
        self._api.lib.rocksdb_get_options_from_string(base, text.encode(), made, error)
        try:
            self._api.check(error)
        except EngineError:
            self._api.lib.rocksdb_options_destroy(made)
            raise
        return made

    def _takes(self, text: str) -> bool:
        if text not in self._is_taken:
            base = self._api.lib.rocksdb_options_create()
            try:
                self._api.lib.rocksdb_options_destroy(self.parse(base, text))
                self._is_taken[text] = True
            except EngineError:
                self._is_taken[text] = False
            finally:
                self._api.lib.rocksdb_options_destroy(base)
        return self._is_taken[text]


def _parts(options: Mapping[str, str], tables: Mapping[str, str]) -> Iterator[str]:
    if options:
        yield rocksdb_string(options)
    if tables:
        yield _table(tables)


def _table(options: Mapping[str, str]) -> str:
    return f"block_based_table_factory={{{rocksdb_string(options)}}}"
