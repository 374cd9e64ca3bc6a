"""Resolved options, opened with real RocksDBs: what comes back is what was asked for, all of it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.engines.engine import Engine
from lsmlens.tuners.engines.library import given_library, system_libraries
from lsmlens.tuners.options.option_catalogue import nearest_version
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.presets import preset, preset_names

GIVEN = os.environ.get("LSMLENS_ROCKSDB")
LIBRARIES = [given_library(Path(GIVEN))] if GIVEN else system_libraries()
# A process takes one library.
CHOICES = [EngineChoice("capi", one.version, one.path) for one in LIBRARIES[:1]]
CHOICES += [] if GIVEN else [EngineChoice("rocksdict", "")]
# What an engine adds by itself, or RocksDB writes for what it does not take by that name.
ADDED = frozenset(
    {"table_factory", "table_properties_collectors", "wal_dir", "db_log_dir", "read_amp_bytes_per_bit", "block_cache"}
)


@pytest.fixture(params=CHOICES, ids=lambda choice: choice.name)
def engine(request: pytest.FixtureRequest) -> Engine:
    choice: EngineChoice = request.param
    return choice()


def opened(engine: Engine, options: OptionSet, path: Path) -> None:
    """Open, and hold what RocksDB wrote down against what was asked for, both ways."""
    asked = options.resolve(options.families or ("default", "O-0", "P"), engine.version)
    database = engine.open(path, asked)
    try:
        found = database.options
        said = [warning for warning in found.warnings if warning not in asked.warnings]
        assert [warning for warning in said if "block_cache" not in warning and "compact_on" not in warning] == []
        assert list(found.families) == list(asked.families)
        if nearest_version(engine.version) == engine.version:
            assert found.database.keys() - asked.database.keys() <= ADDED
            for family, values in asked.families.items():
                assert found.families[family].keys() - values.keys() <= ADDED
                assert found.tables[family].keys() - asked.tables[family].keys() <= ADDED
    finally:
        database.close()


@pytest.mark.parametrize("name", preset_names())
def test_presets(name: str, engine: Engine, tmp_path: Path) -> None:
    opened(engine, preset(name), tmp_path)


def test_scaled(engine: Engine, tmp_path: Path) -> None:
    opened(engine, preset("ceph:quincy").scaled(64), tmp_path)


@pytest.mark.parametrize("name", ["osd-stock", "osd-reef", "osd-container", "rocksdb-7.8", "rocksdb-current"])
def test_options_of_logs(name: str, engine: Engine, options_in: Callable[[str], OptionSet], tmp_path: Path) -> None:
    opened(engine, options_in(name), tmp_path)
