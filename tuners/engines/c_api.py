"""RocksDB's C API in a shared library, through cffi: what is there is bound, what is not can be asked for."""

from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import cffi
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
