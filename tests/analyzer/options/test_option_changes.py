"""Where options take effect, and the texts that hold them, for real databases."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.options.option_changes import (
    ANNEX,
    MONITOR_OPTIONS,
    is_mutable,
    merged_text,
    option_of_ceph,
    sharding_in_force,
    text_in_force,
    with_family_options,
)


@pytest.fixture(scope="module")
def stock(fixtures: Path) -> list[RunAnalysis]:
    return list(analyze([str(fixtures / "osd-stock")]).runs)


def test_an_osd_and_its_monitor(stock: list[RunAnalysis]) -> None:
    osd, monitor = stock
    assert option_of_ceph(osd) == ANNEX
    assert text_in_force(osd, ANNEX) == ""
    assert option_of_ceph(monitor) == MONITOR_OPTIONS
    text = merged_text(text_in_force(monitor, MONITOR_OPTIONS), {"write_buffer_size": "67108864"})
    assert text.endswith(",write_buffer_size=67108864")
    assert text.count("write_buffer_size") == 1


def test_what_is_set_is_kept_and_what_is_given_anew_replaced() -> None:
    assert merged_text("ttl=0,max_background_jobs=2", {"max_background_jobs": "4"}) == "ttl=0,max_background_jobs=4"
    assert merged_text(None, {"ttl": "0"}) == "ttl=0"


def test_an_annex_that_nothing_tells_is_not_known(stock: list[RunAnalysis]) -> None:
    osd = replace(stock[0], beside=replace(stock[0].beside, config_show={}))
    assert text_in_force(osd, ANNEX) is None


def test_families_of_an_osd_whose_sharding_is_known(stock: list[RunAnalysis]) -> None:
    sharding = with_family_options(sharding_in_force(stock[0]), ["P", "O-1"], {"min_write_buffer_number_to_merge": "2"})
    assert str(sharding) == (
        "m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru};min_write_buffer_number_to_merge=2 L"
        " P=min_write_buffer_number_to_merge=2"
    )


def test_an_osd_whose_sharding_is_not_known(fixtures: Path) -> None:
    (osd,) = analyze([str(fixtures / "osd-crash")]).runs
    assert not sharding_in_force(osd).columns


@pytest.mark.parametrize(
    ("name", "version", "mutable"),
    [
        ("max_background_jobs", "7.9.2", True),
        ("max_subcompactions", "6.8.1", False),
        ("max_subcompactions", "6.15.5", True),
        ("min_write_buffer_number_to_merge", "10.4.2", False),
        ("write_buffer_size", None, False),
    ],
)
def test_what_rocksdb_takes_while_it_runs(name: str, version: str | None, mutable: bool) -> None:
    assert is_mutable(name, version) is mutable
