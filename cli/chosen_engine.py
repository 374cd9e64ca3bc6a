"""The engine that replays of a command run on."""

import argparse
from typing import TYPE_CHECKING

from lsmlens.cli.streams import note

if TYPE_CHECKING:
    from lsmlens.tuners.engines.choice import EngineChoice


def choose_engine(options: argparse.Namespace, version: str | None) -> "EngineChoice":
    """The engine that the options of `arguments.add_engine` ask for; of RocksDB `version` where they name none.

    Says on standard error what is fetched. Raises EngineError where nothing can be had.
    """
    from lsmlens.tuners.engines import choice

    return choice.choose_engine(
        options.engine,
        options.rocksdb_version or version,
        options.engine_lib,
        allow_download=not options.no_download,
        on_notice=note,
    )
