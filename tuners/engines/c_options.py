"""Options as the C API takes them: one option string, of nothing but what this version takes."""

from collections.abc import Iterator, Mapping
from typing import Any

from lsmlens.analyzer.options.option_strings import rocksdb_string
from lsmlens.tuners.engines.c_api import CApi
from lsmlens.tuners.engines.errors import EngineError


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
