"""The same shape in 1/k of the size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.presets import preset

FAMILIES = ("default", "O-0", "P")


def test_sizes_are_divided_defaults_too_and_nothing_else() -> None:
    whole, part = (preset("ceph:reef").scaled(k).resolve(FAMILIES, "7.9.2") for k in (1, 16))
    changed = {name for name, value in part.database.items() if whole.database[name] != value}
    assert changed == {"max_total_wal_size", "delayed_write_rate"}
    for family in FAMILIES:
        changed = {name for name, value in part.families[family].items() if whole.families[family][name] != value}
        assert changed == {
            *("write_buffer_size", "arena_block_size", "target_file_size_base", "max_bytes_for_level_base"),
            *("max_compaction_bytes", "soft_pending_compaction_bytes_limit", "hard_pending_compaction_bytes_limit"),
            *("blob_file_size", "compaction_options_fifo", "compact_on_deletion"),
        }
        changed = {name for name, value in part.tables[family].items() if whole.tables[family][name] != value}
        assert changed == {"block_cache"}
    assert part.families["P"]["write_buffer_size"] == "1048576"
    assert part.families["P"]["target_file_size_base"] == "4194304"
    assert part.families["P"]["compact_on_deletion"] == "{sliding_window=2048;trigger=1024}"
    assert part.families["P"]["max_compaction_bytes"] == str(25 * 4194304)


def test_a_scale_of_a_scale() -> None:
    assert preset("ceph:reef").scaled(2).scaled(8).scale == 16


@pytest.mark.parametrize("k", [0, -1, float("nan")])
def test_no_scale(k: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        preset("ceph:reef").scaled(k)


def test_unlimited_stays_and_nothing_comes_to_nothing() -> None:
    options = OptionSet("x").changed("max_total_wal_size", "18446744073709551615").changed("db_write_buffer_size", "0")
    found = options.changed("target_file_size_base", "3").scaled(16).resolve((), "7.9.2")
    assert found.database["max_total_wal_size"] == "18446744073709551615"
    assert found.database["db_write_buffer_size"] == "0"
    assert found.families["default"]["target_file_size_base"] == "1"


def test_a_buffer_too_small_to_keep_the_shape() -> None:
    found = preset("ceph:reef").scaled(1000).resolve((), "7.9.2")
    assert found.families["default"]["write_buffer_size"] == "65536"
    assert found.warnings == (
        "write_buffer_size is divided down to 16777 bytes, and RocksDB has none under 65536:"
        " the shape is not kept at this scale",
    )


@given(st.integers(1, 200))
def test_ratios_are_kept(k: int) -> None:
    found = preset("ceph:reef").scaled(k).resolve((), "7.9.2").families["default"]
    ratio = int(found["max_bytes_for_level_base"]) / int(found["write_buffer_size"])
    assert ratio == pytest.approx(64, rel=1e-4)
